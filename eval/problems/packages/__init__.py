"""Problem packages of judges as rows: Kattis and ICPC, DOMjudge, Polygon, DMOJ, LightCPVerifier.

    a folder, a zip, a folder of them ─ find_packages ─▶ PackageRows ─ row(n) ─▶ a row of our own

A module for each format reads a `PackageFiles` (files.py) into a row; submissions.py reads
the submissions of its authors, and which verdicts they expect. A zip is unpacked when its problem
is needed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.errors import InputError, RowError
from gradebox.eval.problems.packages import dmoj, kattis, lightcp, polygon
from gradebox.eval.problems.packages.files import open_zip
from gradebox.eval.problems.packages.making import Maker, ProblemPackage
from gradebox.eval.problems.row import DEFAULT_TIME_LIMIT_S
from gradebox.eval.problems.rows import Rows

MOST_FOLDERS = 20_000  # folders and zips that a search looks at
MOST_LEVELS = 3  # of folders that are searched below the given folder
NO_LIMIT = "states no time limit"

# Reads a package into a row without an id; raises RowError.
Read = Callable[[ProblemPackage], dict[str, Any]]
# format → the files by which a package of the format is known, and what reads the package
FORMATS: Mapping[str, tuple[tuple[str, ...], Read]] = {
    "kattis": (kattis.MARKERS, kattis.kattis_row),
    "polygon": (polygon.MARKERS, polygon.polygon_row),
    "dmoj": (dmoj.MARKERS, dmoj.dmoj_row),
    "lightcp": (lightcp.MARKERS, lightcp.lightcp_row),
}


class FoundPackage(NamedTuple):
    """A package that was found: a folder, or a zip and the folder inside it."""

    path: Path
    inner: str
    format: str

    @property
    def name(self) -> str:
        """The name of its folder, or of its zip without the ending."""
        path = self.path.resolve()
        return path.name if path.is_dir() else path.stem


def find_packages(paths: Sequence[Path]) -> tuple[list[FoundPackage], list[str]]:
    """Return the packages that paths are or hold, and a message for each zip that is unusable."""
    found: list[FoundPackage] = []
    messages: list[str] = []
    left = MOST_FOLDERS

    def look(path: Path, level: int) -> None:
        nonlocal left
        left -= 1
        try:
            if not path.is_dir():
                if _is_zip(path):
                    found.extend(_in_zip(path))
            elif kind := _format(lambda name: os.path.lexists(path / name)):  # reading says more
                found.append(FoundPackage(path, "", kind))
            elif level < MOST_LEVELS and left > 0:
                for child in sorted(path.iterdir()):
                    inside = child.is_dir() and not child.is_symlink()
                    if not child.name.startswith(".") and (inside or _is_zip(child)):
                        look(child, level + 1)
        except (RowError, InputError) as error:
            messages.append(f"{path}: {error}")
        except OSError as error:
            messages.append(f"{path} can't be read: {error.strerror or error}")

    for path in paths:
        look(path, 0)
    return found, messages


def _is_zip(path: Path) -> bool:
    return path.suffix.lower() in (".zip", ".kpp") and path.is_file()


def _format(has: Callable[[str], bool]) -> str:
    return next((name for name, (markers, _) in FORMATS.items() if any(map(has, markers))), "")


def _in_zip(path: Path) -> Iterator[FoundPackage]:
    """Yield the package of a zip, in its root or in a folder of it."""
    with open_zip(path) as archive:
        names = set(archive.namelist())
    for folder in sorted({"", *(f"{name.split('/', 1)[0]}/" for name in names)}):
        inside = {name.removeprefix(folder) for name in names if name.startswith(folder)}
        if kind := _format(inside.__contains__):
            yield FoundPackage(path, folder, kind)
            return


class PackageRows(Rows):
    """The rows of packages. Nothing but their names is read before a problem is needed."""

    def __init__(
        self,
        name: str,
        found: Sequence[FoundPackage],
        messages: Sequence[str] = (),
        testlib: str | None = None,
    ) -> None:
        stats = [(f, f.path.stat()) for f in found]
        places = repr([(str(f.path), f.inner, s.st_size, s.st_mtime_ns) for f, s in stats])
        super().__init__(name, hashlib.sha256(places.encode("utf-8", "replace")).hexdigest()[:32])
        self._testlib = testlib
        self._maker = Maker()
        self._names = dict[str, FoundPackage]()
        for one in found:  # packages of two contests may both be called `a`
            known = one.name in self._names
            parent = one.path.resolve().parent.name
            self._names[f"{parent}/{one.name}" if known else one.name] = one
        for message in messages:
            self.diagnostics.add(message)

    def names(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        for number, (name, found) in enumerate(self._names.items()):
            aliases = [name.removeprefix("loj-")]  # OJBench's answers call loj-1000 just 1000
            yield number, {"id": name, "aliases": aliases, "platform": found.format}

    def row(self, number: int) -> dict[str, Any]:
        name, found = list(self._names.items())[number]
        folder = found.path if found.path.is_dir() else self._maker.unpacked(found.path)
        package = ProblemPackage(folder / found.inner, self._testlib, self._maker)
        row = FORMATS[found.format][1](package)
        if note := row.pop("note", ""):
            self.diagnostics.add(f"problem {name}: {note}")
        if row.get("time_limit") is None:
            self.diagnostics.add(
                f"problem {name} {NO_LIMIT}: {DEFAULT_TIME_LIMIT_S:g} s are used; "
                "gradebox verify finds the one that its submissions need"
            )
        named = {"id": name, "platform": found.format, "dataset_format": found.format}
        return {**row, **named, "judge": "strict"}

    def close(self) -> None:
        self._maker.close()
