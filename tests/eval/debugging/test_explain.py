"""Running a case again: as recorded, flaky, or changed since the run."""

from functools import partial
from typing import Any

import pytest

from gradebox.eval.cli.commands import debug
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import render
from gradebox.eval.debugging.explain import (
    compare_with_record,
    explain_page,
    next_steps,
    run_again,
    try_checker,
)
from gradebox.eval.debugging.reopen import Overrides, open_case
from tests.eval.debugging.small_run import PROBLEMS, SmallRun


def explain(
    small_run: SmallRun,
    problem: str,
    sample: int | None = None,
    case: str = "first-failed",
    **kw: Any,
) -> tuple[str, bool]:
    """Return the page, and whether the verdict differs from the record."""
    repeat = kw.pop("repeat", 1)
    width = kw.pop("width", 80)
    record, chosen = small_run.case(problem, sample, case)
    with open_case(small_run.results, record, chosen, Overrides(**kw), small_run.sandbox) as opened:
        rerun = run_again(opened, repeat)
        page = explain_page(opened, rerun, width, full=False)
        rows = [*page, *next_steps("R", opened, width)]
        return "\n".join(render(r, colour=False) for r in rows), compare_with_record(
            opened, rerun
        ).differs


@pytest.mark.parametrize(("code", "status"), [("wrong", 0), ("flaky", 1)])
def test_the_exit_status_says_whether_the_verdict_differs(tmp_path, code, status, monkeypatch):
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": code}])
    monkeypatch.setattr(debug, "open_case", partial(open_case, sandbox=small_run.sandbox))
    assert debug.main([str(small_run.path), "--problem", "1/A", "--no-pager"]) == status


def test_a_case_that_fails_again(small_run):
    page, differs = explain(small_run, "1/A", 1)
    assert not differs and "\nas recorded\n" in page
    assert "verdict    WA failed_outputs_match    WA failed_outputs_match" in page
    assert "why: token 1: expected '1', found 'wrong'" in page
    assert "-- input, sha256" in page and "\n  1\n" in page
    assert ">    1 1                                     1 wrong" in page
    assert "-- stderr: empty" in page
    words = page.replace("\\\n", " ").split()
    assert "--problem 1/A --sample 1 --case official:0" in " ".join(words)


def test_the_checkers_output_is_shown(small_run):
    page, _ = explain(small_run, "3/C")
    assert "verdict    CU checker_unclear         CU checker_unclear" in page
    assert "-- checker generated_checker: unclear, exit status 1" in page
    assert "ValueError: wrong" in page


def test_a_flaky_case_is_reported(tmp_path):
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "flaky"}])
    page, differs = explain(small_run, "1/A")
    assert differs
    assert "DIFFERS from the record although program, test, checker, limits and sandbox" in page
    assert "WA failed_outputs_match    AC passed_by_exact_match" in page
    assert "the output differs from the recorded one" in page
    assert "expected and output as recorded" in page


def test_repeated_runs_are_counted(tmp_path):
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "flaky"}])
    small_run.programs.flaky_runs = 0
    page, _ = explain(small_run, "1/A", repeat=5)
    assert "FLAKY: 5 runs gave AC 4, WA 1" in page


def test_changes_since_the_run_are_named(tmp_path):
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "wrong"}])
    small_run.write_problems([{**PROBLEMS[0], "time_limit": 5}])
    page, differs = explain(small_run, "1/A")
    assert not differs
    assert "changed since the run: the time limit" in page
    small_run.sandbox.level = "userns"
    page, _ = explain(small_run, "1/A")
    assert "sandbox level (was full, is userns)" in " ".join(page.split())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("broken", ["CE compile_error", "-- compiler, 2 bytes", "  no"]),
        ("crash", ["RE runtime_error", "exit status 3", "why: exit code 3: boom", "  boom"]),
        ("long", ["output     5000 bytes", "xxx…"]),
    ],
)
def test_errors_and_long_outputs_are_shown(tmp_path, code, words):
    page, _ = explain(SmallRun(tmp_path, [{"id": "1/A", "code": code}]), "1/A")
    for word in words:
        assert word in page


def test_a_skipped_case_is_run(tmp_path):
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "wrong"}], skip_large_inputs_over=1)
    page, differs = explain(small_run, "1/A", case="official:1")
    assert not differs and "not judged in the run (skipped_large_input)" in page
    assert "SK skipped_large_input     WA failed_outputs_match" in page


def test_another_checker_can_judge(small_run):
    page, differs = explain(small_run, "3/C", checker="wcmp")
    assert differs and "checker wcmp: rejected" in page


def try_checker_on(small_run: SmallRun, problem: str) -> tuple[list[str], str]:
    """Return the checker's results on other outputs, and the page."""
    record, case = small_run.case(problem, case="official:0")
    with open_case(small_run.results, record, case, Overrides(), small_run.sandbox) as opened:
        trials = try_checker(opened)
        rows = explain_page(opened, run_again(opened), 80, full=False, trials=trials)
        page = [render(r, colour=False) for r in rows]
    assert all(len(line) <= 80 for line in page)
    return [check.outcome for check in trials.values()], " ".join(" ".join(page).split())


def test_a_checker_that_accepts_anything_is_reported(small_run):
    results, page = try_checker_on(small_run, "3/C")
    assert results == ["accepted", "accepted"]
    assert "checker on an empty output: accepted" in page
    assert "the checker accepts an empty output: it may accept anything" in page


def test_a_checker_that_rejects_the_expected_output_is_at_fault(tmp_path):
    problem = {"id": "1/A", "official_tests": ["wrong way\n"], "generated_checker": "strict"}
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "wrong"}], [problem])
    assert "the checker or the test is at fault" in try_checker_on(small_run, "1/A")[1]


def test_a_problem_without_a_checker_is_rejected(small_run):
    record, case = small_run.case("1/A", 1)
    with (
        open_case(small_run.results, record, case, Overrides(), small_run.sandbox) as opened,
        pytest.raises(InputError, match="problem 1/A has no checker; leave --checker out"),
    ):
        try_checker(opened)


def test_partial_credit_is_accepted_in_part(tmp_path):
    problem = {"id": "1/A", "official_tests": ["1\n"], "generated_checker": "halving"}
    small_run = SmallRun(tmp_path, [{"id": "1/A", "code": "wrong"}], [problem])
    assert "generated_checker: accepted in part" in explain(small_run, "1/A")[0]
