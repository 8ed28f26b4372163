"""What a solution's record says beside its cases: the compiler's error, what was not run."""

import pytest

from gradebox.checkers.error_lines import error_line
from gradebox.eval.grading.solution_run import cancel_after_first_failure
from gradebox.eval.problems.problem import TestRef
from testing.fakes.records import case


@pytest.mark.parametrize(
    ("log", "line"),
    [
        ("main.cpp:1:1: error: no\n    1 | x\n", "main.cpp:1:1: error: no"),
        ('  File "main.py", line 1\n    print(1\n         ^\nSyntaxError: no\n', "SyntaxError: no"),
        ("main.cpp: In function ‘f’:\nmain.cpp:5:1: error: no\n", "main.cpp:5:1: error: no"),
        ("# package\n./main.go:2:8: not used\n", "./main.go:2:8: not used"),
        ("error[E0425]: no `x`\n --> m\nerror: aborting due to 1\n", "error[E0425]: no `x`"),
        ("\n\n  only this\n", "only this"),
        ("", ""),
    ],
)
def test_the_error_is_the_first_line_that_names_it(log, line):
    assert error_line(log) == line


@pytest.mark.parametrize(
    ("verdicts", "kept"),
    [
        ("AC WA AC AC", "AC WA SK SK"),
        ("WA TLE WA", "WA SK SK"),
        ("AC ER AC CU AC", "AC ER AC CU SK"),
        ("AC SK AC", "AC SK AC"),
        ("AC AC WA", "AC AC WA"),
    ],
)
def test_no_case_behind_the_first_failure_stays_even_if_it_ran(verdicts, kept):
    """Whatever the number of cases at once."""
    ran = [case(verdict=verdict, test_case_i=i) for i, verdict in enumerate(verdicts.split())]
    plan = [TestRef("official", i, 1) for i in range(len(ran))]
    plan[-1] = TestRef("official", len(ran) - 1, 1, "budget_exceeded")
    cases = list(ran)
    cancel_after_first_failure(cases, plan)
    assert [c.verdict for c in cases] == kept.split()
    cancelled = [c for c, before in zip(cases, ran, strict=True) if c is not before]
    assert {c.reason for c in cancelled[:-1]} <= {"not_run_after_failure"}
    assert {c.reason for c in cancelled[-1:]} <= {"budget_exceeded"}
