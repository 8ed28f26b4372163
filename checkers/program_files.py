"""Read the program of a checker or interactor: its file and what belongs to it, or a folder.

kattis:check/validate.cpp   validate.cpp, the files beside it that it includes ("validate.h"), and
                            helper.cpp when it includes "helper.h"
kattis:check                the sources and headers of the folder
kattis:validate.py          validate.py and the modules beside it that it imports
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from gradebox.checkers.check import CheckerError
from gradebox.sandbox.input_file import check_input_file
from gradebox.sandbox.model import MIB, Program
from gradebox.sandbox.source_tokens import SOURCE_ENDINGS, included_names

HEADER = "testlib.h"
_CPP = ("c++17", "main.cpp")
_LANGUAGES: Mapping[str, tuple[str, str]] = {
    ".py": ("python", "main.py"),
    ".cpp": _CPP,
    ".cc": _CPP,
    ".cxx": _CPP,
    ".c++": _CPP,
}
_HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".inc", ".inl", ".ipp", ".tcc")
_MAIN_NAMES = ("main", "__main__", "validate", "validator", "checker")
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+\.?(\w+)", re.MULTILINE)
_MAIN_FUNCTION = re.compile(rb"^[ \t]*(?:signed|int|auto)\s+main\s*\(", re.MULTILINE)
MOST_BYTES = 16 * MIB


def read_program(
    kind: str, path: Path, testlib: str | None = None, *, within: Path | None = None
) -> Program:
    """Read a checker's or interactor's program.

    kind     python, testlib (testlib.h goes beside the source), or kattis: a folder, or a file
             whose ending decides on the language
    testlib  path of testlib.h or of its folder; None: beside the file
    within   a real path: no file outside of this folder is read, not even through a link

    Raises CheckerError for what can't be read or is too long.
    """
    reader = _Reader(within)
    if kind == "python":
        return Program("python", reader.file_and_used(path, "checker.py"))
    if kind == "testlib":
        files = reader.file_and_used(path, "main.cpp")
        header = reader.read(_header_beside(path)) if testlib is None else testlib_header(testlib)
        return Program("c++17", {**files, HEADER: header})
    if path.is_dir():
        return reader.folder(path)
    row = _LANGUAGES.get(path.suffix.lower())
    if row is None:
        raise CheckerError(
            f"checker file {path.name!r} must end in {', '.join(_LANGUAGES)}, or be a folder with "
            "such files"
        )
    language, main = row
    return Program(language, reader.file_and_used(path, main))


def testlib_program(source: str, testlib: str | None) -> Program:
    """Return the program of a checker's source, with the testlib.h of a path or its folder."""
    if testlib is None:
        raise CheckerError(f"the checker of the row needs {HEADER}: give its path, --testlib FILE")
    text = source.encode("utf-8", "surrogatepass")
    return Program(_CPP[0], {_CPP[1]: text, HEADER: testlib_header(testlib)})


def testlib_header(path: str) -> bytes:
    """Return testlib.h of a path, which may be its folder's. Raises CheckerError."""
    return _read(Path(path))


class _Reader:
    """Reads files, none outside of the folder `within`."""

    def __init__(self, within: Path | None) -> None:
        self._within = within

    def folder(self, folder: Path) -> Program:
        """Return the program that a folder's files are, in C++ or in Python."""
        try:
            paths = sorted(p for p in folder.iterdir() if p.is_file())
        except OSError as e:
            raise CheckerError(f"checker folder {str(folder)!r} can't be read: {e.strerror}") from e
        sources = [p for p in paths if _LANGUAGES.get(p.suffix.lower()) == _CPP]
        if sources:
            headers = [p for p in paths if p.suffix.lower() in _HEADERS]
            return Program("c++17", self._renamed([*_main_first(sources), *headers], _CPP[1]))
        modules = _main_first([p for p in paths if p.suffix.lower() == ".py"])
        if not modules:
            raise CheckerError(
                f"checker folder {str(folder)!r} has no file that ends in {', '.join(_LANGUAGES)}"
            )
        if len(modules) > 1 and modules[0].stem not in _MAIN_NAMES:
            raise CheckerError(
                f"checker folder {str(folder)!r} has {len(modules)} Python files: name the one to "
                "start, or call it main.py"
            )
        return Program("python", self._renamed(modules, "main.py"))

    def _renamed(self, paths: list[Path], main: str) -> dict[str, bytes]:
        """Return the files by name, the first one as `main`."""
        first, *others = paths
        return {main: self.read(first), **{p.name: self.read(p) for p in others if p.name != main}}

    def file_and_used(self, path: Path, main: str) -> dict[str, bytes]:
        """Return the file under the name `main`, and the files beside it that it uses."""
        used = _imported if main.endswith(".py") else _included
        files = {main: self.read(path)}
        waiting, seen = used(path, files[main]), {path.name, main, HEADER}
        while waiting:
            other = waiting.pop(0)
            if other.name in seen or not other.is_file():
                continue
            seen.add(other.name)
            data = self.read(other)
            is_source = other.suffix.lower() in SOURCE_ENDINGS["g++"]
            if not (is_source and _MAIN_FUNCTION.search(data)):  # else a program of its own
                files[other.name] = data
                waiting += used(other, data)
        return files

    def read(self, path: Path) -> bytes:
        if self._within is not None and not path.resolve().is_relative_to(self._within):
            raise CheckerError(f"checker file {path.name!r} is a link out of {self._within}")
        return _read(path)


def _read(path: Path) -> bytes:
    path = path.expanduser()
    path = path / HEADER if path.is_dir() else path
    try:
        check_input_file(path)
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as e:
        raise CheckerError(f"checker file {str(path)!r} can't be read: {e.strerror}") from e
    if len(data) > MOST_BYTES:
        raise CheckerError(
            f"checker file {str(path)!r} is longer than {MOST_BYTES >> 20} MiB: name its source"
        )
    return data


def _header_beside(path: Path) -> Path:
    beside = path.parent / HEADER
    if not beside.is_file():
        raise CheckerError(
            f"checker {path.name!r} needs {HEADER}: put it beside the checker, or give its path "
            f"(--testlib FILE)"
        )
    return beside


def _main_first(paths: list[Path]) -> list[Path]:
    stems = [p.stem for p in paths]
    main = next((name for name in _MAIN_NAMES if name in stems), None)
    return sorted(paths, key=lambda p: p.stem != main)


def _included(path: Path, source: bytes) -> list[Path]:
    """Return what a C++ file includes, and the sources of the headers among it."""
    names = [name for name in included_names(source) if "/" not in name]
    stems = [Path(name).stem for name in names if Path(name).suffix.lower() in _HEADERS]
    names += [stem + ending for stem in stems for ending in SOURCE_ENDINGS["g++"]]
    return [path.parent / name for name in names]


def _imported(path: Path, source: bytes) -> list[Path]:
    names = [name.decode("utf-8", "replace") for name in _IMPORT.findall(source)]
    return [path.parent / f"{name}.py" for name in names]
