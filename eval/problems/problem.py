"""Problems and their tests; spellings of Codeforces problem ids."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # an exported run.py has no msgspec
    from gradebox.eval.results.record import CaseType, Reason

# datasets write "1000/A", users also "1000A" or "1000/a"
_ID = re.compile(r"0*(\d{1,9})[\s/_-]?([A-Za-z]\d{0,2})")
TestKind = Literal["stdin", "call", "assert", "graded"]


@dataclass(frozen=True)
class Subtask:
    """A part of a problem that gives points.

    points  of a solution that passes all tests of the subtask
    digits  to which the lowest score of the tests is rounded
    tests   positions in the official tests
    """

    name: str
    points: float
    digits: int
    tests: tuple[int, ...]


@dataclass(frozen=True)
class Problem:
    """One row of the dataset without its tests.

    time_limit_s    CPU seconds
    checker         Python source of `generated_checker`, or None
    testlib_checker C++ source of a checker that includes testlib.h, or None
    checker_name    a checker chosen by name (`checker` column or --checker), or None
    judge_program   the program of the checker or interactor (`checkers.sent_program.sent`), or
                    None; it goes before all others
    interactive     solutions talk with an interactor
    gold_solutions  known programs for --self-check, each {code, language, expect}
    test_kind       stdin: a test is a run of the whole program; call: a call of `entry_point`;
                    assert: the text of a program that makes such calls;
                    graded: the program is linked with `graders`, and `subtasks` have points
    entry_point     the function that is called, such as `f` or `Solution().f`
    prompt          code that a completion continues, "" for none
    prelude         statements before every solution, one a line
    language        of assert tests that are not Python's: the program makes the calls of
                    `joined_tests` and writes their results; "" for all others
    joined_tests    their text
    stop_tokens     where a completion of the prompt ends
    graders         (path, text) of the files of a graded problem
    subtasks        its points
    origin          what records say of the row: its format, its judge, difficulty, platform,
                    contest date, known faults; empty for rows in our own columns
    """

    id: str
    time_limit_s: float = 2.0
    memory_limit_bytes: int = 256 << 20
    input_mode: Literal["stdio", "file"] = "stdio"
    checker: str | None = None
    checker_name: str | None = None
    testlib_checker: str | None = None
    judge_program: Mapping[str, Any] | None = None
    interactive: bool = False
    interactor: str | None = None
    aliases: tuple[str, ...] = ()
    title: str = ""
    contest_id: str = ""
    contest_year: int | None = None
    rating: int | None = None
    tags: tuple[str, ...] = ()
    official_tests_complete: bool | None = None
    gold_solutions: tuple[Mapping[str, Any], ...] = ()
    test_kind: TestKind = "stdin"
    entry_point: str = ""
    prompt: str = ""
    prelude: str = ""
    language: str = ""
    joined_tests: str = ""
    stop_tokens: tuple[str, ...] = ()
    graders: tuple[tuple[str, str], ...] = ()
    subtasks: tuple[Subtask, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TestRef:
    """A selected or skipped test without its contents.

    index        position in the official tests, or the number of a generated test
    input_bytes  size of the input in UTF-8 bytes
    skip         why the test is not run; None when it is run
    """

    __test__ = False  # not a pytest class

    case_type: CaseType
    index: int
    input_bytes: int
    skip: Reason | None = None


@dataclass  # not frozen: one is made for each case
class TestCase:
    """A test with its contents as UTF-8 bytes."""

    __test__ = False

    case_type: CaseType
    index: int
    input: bytes
    expected: bytes


def canonical_spelling(problem_id: str) -> str | None:
    """Return an id as datasets write it; None when it is not a Codeforces id.

    The index must begin with a letter: "10001" could be 1000/1 or 100/01.
    """
    match = _ID.fullmatch(problem_id.strip())
    return f"{match.group(1)}/{match.group(2).upper()}" if match else None


def spellings(problem_id: str) -> tuple[str, ...]:
    """Return the id as given, and its canonical spelling when that differs."""
    canonical = canonical_spelling(problem_id)
    return (problem_id,) if canonical in (None, problem_id) else (problem_id, str(canonical))
