"""The program of a package's validator, checker or interactor as the column `judge_program`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from gradebox.checkers.check import CheckerError
from gradebox.checkers.interactive import judge_fields
from gradebox.checkers.program_files import HEADER, read_program
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.eval.common.errors import RowError
from gradebox.eval.problems.packages.files import PackageFiles
from gradebox.eval.problems.packages.submissions import LANGUAGES
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Program

Role = Literal["checker", "interactor"]


def read_judge(package: PackageFiles, place: Path, protocol: str, testlib: str | None) -> Program:
    """Return the program of a checker, an interactor or a generator, with what it includes.

    Raises RowError for files that can't be read, lie outside the package or are no program.
    """
    testlib_here = place.parent / HEADER
    if testlib_here.is_file():
        testlib = str(package.inside(testlib_here))
    else:
        beside = package.find(f"files/{HEADER}", HEADER)
        testlib = testlib if beside is None else str(beside)
    language = LANGUAGES.get(place.suffix, "python") if place.is_file() else "python"
    if language not in ("python", "c++20"):
        row = find(language)
        header = {} if testlib is None else {HEADER: package.bytes(Path(testlib))}
        return Program(row.name, {row.source: package.bytes(place), **header})
    is_testlib = protocol == "testlib" and place.suffix != ".py"
    try:
        if not is_testlib:
            return read_program("kattis", place, within=package.root)
        if testlib is None:
            raise CheckerError(f"{HEADER} is not in the package: give its path, --testlib FILE")
        return read_program("testlib", place, testlib, within=package.root)
    except CheckerError as error:
        raise RowError(f"{package.say(place)}: {error}") from None


def judge_program(
    package: PackageFiles,
    place: Path,
    role: Role,
    protocol: str,
    extra_args: Sequence[str] = (),
    *,
    testlib: str | None = None,
) -> dict[str, Any]:
    """Return the object of a program in a file or a folder of the package.

    testlib  the path of testlib.h, for protocol testlib

    Raises RowError as `read_judge` does.
    """
    program = read_judge(package, place, protocol, testlib)
    return judge_fields(role, PROTOCOLS[protocol], program, extra_args, name=package.say(place))
