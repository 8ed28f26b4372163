"""Packages as rows of problems, one a package; a zip is unpacked when its problem is needed."""

from __future__ import annotations

import hashlib
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems.packages.dmoj import MARKERS as DMOJ_FILES
from gradebox.eval.problems.packages.dmoj import dmoj_row
from gradebox.eval.problems.packages.files import PackageFiles, remove, unpack, zip_names
from gradebox.eval.problems.packages.kattis import MARKERS as KATTIS_FILES
from gradebox.eval.problems.packages.kattis import kattis_row
from gradebox.eval.problems.packages.making import Maker
from gradebox.eval.problems.packages.polygon import MARKERS as POLYGON_FILES
from gradebox.eval.problems.packages.polygon import polygon_row
from gradebox.eval.problems.row import DEFAULT_TIME_LIMIT_S
from gradebox.eval.problems.rows import Rows

MOST_FOLDERS = 20_000  # that are looked at for packages
MOST_LEVELS = 3  # of folders, below the one that is given
NO_LIMIT = "states no time limit"
UNTITLED = frozenset(("problem", "package"))


class PackageFormat(NamedTuple):
    """A format, recognised by the files in a package's folder.

    read  (package, what makes tests, path of testlib.h) → its row without an id; raises RowError
    """

    name: str
    markers: tuple[str, ...]
    read: Callable[[PackageFiles, Maker, str | None], dict[str, Any]]


FORMATS = (
    PackageFormat("kattis", KATTIS_FILES, lambda package, maker, testlib: kattis_row(package)),
    PackageFormat("polygon", POLYGON_FILES, polygon_row),
    PackageFormat("dmoj", DMOJ_FILES, dmoj_row),
)


class FoundPackage(NamedTuple):
    """A package that was found: a folder, or a zip and the folder inside it."""

    path: Path
    inner: str
    format: PackageFormat


def find_packages(paths: Sequence[Path]) -> tuple[list[FoundPackage], list[str]]:
    """Return the packages that paths are or hold, and a message for each zip that is unusable."""
    found: list[FoundPackage] = []
    messages: list[str] = []
    left = MOST_FOLDERS

    def look(path: Path, level: int) -> None:
        nonlocal left
        left -= 1
        try:
            if path.is_dir():
                kind = _format(lambda name: (path / name).is_file())
                if kind is not None:
                    found.append(FoundPackage(path, "", kind))
                elif level < MOST_LEVELS and left > 0:
                    for child in sorted(path.iterdir()):
                        inside = child.is_dir() and not child.is_symlink()
                        if not child.name.startswith(".") and (inside or _is_zip(child)):
                            look(child, level + 1)
            elif _is_zip(path):
                found.extend(_in_zip(path))
        except RowError as error:
            messages.append(f"{path}: {error}")
        except OSError as error:
            messages.append(f"{path} can't be read: {error.strerror or error}")

    for path in paths:
        look(path, 0)
    return found, messages


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() in (".zip", ".kpp") and path.is_file()


def _format(has: Callable[[str], bool]) -> PackageFormat | None:
    return next((kind for kind in FORMATS if any(map(has, kind.markers))), None)


def _in_zip(path: Path) -> list[FoundPackage]:
    """Return the package of a zip, in its root or in a folder of it."""
    names = set(zip_names(path))

    def names_in(folder: str) -> Callable[[str], bool]:
        return lambda name: folder + name in names

    folders = {"", *(name.split("/", 1)[0] + "/" for name in names if "/" in name)}
    for folder in sorted(folders):
        kind = _format(names_in(folder))
        if kind is not None:
            return [FoundPackage(path, folder, kind)]
    return []


class PackageRows(Rows):
    """The rows of packages. Nothing but their names is read before a problem is needed."""

    def __init__(
        self,
        name: str,
        found: Sequence[FoundPackage],
        messages: Sequence[str] = (),
        testlib: str | None = None,
    ) -> None:
        places = repr([(str(f.path), f.inner, _stamp(f.path)) for f in found])
        super().__init__(name, hashlib.sha256(places.encode("utf-8", "replace")).hexdigest()[:32])
        self._found = list(found)
        self._testlib = testlib
        self._maker = Maker()
        self._lock = threading.Lock()
        self._unpacked: dict[int, Path] = {}
        for message in messages:
            self.diagnostics.add(message)

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        taken: set[str] = set()
        for number, found in enumerate(self._found):
            name = _name_of(found)
            if name in taken:  # two contests have an `a`
                name = f"{found.path.resolve().parent.name}/{name}"
            taken.add(name)
            yield number, {"id": name, "platform": found.format.name}

    def row(self, number: int) -> dict[str, Any]:
        found = self._found[number]
        package = PackageFiles(self._folder(number), _name_of(found))
        columns = dict(list(self.names())[number][1])
        row = found.format.read(package, self._maker, self._testlib)
        if row.get("time_limit") is None:
            self.diagnostics.add(
                f"problem {columns['id']} {NO_LIMIT}: {DEFAULT_TIME_LIMIT_S:g} s are used; "
                "gradebox verify finds the one that its submissions need"
            )
        return {**row, **columns, "dataset_format": found.format.name, "judge": "strict"}

    def _folder(self, number: int) -> Path:
        found = self._found[number]
        if found.path.is_dir():
            return found.path
        with self._lock:
            if number not in self._unpacked:
                folder = Path(tempfile.mkdtemp(prefix="gradebox-package-"))
                try:
                    unpack(found.path, folder)
                except (RowError, InputError):
                    remove(folder)
                    raise
                self._unpacked[number] = folder
            return self._unpacked[number] / found.inner

    def close(self) -> None:
        self._maker.close()
        with self._lock:
            for folder in self._unpacked.values():
                remove(folder)
            self._unpacked.clear()


def _name_of(found: FoundPackage) -> str:
    path = found.path.resolve()
    name = path.name if path.is_dir() else path.stem
    return name if name not in UNTITLED else f"{path.parent.name}/{name}"


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
