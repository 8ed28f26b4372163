"""Rejudging, and the records and metrics afterwards."""

import json
import signal
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.run import run_grading
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.signals import Stopper
from gradebox.eval.debugging.rejudge import RejudgedRecords, RejudgeSummary, Rejudging
from gradebox.eval.debugging.reopen import Overrides, run_options
from gradebox.eval.results.folder import FolderLock, ResultsFolder
from tests.eval.debugging.small_run import PROBLEMS, SmallRun, write_lines


def rejudge(small_run: SmallRun, *lines: int, **over: Any) -> RejudgeSummary:
    small_run.sandbox.calls.clear()
    rejudging = Rejudging(small_run.results, frozenset(lines))
    options = run_options(small_run.results, Overrides(**over))
    run_grading(options, sandbox=small_run.sandbox, rejudging=rejudging)
    return rejudging.summary


def programs_run(small_run: SmallRun) -> list[str]:
    return [c.source for c in small_run.sandbox.calls if "checker.py" not in c.program.files]


def metrics(small_run: SmallRun) -> dict[str, Any]:
    return json.loads((small_run.path / "piston_eval_metrics.json").read_text())


@pytest.fixture
def own_run(tmp_path: Path) -> SmallRun:
    return SmallRun(tmp_path)


def test_nothing_changes_under_the_same_checker(own_run):
    before, old = own_run.records(), metrics(own_run)
    summary = rejudge(own_run, 5)
    assert list(map(without_times, own_run.records())) == list(map(without_times, before))
    assert (summary.solutions, summary.changed) == (1, {})
    assert programs_run(own_run) == ["wrong"]
    new = metrics(own_run)
    assert new["case_verdicts"] == old["case_verdicts"] and new["flags"] == old["flags"]
    assert new["run"]["rejudged"][0]["cases"] == 1


def test_another_checker_changes_verdicts_keys_and_metrics(own_run):
    before = own_run.records()
    summary = rejudge(own_run, 4, 5, checker="wcmp")
    after = own_run.records()
    assert [r["line"] for r in after] == [r["line"] for r in before]
    assert (after[3]["status"], after[3]["details"][0]["reason"]) == ("failed", "failed_checker")
    assert after[3]["key"] != before[3]["key"]
    assert summary.changed == {("AC", "WA"): 1, ("CU", "WA"): 1}
    assert summary.statuses[("passed", "failed")] == 1
    assert [after[i] for i in (0, 1, 2, 5, 6)] == [before[i] for i in (0, 1, 2, 5, 6)]
    assert metrics(own_run)["num_correct"] == 1
    assert metrics(own_run)["run"]["rejudged"][0]["checker"] == "wcmp"


