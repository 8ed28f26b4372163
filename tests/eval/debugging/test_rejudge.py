"""Chosen cases graded again: from stored outputs or by a run, records and metrics in step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.debugging.rejudge import Rejudged, rejudge
from eval.debugging.reopen import Overrides, options_of, reopened
from eval.input_error import InputError
from eval.lock import FolderLock
from eval.run import run_grading
from tests.eval.debugging.made_run import PROBLEMS, MadeRun, write_lines

ALL: frozenset[tuple[str, int]] = frozenset()


def again(made: MadeRun, chosen: dict[int, frozenset[tuple[str, int]]], **over: Any) -> Rejudged:
    made.sandbox.calls.clear()
    with reopened(options_of(made.results, Overrides(**over)), made.sandbox) as materials:
        return rejudge(made.results, chosen, materials)


def programs_run(made: MadeRun) -> list[str]:
    return [c.source for c in made.sandbox.calls if "checker.py" not in c.program.files]


def metrics(made: MadeRun) -> dict[str, Any]:
    return json.loads((made.path / "piston_eval_metrics.json").read_text())


@pytest.fixture
def own(tmp_path: Path) -> MadeRun:
    return MadeRun(tmp_path)


def test_a_checker_that_is_not_there_is_bad_input(own: MadeRun) -> None:
    with pytest.raises(InputError, match="--checker python:/nowhere: checker file"):
        again(own, {1: ALL, 2: ALL}, checker="python:/nowhere")


def test_nothing_changes_when_nothing_is_different(own: MadeRun) -> None:
    before, old = own.records(), metrics(own)
    told = again(own, {5: frozenset({("official", 0)})})
    assert own.records() == before
    assert (told.solutions, told.from_stored, told.changed) == (1, 1, {})
    assert programs_run(own) == []
    new = metrics(own)
    assert new["case_verdicts"] == old["case_verdicts"] and new["flags"] == old["flags"]
    assert new["run"]["rejudged"][0]["cases"] == 1


def test_another_checker_changes_verdicts_keys_and_metrics(own: MadeRun) -> None:
    before = own.records()
    told = again(own, {4: ALL, 5: ALL}, checker="wcmp")
    after = own.records()
    assert [r["line"] for r in after] == [r["line"] for r in before]
    assert (after[3]["status"], after[3]["details"][0]["reason"]) == ("failed", "failed_checker")
    assert after[3]["key"] != before[3]["key"]
    assert told.changed == {("AC", "WA"): 1, ("CU", "WA"): 1}
    assert told.statuses[("passed", "failed")] == 1
    assert programs_run(own) == []  # the stored outputs were whole
    assert [after[i] for i in (0, 1, 2, 5, 6)] == [before[i] for i in (0, 1, 2, 5, 6)]
    assert metrics(own)["num_correct"] == 1
    assert metrics(own)["run"]["rejudged"][0]["checker"] == "wcmp"


def test_the_record_is_what_a_run_with_that_checker_writes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    rejudged, run = MadeRun(tmp_path / "a"), MadeRun(tmp_path / "b", checker="wcmp")
    again(rejudged, dict.fromkeys((1, 2, 4, 5), ALL), checker="wcmp")
    for ours, theirs in zip(rejudged.records(), run.records(), strict=True):
        if ours["line"] in (1, 2, 4, 5):
            assert without_times(ours) == without_times(theirs)


def without_times(record: dict[str, Any]) -> dict[str, Any]:
    details = [{k: v for k, v in c.items() if not k.endswith("_s")} for c in record["details"]]
    left_out = ("details", "compile")
    return {k: v for k, v in record.items() if k not in left_out} | {"details": details}


def test_going_back_to_the_own_checker_needs_no_run_either(own: MadeRun) -> None:
    before = own.records()
    again(own, {4: ALL, 5: ALL}, checker="wcmp")
    again(own, {4: ALL, 5: ALL})
    assert own.records() == before and programs_run(own) == []
    assert len(metrics(own)["run"]["rejudged"]) == 2


def test_a_cut_output_is_made_again(tmp_path: Path) -> None:
    solutions = [{"id": "2/B", "code": "long"}, {"id": "2/B", "code": "wrong"}]
    made = MadeRun(tmp_path, solutions)
    told = again(made, {1: ALL, 2: ALL}, checker="wcmp")
    assert programs_run(made) == ["long"] and told.from_stored == 1


@pytest.mark.parametrize("code", ["crash", "broken"])
def test_what_the_end_decided_is_run_again(tmp_path: Path, code: str) -> None:
    made = MadeRun(tmp_path, [{"id": "2/B", "code": code}])
    before = made.records()
    told = again(made, {1: ALL}, checker="wcmp")
    assert told.from_stored == 0
    verdicts = [[c["verdict"] for c in r[0]["details"]] for r in (before, made.records())]
    assert verdicts[0] == verdicts[1]


def test_a_changed_program_is_run(own: MadeRun) -> None:
    lines = [json.loads(line) for line in own.solutions_path.read_text().splitlines()]
    lines[3]["code"] = "echo"
    write_lines(own.solutions_path, lines)
    told = again(own, {4: ALL}, checker="wcmp")
    assert programs_run(own) == ["echo"] and told.from_stored == 0
    assert own.records()[3]["details"][0]["verdict"] == "AC"


def test_chosen_cases_alone_are_graded_again_under_the_same_key(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "crash"}])
    again(made, {1: frozenset({("official", 1)})})
    assert [c.stdin for c in made.sandbox.calls] == [b"2\n"]


def test_stop_on_first_failure_keeps_its_meaning(tmp_path: Path) -> None:
    problem = {"id": "1/A", "official_tests": ["1\n", "2\n", "3\n"], "generated_checker": "strict"}
    made = MadeRun(
        tmp_path, [{"id": "1/A", "code": "wrong"}], [problem], stop_on_first_failure=True
    )
    assert [c["verdict"] for c in made.records()[0]["details"]] == ["WA", "SK", "SK"]
    made.write_problems([{**problem, "generated_checker": "lenient"}])
    again(made, {1: ALL})
    assert [c["verdict"] for c in made.records()[0]["details"]] == ["AC", "AC", "AC"]


def test_the_grader_goes_on_from_rejudged_records(own: MadeRun) -> None:
    again(own, {4: ALL, 5: ALL}, checker="wcmp")
    own.sandbox.calls.clear()
    run_grading(own.options, sandbox=own.sandbox)
    sources = sorted(call.source for call in own.sandbox.calls)
    assert [s for s in sources if "\n" not in s] == ["crashing", "lenient", "wrong", "wrong"]
    assert own.records()[3]["status"] == "passed"


def test_lines_that_are_others_now_are_left_alone(own: MadeRun) -> None:
    before = own.records()
    lines = own.solutions_path.read_text().splitlines(keepends=True)
    own.solutions_path.write_text("".join([lines[0], *lines[2:]]))
    told = again(own, {2: ALL, 5: ALL})
    assert told.solutions == 0 and len(told.skipped) == 2
    assert own.records() == before


def test_a_folder_in_use_is_left_alone(own: MadeRun) -> None:
    with FolderLock(own.path), pytest.raises(InputError, match="another run"):
        again(own, {4: ALL})


def test_interrupted_it_leaves_whole_records(own: MadeRun) -> None:
    def interrupt(told: Rejudged) -> None:
        raise KeyboardInterrupt

    with reopened(options_of(own.results, Overrides(checker="wcmp")), own.sandbox) as materials:
        told = rejudge(own.results, {4: ALL, 5: ALL}, materials, interrupt)
    assert told.interrupted and 1 <= told.solutions <= 2
    assert [r["line"] for r in own.records()] == [1, 2, 3, 4, 5, 6, 7]


def test_a_problem_that_became_unusable_is_left_out(own: MadeRun) -> None:
    before = own.records()
    own.write_problems([{**PROBLEMS[1], "checker": "no-such-checker"}, *PROBLEMS[2:]])
    told = again(own, {4: ALL, 5: ALL})
    assert told.solutions == 1 and len(told.skipped) == 1 and "2/B" in told.skipped[0]
    assert own.records()[3] == before[3]
