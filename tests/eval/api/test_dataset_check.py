"""The data set's own solutions are graded before a run; rows that are misread stop it."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.api.rewards import make_codeforces
from gradebox.eval.cli.run import RunResult, run_grading
from gradebox.eval.cli.summary import table, warning_lines
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.options import Options
from gradebox.eval.problems.in_memory import InMemoryProblems
from gradebox.eval.results.records import fields_of
from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.errors import SandboxError
from testing.fakes.scripted_sandbox import Answer, Call, FakeSandbox, ready

# A program prints its input, unless its source says: wrong, crash, down.
RIGHT, WRONG, CRASH, DOWN, LACKS = "right", "wrong", "crash", "down", "lacks"
NO_MODULE = b"ModuleNotFoundError: No module named 'numpy'\n"


def answer(call: Call) -> Answer:
    answers: dict[str, Answer] = {
        WRONG: b"no",
        CRASH: ready(b"", exit_code=1, stderr=b"KeyError: 'check'\n"),
        LACKS: ready(b"", exit_code=1, stderr=NO_MODULE),
        DOWN: SandboxError("the box died"),
    }
    return answers.get(call.source.split()[0], call.stdin)


class DataSet:
    """Problems 0, 1, … whose own solutions are given, and a run of one solution of each."""

    def __init__(self, folder: Path, *golds: str | list[str] | None) -> None:
        self.folder = folder
        rows, solutions = [], []
        for number, gold in enumerate(golds):
            known = [gold] if isinstance(gold, str) else gold or []
            entries = [{"code": f"{code} known{number}", "expect": "passed"} for code in known]
            test = {"input": f"{number}\n", "output": f"{number}\n"}
            name = f"{number}/A"
            rows.append({"id": name, "official_tests": [test], "gold_solutions": entries})
            solutions.append({"id": name, "code": f"right mine{number}"})
        self.problems, self.solutions = folder / "problems.jsonl", folder / "sols.jsonl"
        for path, lines in ((self.problems, rows), (self.solutions, solutions)):
            path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.sandbox = FakeSandbox(answer)

    def run(self, sandbox: FakeSandbox | None = None, **flags: Any) -> RunResult:
        options = Options(
            solutions_path=self.solutions, dataset=str(self.problems), workers=2,
            results_dir=self.folder / "results", **flags,
        )  # fmt: skip
        return run_grading(options, sandbox=sandbox)

    def known_run(self) -> list[str]:
        """Return the known solutions that ran, each once, and forget them."""
        found = sorted({c.source for c in self.sandbox.calls if "known" in c.source})
        self.sandbox.calls.clear()
        return found


def metrics_of(result: RunResult) -> dict[str, Any]:
    metrics = result.files[0].metrics
    assert metrics is not None
    return metrics


def test_a_run_ends_before_it_grades_when_most_known_solutions_fail(tmp_path):
    data = DataSet(tmp_path, CRASH, RIGHT, CRASH, WRONG)
    with pytest.raises(InputError) as error:
        data.run(data.sandbox)
    text = str(error.value)
    assert "its own right solutions fail for 3 of the 4 problems checked" in text
    assert "2 RE: exit code 1: KeyError: 'check'; 1 WA: " in text
    assert "--no-check-dataset" in text and "\n" not in text
    assert not any("mine" in call.source for call in data.sandbox.calls)


def test_single_ones_that_fail_are_a_note_and_in_the_metrics(tmp_path):
    data = DataSet(tmp_path, RIGHT, CRASH, RIGHT)
    metrics = metrics_of(data.run(data.sandbox))
    assert metrics["known_solutions_checked"] == 3
    assert metrics["known_solutions_failed"] == [
        {
            "problem_id": "1/A",
            "solution_id": "gold_solutions[0]",
            "verdict": "RE",
            "error": "exit code 1: KeyError: 'check'",
        }
    ]
    notes = " ".join(" ".join(warning_lines(metrics)).split())
    assert "own solutions fail for 1 of the 3 problems checked" in notes
    assert "1/A (RE)" in notes
    assert max(map(len, warning_lines(metrics) + table(metrics, "r").splitlines())) <= 80
    again = metrics_of(data.run(data.sandbox))  # nothing is graded, and nothing is checked
    assert again["known_solutions_failed"] == metrics["known_solutions_failed"]


def test_a_problem_passes_when_one_of_its_known_solutions_does(tmp_path):
    data = DataSet(tmp_path, [WRONG, RIGHT], [CRASH, WRONG, RIGHT])
    metrics = metrics_of(data.run(data.sandbox))
    assert metrics["known_solutions_failed"] == []
    assert len(data.known_run()) == 5


def test_a_fault_of_the_machine_is_not_the_data_sets(tmp_path, monkeypatch):
    monkeypatch.setattr("gradebox.eval.api.batch.Retry", partial(Retry, attempts=1))
    data = DataSet(tmp_path, DOWN)
    metrics = metrics_of(data.run(data.sandbox))
    assert (metrics["known_solutions_checked"], metrics["known_solutions_failed"]) == (0, [])


def test_the_first_twenty_problems_are_checked_until_all_of_them_are_graded(tmp_path):
    data = DataSet(tmp_path, None, *[RIGHT] * 30)
    data.run(data.sandbox, limit=2)
    assert data.known_run() == ["right known1"]
    data.run(data.sandbox, limit=21)
    assert data.known_run() == sorted(f"right known{n}" for n in range(1, 21))
    data.run(data.sandbox)
    assert data.known_run() == []


def test_a_resumed_run_is_not_ended_by_the_one_problem_that_is_left(tmp_path):
    data = DataSet(tmp_path, *[RIGHT] * 4, CRASH)
    data.run(data.sandbox, limit=4)
    metrics = metrics_of(data.run(data.sandbox))
    assert (metrics["known_solutions_checked"], len(metrics["known_solutions_failed"])) == (5, 1)


def test_a_check_that_is_stopped_or_too_slow_ends_no_run(tmp_path, monkeypatch):
    data = DataSet(tmp_path, CRASH, CRASH, CRASH)
    stopper: list[Stopper] = []
    entered = Stopper.__enter__
    monkeypatch.setattr(Stopper, "__enter__", lambda s: (stopper.append(s), entered(s))[1])
    data.sandbox = FakeSandbox(lambda call: (stopper[0].stop(), answer(call))[1])
    assert data.run(data.sandbox).exit_status == ExitStatus.INTERRUPTED
    monkeypatch.setattr("gradebox.eval.api.dataset_check.MOST_S", 1e-9)
    data = DataSet(tmp_path, *[RIGHT] * 9)
    metrics = metrics_of(data.run(FakeSandbox(lambda call: ready(call.stdin, wall_s=1.0))))
    assert metrics["known_solutions_checked"] < 9
    assert metrics["statuses"] == {"passed": 9}


def test_what_passed_is_not_run_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GRADEBOX_CACHE", str(tmp_path / "cache"))
    data = DataSet(tmp_path, RIGHT, RIGHT, CRASH)
    monkeypatch.setattr("gradebox.sandbox.opening.open_sandbox", lambda *_, **__: data.sandbox)
    data.run()
    assert len(data.known_run()) == 3
    data.run(fresh=True)
    assert data.known_run() == ["crash known2"]
    data.run(fresh=True, time_limit_scale={"python": 2.0})
    assert len(data.known_run()) == 3
    stored = b"".join(p.read_bytes() for p in (tmp_path / "cache").rglob("*.z"))
    assert stored


def test_a_grader_checks_the_problems_of_its_data_set(tmp_path):
    data = DataSet(tmp_path, CRASH, CRASH, CRASH, CRASH)
    rows = [{"id": f"{n}/A", "code": "right"} for n in range(4)]
    with Grader(data.problems, sandbox=data.sandbox, workers=1) as grader:
        assert grader.grade(rows[:1])[0]["status"] == "passed"  # one problem says little
        with pytest.raises(InputError, match="fail for 4 of the 4 problems"):
            grader.grade(rows)
        inline = {"id": "x", "official_tests": [], "gold_solutions": [{"code": CRASH}]}
        assert grader.grade([{"code": "right"}], inline)[0]["status"] == "no_tests"
        assert grader.known_solutions("0/A") == [
            {"problem_id": "0/A", "language": "python", "code": "crash known0"}
        ]
    flags: dict[str, Any] = {"no_check_dataset": True, "workers": 1}
    with Grader(data.problems, sandbox=data.sandbox, **flags) as grader:
        assert {record["status"] for record in grader.grade(rows)} == {"passed"}


@pytest.mark.parametrize(
    ("codes", "shared"),
    [
        ([CRASH] * 3, [(None, 3, "RE", "exit code 1: KeyError: 'check'")]),
        ([CRASH] * 2, []),
        ([CRASH, CRASH, CRASH, RIGHT], []),
        ([CRASH, WRONG, CRASH], []),
    ],
)
def test_what_every_solution_failed_by_is_said(tmp_path, codes, shared):
    data = DataSet(tmp_path, *[None] * len(codes))
    rows = [{"id": f"{n}/A", "code": code} for n, code in enumerate(codes)]
    data.solutions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    metrics = metrics_of(data.run(data.sandbox))
    assert [tuple(fault.values()) for fault in metrics["same_faults"]] == shared
    said = " ".join(warning_lines(metrics))
    assert ("!! all 3 solutions failed in the same way" in said) is bool(shared)
    assert ("!! none of the 3 solutions passed: are they of this data set" in said) is (
        WRONG in codes
    )


def test_what_every_program_of_a_language_failed_by_is_said(tmp_path):
    data = DataSet(tmp_path, *[None] * 5)
    data.sandbox.compile_log = lambda source: b"cc1plus: error: none\n" if "cpp" in source else None
    rows = [{"id": f"{n}/A", "code": "cpp", "language": "c++17"} for n in range(4)]
    rows.append({"id": "4/A", "code": "right", "language": "python"})
    data.solutions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    metrics = metrics_of(data.run(data.sandbox))
    error = "cc1plus: error: none"
    assert metrics["same_faults"] == [
        {"language": "c++17", "solutions": 4, "verdict": "CE", "error": error}
    ]
    said = warning_lines(metrics)
    assert said[0].startswith("!! all 4 c++17 solutions failed in the same way")
    assert f"CE: {error}" in said[2] and max(map(len, said)) <= 80


def test_modules_that_programs_did_not_find_are_counted(tmp_path):
    data = DataSet(tmp_path, *[None] * 3)
    rows = [{"id": f"{n}/A", "code": code} for n, code in enumerate([LACKS, LACKS, WRONG])]
    data.solutions.write_text("".join(json.dumps(row) + "\n" for row in rows))
    metrics = metrics_of(data.run(data.sandbox))
    assert metrics["missing_modules"] == {"numpy": 2}
    assert "did not find a module: numpy 2; " in " ".join(warning_lines(metrics))


def test_rows_with_solutions_of_their_own_are_checked_by_graders_and_rewards():
    def row(number: int, code: str) -> dict[str, Any]:
        test = {"input": f"{number}\n", "output": f"{number}\n"}
        known = [{"code": code, "expect": "passed"}]
        return {"id": str(number), "official_tests": [test], "gold_solutions": known}

    sandbox = FakeSandbox(answer)
    bad, good = ([row(n, code) for n in range(12)] for code in (CRASH, RIGHT))
    solutions = [{"id": str(n), "code": f"right mine{n}"} for n in range(12)]
    with Grader(sandbox=sandbox) as grader:
        for n in range(9):  # a few rows that are wrong stop no training
            assert grader.grade(solutions[n : n + 1], bad[n])[0]["status"] == "passed"
        with pytest.raises(InputError, match="the data set given: its own right solutions fail"):
            grader.grade(solutions, bad)
        assert {r["status"] for r in grader.grade(solutions, good)} == {"passed"}  # other data
    texts = [f"```python\nright mine{n}\n```" for n in range(12)]
    columns = {name: [row[name] for row in bad] for name in bad[0]}
    with Grader(sandbox=sandbox) as grader, pytest.raises(InputError, match="12 of the 12"):
        make_codeforces("pass_fail", grader=grader)(texts, **columns)
    with Grader(sandbox=sandbox, no_check_dataset=True) as grader:
        assert make_codeforces("pass_fail", grader=grader)(texts, **columns) == [1.0] * 12
    with Grader(sandbox=sandbox) as grader:  # a server's rows are somebody else's
        found = grader.grade_encoded(solutions, InMemoryProblems(bad))
        assert {fields_of(record)["status"] for record in found} == {"passed"}
