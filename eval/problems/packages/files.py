"""The files of a package: read within its folder and within bounds, unpacked if it is a zip.

Everything in a package is a stranger's. A link may lead to another file of the package, never out
of it; a zip is unpacked below a temporary folder, and only up to MOST_BYTES.
"""

from __future__ import annotations

import shutil
import stat
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import NoReturn

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.sandbox.input_file import check_input_file

MOST_FILES = 50_000
MOST_DEPTH = 16
MOST_TEXT = 1 << 20  # bytes of a configuration or a program
MOST_BYTES = 8 << 30  # of a zip, unpacked
MOST_DIRECTORY = 32 << 20  # bytes of a zip's list of files
_END_OF_ZIP = b"PK\x05\x06"


class PackageFiles:
    """One package in a folder.

    root  its real path
    name  of its folder or zip, without an ending

    Paths are of existing files inside `root`; methods raise RowError with the file and a remedy.
    """

    def __init__(self, root: Path, name: str) -> None:
        self.root = root.resolve()
        self.name = name

    def find(self, *names: str) -> Path | None:
        """Return the first of these files or folders that exists."""
        for name in names:
            path = self.root / name
            if _exists(path):
                return self.inside(path)
        return None

    def need(self, name: str, why: str) -> Path:
        """Return a file or folder; `why` says who names it."""
        if name.startswith("/") or "\\" in name or ".." in PurePosixPath(name).parts:
            raise RowError(f"{why} names {shown(name)}: give a path inside the package")
        path = self.find(name) if name.isprintable() and len(name) < 1000 else None
        if path is None:
            raise RowError(f"{why} names {shown(name)}, which is not in the package: add it")
        return path

    def inside(self, path: Path) -> Path:
        """Return a path as it is; raise RowError when it leads out of the package."""
        try:
            real = path.resolve(strict=True)
        except (OSError, RuntimeError) as error:
            raise RowError(f"{self.say(path)} can't be read ({_why(error)}): mend it") from None
        if not real.is_relative_to(self.root):
            raise RowError(
                f"{self.say(path)} is a link out of the package: put the file in its place"
            )
        return path

    def bytes(self, path: Path, most: int = MOST_TEXT) -> bytes:
        """Return the contents of a file."""
        try:
            check_input_file(self.inside(path))
            with path.open("rb") as file:
                data = file.read(most + 1)
        except (OSError, InputError) as error:
            raise RowError(f"{self.say(path)} can't be read ({_why(error)}): mend it") from None
        if len(data) > most:
            raise RowError(f"{self.say(path)} is longer than {most} bytes: shorten it")
        return data

    def text(self, path: Path, most: int = MOST_TEXT) -> str:
        """Return the contents of a file; bytes that are not UTF-8 become lone surrogates."""
        return self.bytes(path, most).decode("utf-8", "surrogateescape")

    def children(self, folder: Path) -> list[Path]:
        """Return what is in a folder, sorted by name, without hidden files."""
        found: list[Path] = []
        try:
            for path in folder.iterdir():
                if not path.name.startswith(".") and path.name != "__MACOSX":
                    found.append(path)
                if len(found) > MOST_FILES:
                    raise RowError(
                        f"{self.say(folder)} has more than {MOST_FILES} files: split the package"
                    )
        except OSError as error:
            raise RowError(f"{self.say(folder)} can't be read ({_why(error)}): mend it") from None
        return [self.inside(path) for path in sorted(found)]

    def walk(self, folder: Path, depth: int = 0) -> Iterator[Path]:
        """Yield the files below a folder, sorted by their paths."""
        if depth > MOST_DEPTH:
            raise RowError(f"{self.say(folder)} is {depth} folders deep: {MOST_DEPTH} at most")
        for path in self.children(folder):
            if path.is_dir():
                yield from self.walk(path, depth + 1)
            else:
                yield path

    def say(self, path: Path) -> str:
        """Return a path inside the package for messages and names."""
        return (
            path.relative_to(self.root).as_posix() if path.is_relative_to(self.root) else path.name
        )

    def test_file(self, path: Path) -> Path:
        """Return the path of a test's file; it must be a regular file."""
        if not self.inside(path).is_file():
            raise RowError(f"{self.say(path)} is not a regular file: put one in its place")
        return path


def _exists(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except (OSError, ValueError):
        return False


def _why(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def zip_names(path: Path) -> list[str]:
    """Return the names of a zip's files, [] when it is none. Raises RowError for a huge list."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - (1 << 16) - 22))
            end = file.read()
    except OSError as error:
        raise RowError(f"{path.name} can't be read ({_why(error)}): mend it") from None
    at = end.rfind(_END_OF_ZIP)
    if at < 0:
        return []
    if int.from_bytes(end[at + 12 : at + 16], "little") > MOST_DIRECTORY:
        raise RowError(f"{path.name} lists more files than {MOST_FILES}: split the package")
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise RowError(f"{path.name} is a damaged zip ({_why(error)}): pack it again") from None


def unpack(path: Path, folder: Path, wanted: Iterable[str] | None = None) -> None:
    """Unpack a zip into a folder.

    wanted  names of the files to unpack; None: all

    Raises RowError for a damaged or hostile zip, InputError for a full disk.
    """
    if len(zip_names(path)) > MOST_FILES:
        raise RowError(f"{path.name} has more than {MOST_FILES} files: split the package")
    chosen, left = None if wanted is None else set(wanted), MOST_BYTES
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.is_dir() or (chosen is not None and entry.filename not in chosen):
                    continue
                left = _unpack_one(archive, entry, folder, path.name, left)
    except RowError:
        raise
    except OSError as error:
        raise InputError(f"{path.name} can't be unpacked to {folder}: {_why(error)}") from None
    except Exception as error:  # noqa: BLE001 - zipfile raises what its decompressors raise
        raise RowError(f"{path.name} is a damaged zip ({_why(error)}): pack it again") from None


def _unpack_one(
    archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, name: str, left: int
) -> int:
    place = PurePosixPath(entry.filename)

    def refuse(why: str) -> NoReturn:
        raise RowError(f"{name} has {shown(entry.filename)}, {why}: pack it again without")

    if place.is_absolute() or ".." in place.parts or "\\" in entry.filename:
        refuse("a path out of the package")
    if stat.S_ISLNK(entry.external_attr >> 16):
        refuse("a link")
    if len(place.parts) > MOST_DEPTH or not entry.filename.isprintable():
        refuse(f"a path deeper than {MOST_DEPTH} or with control characters")
    if entry.flag_bits & 1:
        refuse("an encrypted file")
    target = folder / place
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(entry) as source, target.open("wb") as file:
        while block := source.read(1 << 20):
            left -= len(block)
            if left < 0:
                raise RowError(f"{name} unpacks to more than {MOST_BYTES} bytes: split the package")
            file.write(block)
    return left


def remove(folder: Path) -> None:
    """Remove an unpacked package."""
    shutil.rmtree(folder, ignore_errors=True)
