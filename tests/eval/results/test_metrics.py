"""What the metrics file has beside the statistics."""

from gradebox.eval.cli.summary import warning_lines
from gradebox.eval.results.metrics import RunFacts, compute_metrics
from tests.eval.results.statistics.made_records import case, solution

FACTS = RunFacts("", {}, {}, None, {}, {"notes": []})


def average(*records):
    return compute_metrics(records, [1], FACTS)["average_accuracy"]


def made(problem_id: str, verdicts: str, sample_i: int = 0):
    cases = [case(verdict, i) for i, verdict in enumerate(verdicts.split())]
    return solution(problem_id, sample_i, cases)


def test_the_average_counts_every_problem_once():
    found = average(made("1/A", "AC WA"), made("1/A", "AC AC", 1), made("1/B", "WA AC SK WA WA"))
    assert found == {"value": (0.75 + 0.25) / 2, "problems": 2, "note": ""}


def test_a_fault_of_the_machine_is_no_test_and_a_missing_program_passes_none():
    no_code = {**solution("1/A", 1, status="failed", verdict=None), "details": []}
    assert average(made("1/A", "AC WA ER"), no_code)["value"] == (0.5 + 0) / 2


def test_a_fault_of_the_machine_in_a_failed_solution_is_reported():
    lines = warning_lines(compute_metrics([made("1/A", "WA ER")], [1], FACTS))
    said = "!! 1 cases of failed solutions had infrastructure errors; start again to grade them"
    assert " ".join(" ".join(lines).split()) == said


def test_the_average_is_undefined_when_tests_were_left_out():
    not_run = case("SK", 1, reason="not_run_after_failure")
    found = average(made("1/A", "AC"), solution("1/B", 0, [case("WA"), not_run]))
    assert found["value"] is None
    assert "not run after a failure" in found["note"]
    assert average()["value"] is None
