"""The nouns of a run: problems, their tests, the solutions, and what became of each.

Problem + TestCase… ┐
Solution ───────────┴─▶ CaseRecord… ─▶ SolutionRecord ─▶ one JSON line
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CaseVerdict = Literal["AC", "WA", "TLE", "MLE", "RE", "CE", "OLE", "CU", "SK", "ER"]
CaseType = Literal["official", "generated"]
Status = Literal["passed", "failed", "no_tests", "unsupported", "invalid", "error"]
Reason = Literal[
    "passed_by_exact_match",
    "passed_by_checker",
    "failed_outputs_match",
    "failed_checker",
    "presentation_error",
    "time_limit_exceeded",
    "memory_limit_exceeded",
    "runtime_error",
    "compile_error",
    "output_limit_exceeded",
    "checker_unclear",
    "skipped_large_input",
    "budget_exceeded",
    "not_run_after_failure",
    "unsupported_interactive",
    "sandbox_error",
]

SCHEMA = 1


@dataclass(frozen=True)
class Problem:
    """One row of the dataset without its tests.

    time_limit_s  CPU seconds; memory_limit_bytes  bytes (the dataset's MB are 2**20)
    checker       Python source of `generated_checker`, or None
    checker_name  a checker chosen by name (`checker` field or --checker), or None
    interactive   the problem talks with an interactor
    gold_solutions  known programs for --self-check: {code, language, expect} each
    """

    id: str
    time_limit_s: float = 2.0
    memory_limit_bytes: int = 256 << 20
    input_mode: Literal["stdio", "file"] = "stdio"
    checker: str | None = None
    checker_name: str | None = None
    interactive: bool = False
    interactor: str | None = None
    aliases: tuple[str, ...] = ()
    title: str = ""
    contest_id: str = ""
    contest_year: int | None = None
    rating: int | None = None
    tags: tuple[str, ...] = ()
    official_tests_complete: bool | None = None
    num_official: int = 0
    gold_solutions: tuple[Mapping[str, Any], ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TestRef:
    """A test that was chosen or skipped, without its contents.

    index        place in its own series (official: list position; generated: the file's number)
    input_bytes  size of the input in UTF-8 bytes
    skip         None when it is to be run, else why not
    """

    __test__ = False  # not a pytest class

    case_type: CaseType
    index: int
    input_bytes: int
    skip: Reason | None = None


@dataclass(frozen=True)
class TestCase:
    """A test with its contents, UTF-8 bytes; the largest thing ever held."""

    __test__ = False

    case_type: CaseType
    index: int
    input: bytes
    expected: bytes


@dataclass(frozen=True)
class Solution:
    """One line of a solutions file, read.

    code       the program, or None when the response has none
    language   name as given (resolved by `sandbox.languages`)
    sample_i   0-based number of this sample within its problem, in file order
    line       1-based line in its file
    error      why the line is invalid, else None
    """

    problem_id: str
    solution_id: str
    sample_i: int
    line: int
    language: str
    code: str | None
    error: str | None = None
    source: str = ""


@dataclass(frozen=True)
class CaseRecord:
    """What became of one test case; field for field one of `details` in a record.

    output_passed  what the output was worth apart from the time it took: whether it was whole
                   and right when the program ended by itself within 1.25 × its time limit;
                   None when there was no such output. Lets pass@1 be told at other limits
    repeats        verdicts of all runs under --repeat, this one's first
    """

    case_type: CaseType
    test_case_i: int
    passed: bool | None
    verdict: CaseVerdict
    score: float | None
    output: str
    expected: str
    error: str
    reason: Reason
    cpu_s: float | None = None
    wall_s: float | None = None
    memory_bytes: int | None = None
    contended: bool = False
    exit_code: int | None = None
    signal: int | None = None
    stderr: str = ""
    checker: Mapping[str, Any] | None = None
    input_bytes: int = 0
    input_sha256: str = ""
    output_bytes: int = 0
    output_sha256: str = ""
    transcript: str | None = None
    output_passed: bool | None = None
    repeats: tuple[CaseVerdict, ...] = ()


@dataclass(frozen=True)
class SolutionRecord:
    """What became of one solution: one JSON line of piston_eval_results.jsonl.

    time_limit_s, memory_limit_bytes  the limits the verdicts were given by, scale included
    has_checker                       a checker decides what is not equal to the expected output
    """

    problem_id: str
    solution_id: str
    sample_i: int
    line: int
    language: str
    status: Status
    verdict: CaseVerdict | None
    score: float | None
    error: str
    rating: int | None
    tags: tuple[str, ...]
    official_tests_complete: bool | None
    num_official: int
    num_generated: int
    num_skipped: int
    compile: Mapping[str, Any]
    details: tuple[CaseRecord, ...]
    sandbox: Mapping[str, Any]
    key: str
    schema: int = SCHEMA
    time_limit_s: float | None = None
    memory_limit_bytes: int | None = None
    contest_id: str = ""
    contest_year: int | None = None
    has_checker: bool | None = None
