"""Hints on records of programs that failed."""

import pytest
from msgspec.structs import replace

from gradebox.eval.grading.resources import TestSetInfo
from gradebox.eval.grading.solution_run import RunContext, record_of_cases
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.program import hint
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.model import Description
from testing.fakes.records import CASE


@pytest.mark.parametrize(
    ("code", "language", "named"),
    [
        ('int main() { scanf("%I64d", &n); }', "c++17", "%I64d"),
        ('printf("%d %08I64x\\n", n, m);', "c", "%08I64x"),
        ('#ifdef ONLINE_JUDGE\n#define LLD "%I64u"\n#endif', "c++20", "%I64u"),
        ('printf("%lld", n);', "c++17", None),
        ('print("%I64d")', "python", None),
        ('"%' * 100_000 + "I64", "c++17", None),
    ],
)
def test_formats_of_windows_are_named(code, language, named):
    text = hint(code, language)
    assert text.startswith(f"the program uses {named} in a format: ") if named else text == ""


@pytest.mark.parametrize(("passed", "noted"), [(True, False), (False, True)])
def test_only_records_of_failed_programs_have_the_hint(passed, noted):
    context = RunContext(Description("box", "full", frozenset(), {}))
    solution = Solution("1/A", "s", 0, 1, "c++17", 'int main() { printf("%I64d", 1LL); }')
    run = context.solution_run(solution, Problem("1/A"), TestSetInfo())
    case = CASE if passed else replace(CASE, verdict="WA", passed=False)
    record = record_of_cases(run, [case], {})
    assert record.status == ("passed" if passed else "failed")
    assert ("%I64d" in record.error) == noted
