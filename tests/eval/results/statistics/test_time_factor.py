"""Verdicts at other time limits: a table of solutions and expected results."""

import pytest

from gradebox.eval.results.statistics.counts import passes_at
from tests.eval.results.statistics.made_records import case, solution

LATE_RIGHT = case("TLE", cpu_s=1.1, output_passed=True)
LATE_WRONG = case("TLE", cpu_s=1.1, output_passed=False)
LATE_KILLED = case("TLE", cpu_s=1.26, output_passed=None)
IDLE_KILLED = case("TLE", cpu_s=0.1, output_passed=None)


@pytest.mark.parametrize(
    ("cases", "at"),
    [
        ([case(cpu_s=0.5)], (True, True, True)),
        ([case(cpu_s=0.8)], (True, True, True)),
        ([case(cpu_s=0.81)], (False, True, True)),
        ([case(cpu_s=0.1), case(cpu_s=0.99)], (False, True, True)),
        ([case("WA", cpu_s=0.1)], (False, False, False)),
        ([LATE_RIGHT], (False, False, True)),
        ([case(), LATE_RIGHT, case("SK")], (False, False, True)),
        ([LATE_WRONG], (False, False, False)),
        ([LATE_KILLED], (False, False, False)),
        ([IDLE_KILLED], (False, False, False)),
        ([LATE_RIGHT, case("WA")], (False, False, False)),
        ([LATE_RIGHT, case("SK", reason="not_run_after_failure")], (False, False, None)),
        ([case("WA"), case("SK", reason="not_run_after_failure")], (False, False, False)),
        ([LATE_RIGHT, case("ER")], (False, False, None)),
        ([case(cpu_s=None)], (None, True, True)),
        ([case(cpu_s=None), case(cpu_s=0.9)], (False, True, True)),
        ([case("CU")], (False, False, False)),
        ([LATE_RIGHT, case("CU")], (False, False, False)),
    ],
)
def test_results_at_each_factor(cases, at):
    record = solution(cases=cases)
    assert tuple(passes_at(record, factor) for factor in (0.8, 1.0, 1.25)) == at


def test_without_output_passed_the_result_is_unknown():
    record = solution(cases=[LATE_RIGHT])
    del record["details"][0]["output_passed"]
    assert passes_at(record, 1.25) is None


def test_a_failed_solution_without_cases_fails_at_every_limit():
    record = {"status": "failed", "details": [], "time_limit_s": 1.0}
    assert passes_at(record, 1.25) is False


def test_without_a_time_limit_the_result_is_unknown():
    record = solution(cases=[case()], time_limit_s=None)
    assert passes_at(record, 0.8) is None
