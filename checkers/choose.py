"""The checker of a problem, from its source or by name.

| name                | is                                                               |
|---------------------|------------------------------------------------------------------|
| wcmp, rcmp6, …      | a built-in; options follow: `kattis float_tolerance 1e-6`        |
| python:FILE.py      | a generated_checker                                              |
| testlib:FILE.cpp    | a testlib checker                                                |
| kattis:FILE FLAG…   | a Kattis or DOMjudge output validator, C++ or Python             |
| command:LINE        | a command of the box: exit 0 accepted, 1 rejected                |
"""

from __future__ import annotations

import dataclasses
import difflib
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from checkers.builtins import TABLE, builtin
from checkers.errors import CheckerError, UnknownChecker
from checkers.programs import PROTOCOLS, ProgramChecker
from checkers.programs.command import LAUNCHER, split_command
from checkers.protocol import Checker
from sandbox.model import Program
from sandbox.protocol import Sandbox

_CPP = ("c++17", "main.cpp")
_PYTHON = ("python", "main.py")
_BY_SUFFIX: Mapping[str, tuple[str, str]] = {
    ".py": _PYTHON,
    ".cpp": _CPP,
    ".cc": _CPP,
    ".cxx": _CPP,
    ".c++": _CPP,
}
_HEADER = "testlib.h"


def open_checker(
    sandbox: Sandbox,
    *,
    source: str | None,
    name: str | None,
    testlib: str | None = None,
    programs: bool = True,
) -> Checker | None:
    """The checker to judge with; None when there is neither a source nor a name.

    source     text of a Python `generated_checker`; counts when no name is given
    name       see the table above; a name given by the user goes before the source
    testlib    path of testlib.h or of its folder; else looked for beside the checker
    programs   False: only built-ins, for names that a dataset chose: it must not pick
               files of this machine

    Raises CheckerError, a ValueError: unknown name (the nearest are listed), missing file.
    """
    if name is not None and name.strip():
        return _named(sandbox, name.strip(), testlib, programs)
    if source is not None and source.strip():
        program = Program("python", {"checker.py": source.encode("utf-8", "surrogatepass")})
        return ProgramChecker(sandbox, PROTOCOLS["python"], program, name="generated_checker")
    return None


def _named(sandbox: Sandbox, name: str, testlib: str | None, programs: bool) -> Checker:
    kind, colon, rest = name.partition(":")
    if not colon:
        return builtin(name)
    make = _KINDS.get(kind)
    if make is None:
        near = difflib.get_close_matches(kind, [*_KINDS, *TABLE], n=3, cutoff=0.5)
        hint = f"; did you mean {' or '.join(near)}" if near else ""
        raise UnknownChecker(
            f"unknown kind of checker {kind!r} in {name!r}{hint}; kinds: {', '.join(_KINDS)}"
        )
    if not programs:
        raise CheckerError(
            f"checker {name!r} comes from the problem, which may only name a built-in: "
            "pass it as --checker yourself if you trust it"
        )
    return make(sandbox, rest, testlib)


def _python(sandbox: Sandbox, rest: str, _testlib: str | None) -> Checker:
    path, extra = split_path(rest, "python")
    program = Program("python", {"checker.py": _read(path)})
    return ProgramChecker(
        sandbox, PROTOCOLS["python"], program, name=f"python:{path.name}", extra_args=extra
    )


def _testlib(sandbox: Sandbox, rest: str, testlib: str | None) -> Checker:
    path, extra = split_path(rest, "testlib")
    program = testlib_program(path, testlib)
    return ProgramChecker(
        sandbox, PROTOCOLS["testlib"], program, name=f"testlib:{path.name}", extra_args=extra
    )


def _kattis(sandbox: Sandbox, rest: str, _testlib: str | None) -> Checker:
    path, extra = split_path(rest, "kattis")
    return ProgramChecker(
        sandbox,
        PROTOCOLS["kattis"],
        program_of(path),
        name=f"kattis:{path.name}",
        extra_args=extra,
    )


def _command(sandbox: Sandbox, rest: str, _testlib: str | None) -> Checker:
    row = dataclasses.replace(PROTOCOLS["command"], args=split_command(rest))
    return ProgramChecker(sandbox, row, LAUNCHER, name=f"command:{rest.strip()}")


_KINDS: Mapping[str, Callable[[Sandbox, str, str | None], Checker]] = {
    "python": _python,
    "testlib": _testlib,
    "kattis": _kattis,
    "command": _command,
}


def program_of(path: Path) -> Program:
    """A C++ or Python program of one file, its language told by the file's ending."""
    row = _BY_SUFFIX.get(path.suffix.lower())
    if row is None:
        raise CheckerError(f"checker file {path.name!r} must end in {', '.join(_BY_SUFFIX)}")
    language, main = row
    return Program(language, {main: _read(path)})


def testlib_program(path: Path, testlib: str | None) -> Program:
    """A C++ program with testlib.h beside it."""
    source, header = _read(path), _find_header(path, testlib)
    return Program("c++17", {"main.cpp": source, _HEADER: _read(header)})


def _find_header(path: Path, testlib: str | None) -> Path:
    if testlib is not None:
        given = Path(testlib).expanduser()
        return given / _HEADER if given.is_dir() else given
    beside = path.parent / _HEADER
    if not beside.is_file():
        raise CheckerError(
            f"checker {path.name!r} needs {_HEADER}: put it beside the checker, or give its path "
            f"(--testlib FILE)"
        )
    return beside


def split_path(rest: str, kind: str) -> tuple[Path, tuple[str, ...]]:
    """The file, and the words after it; a path with spaces is fine when it exists as written."""
    whole = Path(rest.strip()).expanduser()
    if rest.strip() and whole.is_file():
        return whole, ()
    try:
        words = shlex.split(rest)
    except ValueError as e:
        raise CheckerError(f"checker {kind}:{rest} can't be read: {e}") from e
    if not words:
        raise CheckerError(f"checker {kind}: names no file: write {kind}:FILE")
    return Path(words[0]).expanduser(), tuple(words[1:])


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise CheckerError(f"checker file {str(path)!r} can't be read: {e.strerror}") from e
