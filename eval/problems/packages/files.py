"""The files of a package: read within its folder and within bounds, unpacked if it is a zip.

Everything in a package is a stranger's. A link may lead to another file of the package, never out
of it; a zip is unpacked below a temporary folder, and only up to MOST_BYTES. YAML may have no
aliases, so that a file is never larger than it looks, and XML no DOCTYPE, so that no entity is
defined.
"""

from __future__ import annotations

import errno
import math
import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.sandbox.input_file import check_input_file

MOST_FILES = 50_000
MOST_LEVELS = 16  # of folders
MOST_TEXT = 1 << 20  # bytes of a configuration or a program
MOST_READ = 256 << 20  # bytes of a package's configurations and programs, which links may repeat
MOST_BYTES = 8 << 30  # of a zip, unpacked
MOST_DIRECTORY = 32 << 20  # bytes of a zip's list of files
MOST_YAML = 256 << 10  # PyYAML reads about 100 KB a second
MOST_XML = 16 << 20
MOST_DEPTH = 32  # levels of nesting in YAML
MOST_TAGS = 400_000
_INI = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*(.{0,500})$", re.MULTILINE)
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.EACCES)
_END_OF_ZIP = b"PK\x05\x06"


class PackageFiles:
    """The files of one folder, whose real path is `root`.

    Paths are of existing files inside `root`; methods raise RowError with the file and a remedy.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._left = MOST_READ

    def find(self, *names: str) -> Path | None:
        """Return the first of these files or folders that exists."""
        paths = (self.root / name for name in names)
        return next((self.inside(path) for path in paths if os.path.lexists(path)), None)

    def need(self, name: str, why: str) -> Path:
        """Return a file or folder; `why` says who names it."""
        if not name.strip("./"):
            raise RowError(f"{why} names no file: name one of the package")
        path = self.find(name)
        if path is None:
            raise RowError(f"{why} names {shown(name)}, which is not in the package: add it")
        return path

    def inside(self, path: Path) -> Path:
        """Return a path as it is; raise RowError when it leads out of the package."""
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise self._unreadable(path, error) from None
        if not real.is_relative_to(self.root):
            raise RowError(f"{self.say(path)} leads out of the package: put the file into it")
        return path

    def bytes(self, path: Path, most: int = MOST_TEXT) -> bytes:
        """Return the contents of a file."""
        try:
            check_input_file(self.inside(path))
            with path.open("rb") as file:
                data = file.read(most + 1)
        except (OSError, InputError) as error:
            raise self._unreadable(path, error) from None
        if len(data) > most:
            raise RowError(f"{self.say(path)} is longer than {most} bytes: shorten it")
        self._left -= len(data)
        if self._left < 0:
            raise RowError(f"{self.say(path)}: over {MOST_READ} bytes are programs: remove some")
        return data

    def text(self, path: Path, most: int = MOST_TEXT) -> str:
        """Return the contents of a file; bytes that are not UTF-8 become lone surrogates."""
        return self.bytes(path, most).decode("utf-8", "surrogateescape")

    def folder(self, name: str) -> list[Path]:
        """Return what is in a folder of the package, as `children` does; [] when there is none."""
        path = self.find(name)
        return self.children(path) if path is not None and path.is_dir() else []

    def children(self, folder: Path) -> list[Path]:
        """Return what is in a folder, sorted by name, without hidden files."""
        try:
            seen = (p for p in folder.iterdir() if p.name[0] != "." and p.name != "__MACOSX")
            found = sorted(islice(seen, MOST_FILES + 1))
        except OSError as error:
            raise self._unreadable(folder, error) from None
        if len(found) > MOST_FILES:
            raise _too_many(self.say(folder))
        return list(map(self.inside, found))

    def walk(self, folder: Path, depth: int = 0) -> Iterator[Path]:
        """Yield the files below a folder, sorted by their paths."""
        if depth > MOST_LEVELS:
            raise RowError(f"{self.say(folder)} is {depth} folders deep: {MOST_LEVELS} at most")
        for path in self.children(folder):
            if path.is_dir():
                yield from self.walk(path, depth + 1)
            else:
                yield path

    def say(self, path: Path) -> str:
        """Return a path inside the package for messages and names."""
        inside = path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if inside else shown(str(path))

    def _unreadable(self, path: Path, error: Exception) -> RowError:
        return RowError(f"{self.say(path)} can't be read ({_why(error)}): mend it")


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)[:150]


def _too_many(name: str) -> RowError:
    return RowError(f"{name} has more than {MOST_FILES} files: split the package")


@contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open a zip and read the list of its files.

    Raises RowError for a huge list and for damage, also while the caller reads; InputError for a
    full disk.
    """
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - (1 << 16) - 22))
            end = file.read()
            at = end.rfind(_END_OF_ZIP)
            if at < 0:
                raise zipfile.BadZipFile("it has no end")
            if int.from_bytes(end[at + 12 : at + 16], "little") > MOST_DIRECTORY:
                raise _too_many(path.name)
            with zipfile.ZipFile(file) as archive:
                yield archive
    except RowError:
        raise
    except Exception as error:  # noqa: BLE001 - zipfile raises what its decompressors raise
        if getattr(error, "errno", None) in _DISK:
            raise InputError(f"{path.name} can't be unpacked: {_why(error)}") from None
        raise RowError(f"{path.name} is a damaged zip ({_why(error)}): pack it again") from None