def test_the_record_is_what_a_run_with_that_checker_writes(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    rejudged, run = SmallRun(tmp_path / "a"), SmallRun(tmp_path / "b", checker="wcmp")
    rejudge(rejudged, 1, 2, 4, 5, checker="wcmp")
    for ours, theirs in zip(rejudged.records(), run.records(), strict=True):
        if ours["line"] in (1, 2, 4, 5):
            assert without_times(ours) == without_times(theirs)


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    details = [{k: v for k, v in c.items() if not k.endswith("_s")} for c in record["details"]]
    left_out = ("details", "compile")
    return {k: v for k, v in record.items() if k not in left_out} | {"details": details}


def test_a_changed_program_runs_again(own_run):
    lines = [json.loads(line) for line in own_run.solutions_path.read_text().splitlines()]
    lines[3]["code"] = "echo"
    write_lines(own_run.solutions_path, lines)
    rejudge(own_run, 4, checker="wcmp")
    assert programs_run(own_run) == ["echo"]
    assert own_run.records()[3]["details"][0]["verdict"] == "AC"


def test_stop_on_first_failure_still_applies(tmp_path):
    problem = {"id": "1/A", "official_tests": ["1\n", "2\n", "3\n"], "generated_checker": "strict"}
    small_run = SmallRun(
        tmp_path, [{"id": "1/A", "code": "wrong"}], [problem], stop_on_first_failure=True
    )
    assert [c["verdict"] for c in small_run.records()[0]["details"]] == ["WA", "SK", "SK"]
    small_run.write_problems([{**problem, "generated_checker": "lenient"}])
    rejudge(small_run, 1)
    assert [c["verdict"] for c in small_run.records()[0]["details"]] == ["AC", "AC", "AC"]


def test_a_run_resumes_from_rejudged_records(own_run):
    rejudge(own_run, 4, 5, checker="wcmp")
    own_run.sandbox.calls.clear()
    run_grading(own_run.options, sandbox=own_run.sandbox)
    sources = sorted(call.source for call in own_run.sandbox.calls)
    assert [s for s in sources if "\n" not in s] == ["crashing", "lenient", "wrong", "wrong"]
    assert own_run.records()[3]["status"] == "passed"


def test_changed_lines_are_left_alone(own_run):
    before = own_run.records()
    lines = own_run.solutions_path.read_text().splitlines(keepends=True)
    own_run.solutions_path.write_text("".join([lines[0], *lines[2:]]))
    summary = rejudge(own_run, 2, 5)
    assert summary.solutions == 0 and len(summary.omitted) == 2
    assert own_run.records() == before


def test_a_folder_in_use_is_left_alone(own_run):
    with FolderLock(own_run.path), pytest.raises(InputError, match="another run"):
        rejudge(own_run, 4)


def test_an_interruption_leaves_whole_records(own_run, monkeypatch):
    before, add, stop = metrics(own_run), RejudgedRecords.add_graded, Stopper.stop
    stopped = threading.Event()

    def noted_stop(self: Stopper) -> None:
        stop(self)
        stopped.set()

    def add_and_interrupt(self: RejudgedRecords, *args: Any) -> None:
        add(self, *args)
        if not stopped.is_set():
            signal.raise_signal(signal.SIGINT)
        assert stopped.wait(30)

    monkeypatch.setattr(Stopper, "stop", noted_stop)
    monkeypatch.setattr(RejudgedRecords, "add_graded", add_and_interrupt)
    rejudging = Rejudging(own_run.results, frozenset((1, 2, 4, 5)))
    options = run_options(own_run.results, Overrides(checker="wcmp", workers=1))
    result = run_grading(options, sandbox=own_run.sandbox, rejudging=rejudging)
    assert result.exit_status == 130 and rejudging.summary.interrupted
    assert 1 <= rejudging.summary.solutions <= 2
    assert [r["line"] for r in own_run.records()] == [1, 2, 3, 4, 5, 6, 7]
    assert metrics(own_run)["flags"] == before["flags"]
    assert len(metrics(own_run)["run"]["rejudged"]) == 1


def test_unusable_problems_are_omitted(own_run):
    before = own_run.records()
    own_run.write_problems([{**PROBLEMS[1], "checker": "no-such-checker"}, *PROBLEMS[2:]])
    summary = rejudge(own_run, 4, 5)
    assert summary.solutions == 1 and len(summary.omitted) == 1 and "2/B" in summary.omitted[0]
    assert own_run.records()[3] == before[3]


def test_a_missing_checker_is_rejected(own_run):
    with pytest.raises(InputError, match="--checker python:/nowhere: checker file"):
        rejudge(own_run, 1, 2, checker="python:/nowhere")


def test_records_that_a_smaller_run_set_aside_stay_aside(own_run):
    run_grading(replace(own_run.options, problems=("1/A", "2/B")), sandbox=own_run.sandbox)
    aside = (own_run.path / "other_records.jsonl").read_bytes()
    summary = rejudge(own_run, 4, checker="wcmp")
    assert (summary.solutions, summary.changed) == (1, {("AC", "WA"): 1})
    assert [r["line"] for r in own_run.records()] == [1, 2, 3, 4]
    assert (own_run.path / "other_records.jsonl").read_bytes() == aside


def test_an_interruption_keeps_the_flags_for_the_same_command(own_run, monkeypatch):
    def killed(*args: Any) -> None:
        raise MemoryError

    with monkeypatch.context() as patch, pytest.raises(MemoryError):
        patch.setattr(ResultsFolder, "compact", killed)
        rejudge(own_run, 4, 5, checker="wcmp")
    assert rejudge(own_run, 4, 5, checker="wcmp").solutions == 2
    assert [r["line"] for r in own_run.records()] == [1, 2, 3, 4, 5, 6, 7]
