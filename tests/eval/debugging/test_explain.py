"""A case run again: as recorded, flaky, or made with something else than now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from eval.debugging.checking import ask, conclusions
from eval.debugging.explain import compare, run_again
from eval.debugging.reopen import Overrides, at_hand
from eval.debugging.screen import Screen, paint
from eval.debugging.show import explained, next_steps
from eval.debugging.show_checker import checker_page
from eval.input_error import InputError
from tests.eval.debugging.made_run import PROBLEMS, MadeRun, write_lines


def look(
    made: MadeRun, problem: str, sample: int | None = None, case: str = "first-failed", **kw: Any
) -> tuple[str, bool]:
    """The page, and whether the verdict is another one."""
    repeat = kw.pop("repeat", 1)
    width = kw.pop("width", 80)
    record, chosen = made.case(problem, sample, case)
    with at_hand(made.results, record, chosen, Overrides(**kw), made.sandbox) as hand:
        again = run_again(hand, repeat)
        screen = Screen(None, width)  # type: ignore[arg-type]
        rows = [*explained(hand, again, screen, full=False), *next_steps("R", hand, width)]
        return "\n".join(paint(r, colour=False) for r in rows), compare(hand, again).differs


def test_a_case_that_fails_as_it_did(made: MadeRun) -> None:
    page, differs = look(made, "1/A", 1)
    assert not differs and "\nas recorded\n" in page
    assert "verdict    WA failed_outputs_match    WA failed_outputs_match" in page
    assert "why: token 1: expected '1', found 'wrong'" in page
    assert "-- input, sha256" in page and "\n  1\n" in page
    assert ">    1 1                                     1 wrong" in page
    assert "-- stderr: empty" in page
    assert "--problem 1/A --sample 1 --case official:0" in " ".join(page.split())


def test_the_checker_is_quoted(made: MadeRun) -> None:
    page, _ = look(made, "3/C")
    assert "verdict    CU checker_unclear         CU checker_unclear" in page
    assert "-- checker generated_checker: unclear, exit status 1" in page
    assert "ValueError: wrong" in page


def test_a_passed_case_can_be_looked_at(made: MadeRun) -> None:
    page, _ = look(made, "1/A", 0, "official:1")
    assert "AC passed_by_exact_match" in page and "\n>" not in page


def test_a_flaky_case_is_called_so(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "flaky"}])
    page, differs = look(made, "1/A")
    assert differs
    assert "DIFFERS from the record although program, test, checker, limits and sandbox" in page
    assert "WA failed_outputs_match    AC passed_by_exact_match" in page
    assert "the output is not the recorded one" in page
    assert "expected and output as recorded" in page  # both are there to be seen


def test_runs_that_disagree_are_counted(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "flaky"}])
    made.world.flaky_runs = 0
    page, _ = look(made, "1/A", repeat=5)
    assert "FLAKY: 5 runs gave AC 4, WA 1" in page


def test_what_was_changed_since_is_named(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong"}])
    made.write_problems([{**PROBLEMS[0], "time_limit": 5}])
    page, differs = look(made, "1/A")
    assert not differs
    assert "the record was made with something else: the time limit" in page
    made.sandbox.level = "userns"
    page, _ = look(made, "1/A")
    assert "sandbox level (then full, now userns)" in " ".join(page.split())


def test_a_changed_program_is_no_flaky_case(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong"}])
    write_lines(made.solutions_path, [{"id": "1/A", "code": "echo"}])
    page, differs = look(made, "1/A")
    assert differs and "\nDIFFERS from the record\n" in page
    assert "the program, the tests, the checker or the flags" in " ".join(page.split())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("broken", ["CE compile_error", "-- compiler, 2 bytes", "  no"]),
        ("crash", ["RE runtime_error", "exit status 3", "why: exit code 3: boom", "  boom"]),
        ("long", ["output     5000 bytes", "xxx…"]),
    ],
)
def test_every_end_is_shown(tmp_path: Path, code: str, words: list[str]) -> None:
    page, _ = look(MadeRun(tmp_path, [{"id": "1/A", "code": code}]), "1/A")
    for word in words:
        assert word in page


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize(("problem", "sample"), [("1/A", 1), ("3/C", 0), ("2/B", 0)])
def test_pages_keep_to_the_width(made: MadeRun, width: int, problem: str, sample: int) -> None:
    page, _ = look(made, problem, sample, "official:0", width=width)
    command = "python eval/debug_case.py"
    assert all(len(line) <= width for line in page.splitlines() if command not in line)


def test_a_case_that_was_passed_over_is_run(tmp_path: Path) -> None:
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong"}], skip_large_inputs_over=1)
    page, differs = look(made, "1/A", case="official:1")
    assert not differs and "not judged then (skipped_large_input)" in page
    assert "SK skipped_large_input     WA failed_outputs_match" in page


def test_another_checker_judges_when_asked_for(made: MadeRun) -> None:
    page, differs = look(made, "3/C", checker="wcmp")
    assert differs and "checker wcmp: rejected" in page


def answers(made: MadeRun, problem: str, **over: Any) -> tuple[list[str], list[str]]:
    record, case = made.case(problem, case="official:0")
    with at_hand(made.results, record, case, Overrides(**over), made.sandbox) as hand:
        asked = list(ask(hand))
        page = [paint(r, colour=False) for r in checker_page(hand, 80, full=False)]
    assert all(len(line) <= 80 for line in page)
    return [f"{one.what}: {one.check.outcome}" for one in asked], conclusions(asked)


def test_the_checker_alone_is_asked_about_three_outputs(made: MadeRun) -> None:
    said, found = answers(made, "3/C")
    assert said == [
        "the recorded output: unclear",
        "the expected output: accepted",
        "an empty output: accepted",
    ]
    assert "the checker failed on this output only" in found[0]
    assert "accepts an empty output" in found[1]


def test_a_checker_that_rejects_the_expected_output_is_at_fault(tmp_path: Path) -> None:
    problem = {"id": "1/A", "official_tests": ["wrong way\n"], "generated_checker": "strict"}
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong"}], [problem])
    _, found = answers(made, "1/A")
    assert "the checker or the test is at fault, not the solution" in found[0]


def test_partial_credit_is_not_called_accepted(tmp_path: Path) -> None:
    problem = {"id": "1/A", "official_tests": ["1\n"], "generated_checker": "halving"}
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "wrong"}], [problem])
    _, found = answers(made, "1/A")
    assert found == ["the checker accepts the expected output, and this one in part only: WA"]
    assert "generated_checker: accepted in part" in look(made, "1/A")[0]


def test_an_output_that_was_cut_is_made_again(tmp_path: Path) -> None:
    problem = {"id": "1/A", "official_tests": ["1\n"], "generated_checker": "strict"}
    made = MadeRun(tmp_path, [{"id": "1/A", "code": "long"}], [problem])
    said, _ = answers(made, "1/A")
    assert said[0] == "the program's output (run again): accepted"


def test_without_a_checker_there_is_nothing_to_ask(made: MadeRun) -> None:
    record, case = made.case("1/A", 1)
    with (
        at_hand(made.results, record, case, Overrides(), made.sandbox) as hand,
        pytest.raises(InputError, match="problem 1/A has no checker: leave --checker out"),
    ):
        list(ask(hand))