def unpack(path: Path, folder: Path) -> None:
    """Unpack a zip into a folder: no links, and nothing outside of it. Raises as `open_zip`."""
    with open_zip(path) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir()]
        if len(entries) > MOST_FILES:
            raise _too_many(path.name)
        if sum(entry.file_size for entry in entries) > MOST_BYTES:  # no entry unpacks to more
            raise RowError(
                f"{path.name} unpacks to more than {MOST_BYTES} bytes: split the package"
            )
        if any(entry.filename.count("/") > MOST_LEVELS for entry in entries):
            raise RowError(
                f"{path.name} has folders deeper than {MOST_LEVELS}: pack it again without"
            )
        for entry in entries:
            archive.extract(entry, folder)


# ---- configuration files ----


@cache
def _loader() -> Any:
    """Return PyYAML, which few data sets need, and its safe loader within bounds."""
    try:
        import yaml
    except ImportError:
        raise InputError("packages need PyYAML; install it: pip install pyyaml") from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.AliasEvent):
                raise yaml.MarkedYAMLError("it has an alias", self.peek_event().start_mark)
            self.depth += 1
            if self.depth > MOST_DEPTH:  # to the limit of recursion, PyYAML takes seconds
                raise yaml.MarkedYAMLError(f"it is nested deeper than {MOST_DEPTH}")
            node = super().compose_node(parent, index)
            self.depth -= 1
            return node

    return yaml, Loader


def read_yaml(package: PackageFiles, *names: str) -> Mapping[str, Any]:
    """Return the mapping of the first of these files, {} without any. Raises RowError."""
    path = package.find(*names)
    if path is None:
        return {}
    name = package.say(path)
    text = package.bytes(path, MOST_YAML).decode("utf-8", "replace")
    yaml, loader = _loader()
    try:
        found = yaml.load(text, loader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError, TypeError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        why = getattr(error, "problem", None) or getattr(error, "context", None) or error
        why = str(why).partition("\n")[0][:120]
        raise RowError(f"{name} is not YAML that can be used{line}: {why}: correct it") from None
    return mapping(found, name)


def read_xml(package: PackageFiles, path: Path) -> ElementTree.Element:
    """Return the root of an XML file, which is UTF-8. Raises RowError."""
    name, text = package.say(path), package.bytes(path, MOST_XML)
    if b"\0" in text:  # UTF-16, in which the checks below would find nothing
        raise RowError(f"{name} is not UTF-8: save it as UTF-8")
    if b"<!DOCTYPE" in text:
        raise RowError(f"{name} has a DOCTYPE, which may define entities: remove it")
    if text.count(b"<") > MOST_TAGS:
        raise RowError(f"{name} has more than {MOST_TAGS} tags: shorten it")
    try:  # the encoding given here overrides the one that the file states
        return ElementTree.fromstring(text, ElementTree.XMLParser(encoding="utf-8"))
    except (ElementTree.ParseError, ValueError) as error:
        raise RowError(f"{name} is not XML: {str(error)[:120]}: correct it") from None


def read_ini(package: PackageFiles, name: str) -> dict[str, str]:
    """Return the values of an ini file without sections, without their quotes. Raises RowError."""
    path = package.find(name)
    text = "" if path is None else package.text(path, MOST_YAML)
    return {key.lower(): value.strip().strip("'\"") for key, value in _INI.findall(text)}


# ---- values ----


def number(value: Any, what: str, *, least: float = 0.0, most: float = 1e9) -> float:
    """Return a finite number within bounds, which may be written as text. Raises RowError."""
    try:
        found = float(value) if isinstance(value, (int, float, str)) else math.nan
    except (ValueError, OverflowError):
        found = math.nan
    if isinstance(value, bool) or not least <= found <= most:
        raise RowError(f"{what} is {shown(value)}: give a number from {least:g} to {most:g}")
    return found


def mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return a mapping, {} for nothing. Raises RowError."""
    if not isinstance(value, (dict, type(None))):
        raise RowError(f"{what} is {shown(value)}: it must be a mapping of names to values")
    return {str(key): v for key, v in (value or {}).items()}


def words(value: Any, what: str) -> list[str]:
    """Return a list of words, which may be one text with spaces between them. Raises RowError."""
    if isinstance(value, str):
        return value.split()
    given = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(v, (str, int, float)) and not isinstance(v, bool) for v in given):
        raise RowError(f"{what} is {shown(value)}: give words, as a text or a list")
    return [str(v) for v in given]
