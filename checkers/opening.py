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

A command sees the files input.txt, output.txt and answer.txt. `{input}`, `{output}` and `{answer}`
in LINE stand for them; without any of these, the three are appended.
"""

from __future__ import annotations

import dataclasses
import shlex
from pathlib import Path

from gradebox.checkers.builtins import unknown
from gradebox.checkers.check import Checker, CheckerError
from gradebox.checkers.long_outputs import output_judge
from gradebox.checkers.program_files import read_program, testlib_program
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.checkers.values.judging import JUDGES, ValueJudge
from gradebox.sandbox.model import Program
from gradebox.sandbox.protocol import Sandbox

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
        path.exists()
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
