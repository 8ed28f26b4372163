"""Open the checker of a problem, from its source or by name.

| name                | checker                                                          |
|---------------------|------------------------------------------------------------------|
| wcmp, rcmp6, …      | a built-in; options follow: `kattis float_tolerance 1e-6`        |
| value, …            | a judge of calls (values/judging.py)                             |
| python:FILE.py      | a generated_checker                                              |
| testlib:FILE.cpp    | a testlib checker                                                |
| kattis:FILE FLAG…   | a Kattis or DOMjudge output validator, C++ or Python; or a folder |
| kattis-scoring:FILE | such a validator of a problem with scores                        |
| command:LINE        | a command of the box: exit 0 accepted, 1 rejected                |

kattis:check/validate.cpp   validate.cpp, the files beside it that it includes ("validate.h"), and
                            helper.cpp when it includes "helper.h"
kattis:check                the sources and headers of the folder
kattis:validate.py          validate.py and the modules beside it that it imports

A command sees the files input.txt, output.txt and answer.txt. `{input}`, `{output}` and `{answer}`
in LINE stand for them; without any of these, the three are appended.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from gradebox.checkers.builtins import unknown
from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.long_outputs import output_judge
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.checkers.values.judging import JUDGES, ValueJudge
from gradebox.sandbox.input_file import check_input_file
from gradebox.sandbox.model import MIB, Program
from gradebox.sandbox.protocol import Sandbox
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
MOST_BYTES = 16 * MIB  # of a file; all that a checker consists of may have four times as much
_PLACES = ("{input}", "{output}", "{answer}")

# Becomes the command. 127 is a shell's status for a missing command; 1 would be a rejection.
_COMMAND = b"""\
import os
import sys

try:
    os.execvp(sys.argv[1], sys.argv[1:])
except OSError as e:
    sys.stderr.write(f"{sys.argv[1]}: {e.strerror}\\n")
    sys.stderr.flush()
    os._exit(127)
"""


def open_checker(
    sandbox: Sandbox,
    *,
    source: str | None,
    name: str | None,
    testlib: str | None = None,
    testlib_source: str | None = None,
    programs: bool = True,
    within: Path | None = None,
) -> Checker | None:
    """Return the checker to judge with; None when there is neither a source nor a name.

    source     text of a Python `generated_checker`; used when no name is given
    name       see the table above; a name given by the user goes before the source
    testlib    path of testlib.h or of its folder; None: beside the checker
    testlib_source  text of a checker in C++ that includes testlib.h; used when there is no other
    programs   False for names that a dataset chose: only built-ins and programs in files
               `within` a folder, since a dataset must not choose files of this machine
    within     a real path: no file outside of this folder is read; None: any file

    Raises CheckerError, a ValueError: unknown name (the nearest are listed), missing file.
    """
    if name is not None and name.strip():
        return _open_named(sandbox, name.strip(), testlib, programs, within)
    if source is not None and source.strip():
        program = Program("python", {"checker.py": source.encode("utf-8", "surrogatepass")})
        return ProgramChecker(sandbox, PROTOCOLS["python"], program, name="generated_checker")
    if testlib_source is not None and testlib_source.strip():
        program = testlib_program(testlib_source, testlib)
        return ProgramChecker(sandbox, PROTOCOLS["testlib"], program, name="testlib checker")
    return None


def _open_named(
    sandbox: Sandbox, name: str, testlib: str | None, programs: bool, within: Path | None
) -> Checker:
    kind, colon, rest = name.partition(":")
    if name in JUDGES:
        return ValueJudge(name)
    if not colon:
        return output_judge(name)
    if kind not in PROTOCOLS:
        raise unknown(name)
    if not programs and (within is None or kind == "command"):
        raise CheckerError(
            f"checker {name!r} comes from the problem, which may only name a built-in, or a file "
            "beside a local data set: pass it as --checker yourself if you trust it"
        )
    if kind == "command":
        protocol = dataclasses.replace(PROTOCOLS[kind], args=_split_command(rest))
        program = Program("python", {"main.py": _COMMAND})
        return ProgramChecker(sandbox, protocol, program, name=f"command:{rest.strip()}")
    path, flags = split_path(rest, kind, within)
    return ProgramChecker(
        sandbox,
        PROTOCOLS[kind],
        read_program(kind, path, testlib, within=within),
        name=f"{kind}:{path.name}",
        extra_args=flags,
    )


def split_path(rest: str, kind: str, within: Path | None = None) -> tuple[Path, tuple[str, ...]]:
    """Return the file or folder and the words after it; an existing path may contain spaces.

    within  a real path, where relative paths begin and which none may leave
    """
    whole = _placed(rest.strip(), within)
    if rest.strip() and whole.exists():
        return whole, ()
    words = _split(rest, kind)
    if not words:
        raise CheckerError(f"checker {kind}: names no file: write {kind}:FILE")
    return _placed(words[0], within), tuple(words[1:])


def _placed(name: str, within: Path | None) -> Path:
    """Return the path of a name that the system takes as one."""
    try:
        path = Path(name).expanduser() if within is None else (within / name).resolve()
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.stat()  # since Python 3.14 `exists` says nothing of the others
    except (OSError, RuntimeError, ValueError) as e:  # too long, a loop of links, a NUL
        raise CheckerError(f"checker file {name[:200]!r} can't be read: {str(e)[:200]}") from None
    if within is not None and not path.is_relative_to(within):
        raise CheckerError(f"checker file {name[:200]!r} is outside {within}; move it there")
    return path


def _split_command(line: str) -> tuple[str, ...]:
    words = _split(line, "command")
    if not words:
        raise CheckerError("checker command is empty: write command:LINE, e.g. command:cmp -s")
    if not any(place in word for word in words for place in _PLACES):
        words.extend(_PLACES)
    return tuple(words)


def _split(line: str, kind: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as e:
        raise CheckerError(f"checker {kind}:{line} can't be read: {e}") from e


# ---- the files of a program ----


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
        self._size = 0

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
        data = _read(path)
        self._size += len(data)
        if self._size > 4 * MOST_BYTES:  # links may name one file a thousand times
            raise CheckerError(
                f"the files of a checker in {str(path.parent)!r} have more than "
                f"{4 * MOST_BYTES >> 20} MiB: leave out what it does not use"
            )
        return data


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
