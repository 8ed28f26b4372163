"""Problems and their tests; spellings of Codeforces problem ids."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # an exported run.py has no msgspec
    from gradebox.eval.results.record import CaseType, Reason

# datasets write "1000/A", users also "1000A" or "1000/a"
_ID = re.compile(r"0*(\d{1,9})[\s/_-]?([A-Za-z]\d{0,2})")
TestKind = Literal["stdin", "call", "assert", "graded"]
GroupRule = Literal["min", "sum", "max", "avg", "all"]


@dataclass(frozen=True)
class Subtask:
    """A group of tests that gives points: its share of 0 … 1, times `points`.

    points  of a solution with full marks in all its tests
    digits  to which the share is rounded; None: it is not
    tests   positions in the official tests
    rule    what the share is of the scores of the tests and the shares of the inner groups: the
            lowest, the mean weighted by points, the highest, the mean, or 1 if all are 1
    groups  names of the inner groups, which are before this one
    needs   names of groups; without full marks in all of them this one has no points
    """

    name: str = ""
    points: float = 0.0
    digits: int | None = None
    tests: tuple[int, ...] = ()
    rule: GroupRule = "min"
    groups: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class TestInfo:
    """What an official test has besides its input and output.

    name    in the package that it comes from
    args    arguments of the checker or interactor, after those of every test
    points  its full mark, None where it has none
    """

    __test__ = False  # not a pytest class

    name: str = ""
    args: tuple[str, ...] = ()
    points: float | None = None


NO_INFO = TestInfo()


PARTIAL = "partial"
# verdicts that stand for one another: an output that is too long is wrong, and a crash may be one
# for memory
ALIKE = {"OLE": "WA", "MLE": "RE"}


@dataclass(frozen=True)
class Expectation:
    """What the authors of a problem expect of a submission's tests.

    tests      a glob of their names, or of the groups that they are in; "" for all
    permitted  verdicts that each test may have; None: any
    required   verdicts of which one test at least has one; None: none is needed. PARTIAL: the
               submission has some of the points, and not all
    """

    tests: str = ""
    permitted: tuple[str, ...] | None = None
    required: tuple[str, ...] | None = None

    def fits(self, verdicts: Iterable[str]) -> bool:
        """Return whether tests with these verdicts are as expected."""
        found, permitted, required = (
            {ALIKE.get(verdict, verdict) for verdict in verdicts or ()}
            for verdicts in (verdicts, self.permitted, self.required)
        )
        is_permitted = self.permitted is None or found <= permitted
        return is_permitted and (self.required is None or bool(found & required))


@dataclass(frozen=True)
class TimeRule:
    """How a package's time limit follows from its submissions: slowest accepted one x `ac`.

    tle         the fastest submission that must exceed the limit takes `tle` times as long
    resolution  seconds; the limit is a multiple of it
    stated      the package states a limit, so that the rule does not decide
    """

    ac: float = 2.0
    tle: float = 1.5
    resolution: float = 1.0
    stated: bool = True

    def limit_s(self, slowest_s: float) -> float:
        """Return the limit of submissions whose slowest takes so many seconds."""
        return max(1, math.ceil(slowest_s * self.ac / self.resolution - 1e-9)) * self.resolution


@dataclass(frozen=True)
class Problem:
    """One row of the dataset without its tests.

    time_limit_s    CPU seconds
    checker         Python source of `generated_checker`, or None
    testlib_checker C++ source of a checker that includes testlib.h, or None
    checker_name    a checker chosen by name (`checker` column or --checker), or None
    judge_program   the program of the checker or interactor (`checkers.interactive.sent`), or
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
    subtasks        groups of tests with points
    test_info       of each official test; empty when no test has any
    passes          most runs of a solution for one test: each but the first has the input that the
                    validator wrote
    input_file      of input_mode file: its name; "" for stdin
    output_file     of input_mode file: its name; "" for stdout
    include_files   (language, "default" for all; name; text) of files that belong to each solution
    time_rule       how its time limit is found, None where it is only stated
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
    test_info: tuple[TestInfo, ...] = ()
    passes: int = 1
    input_file: str = "input.txt"
    output_file: str = "output.txt"
    include_files: tuple[tuple[str, str, str], ...] = ()
    time_rule: TimeRule | None = None
    origin: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> tuple[str, str]:
        """The names of the files for a test's input and output; "" for stdin and stdout."""
        return (self.input_file, self.output_file) if self.input_mode == "file" else ("", "")

    def info_of(self, case_type: CaseType, index: int) -> TestInfo:
        """Return what is known of a test."""
        known = case_type == "official" and index < len(self.test_info)
        return self.test_info[index] if known else NO_INFO

    def groups_of(self, case_type: CaseType, index: int) -> tuple[str, ...]:
        """Return the names of the groups that a test is in."""
        groups = self.subtasks if case_type == "official" else ()
        return tuple(group.name for group in groups if index in group.tests)


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
