"""Rows of EvalPlus' own files: what is expected comes from their known solutions, in a box."""

import re
from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.cases import asserts
from gradebox.eval.problems.in_memory import parse_problem
from tests.eval.problems.dataset_rows import EVALPLUS, HUMANEVAL
from tests.sandbox.backends import needs_box

pytestmark = pytest.mark.slow(3)


def row(entry: str, task: str, given: list[Any], code: str, **changes: Any) -> dict[str, Any]:
    made = {"entry_point": entry, "task_id": task, "base_input": [given], "plus_input": []}
    made |= {
        "prompt": "'''Write it.'''\n",
        "canonical_solution": f"\ndef {entry}(*a):\n    {code}\n",
    }
    return {**EVALPLUS, **made, **changes}


def returning(entry: str, value: str) -> str:
    return f"def {entry}(*a):\n    return {value}\n"


ANY = row("check_str", "Mbpp/1", ["x"], "import re; return re.match('x', a[0])")
TABLE: dict[str, tuple[dict[str, Any], str, str, str]] = {  # a row, a result, strict, reference
    "equal": (EVALPLUS, "[x + x for x in a[0]]", "AC", "AC"),
    "a tuple is no list": (EVALPLUS, "tuple(x + x for x in a[0])", "WA", "WA"),
    "near floats": (EVALPLUS, "[x * 2.0000000001 for x in a[0]]", "WA", "WA"),
    "near a float": (row("f", "Mbpp/1", [3], "return a[0] / 3"), "1.0 + 1e-7", "AC", "AC"),
    "an int is no float": (row("f", "Mbpp/1", [3], "return a[0] * 0.9999999"), "3", "WA", "WA"),
    "floats before whole numbers": (
        {**EVALPLUS, "plus_input": [[[0.5]], [[10**9]]]},
        "[2 * x + (x == 10**9) for x in a[0]]",
        "WA",
        "AC",
    ),
    "other shapes": (
        row("f", "Mbpp/1", [], "return [[1.0, 1.0]]", atol=1e-6), "[1.0]", "WA", "AC"),
    "any root": (
        row("find_zero", "HumanEval/1", [[-4, 0, 1]], "return 2.0", atol=1e-4), "-2.0", "AC", "AC"),
    "no root near one": (
        row("find_zero", "HumanEval/1", [[-4, 0, 1]], "return 2.0", atol=1e-4),
        "2.00009", "WA", "WA"),
    "in any order": (row("Diff", "Mbpp/1", [], "return [1, 2]"), "(2, 1, 1)", "AC", "AC"),
    "whether there is any": (ANY, "[0]", "AC", "AC"),
    "whether, as a bool": (ANY, "False", "WA", "WA"),
    "arguments as tuples": (
        row("f", "Mbpp/106", [[5], [6]], "return a"), "([5], (6,)) if a == ([5], (6,)) else 0",
        "AC", "AC"),
    "an odd pyramid": (row("surface_Area", "Mbpp/581", [3, 4], "return 33"), "36", "WA", "WA"),
    "another pyramid": (row("surface_Area", "Mbpp/581", [6, 4], "return 1"), "96", "AC", "AC"),
    "other digits": (row("digit_distance_nums", "Mbpp/558", [1, 92], "return 0"), "10", "AC", "AC"),
}  # fmt: skip


def graded(judge: Any, cases: list[tuple[dict[str, Any], str]]) -> list[dict[str, Any]]:
    needs_box()
    with gradebox.Grader(sandbox="local", judge=judge) as grader:
        return [grader.grade([{"code": code}], given)[0] for given, code in cases]


@pytest.mark.parametrize(("judge", "column"), [("strict", 2), ("reference", 3)])
def test_results_are_compared_as_evalplus_does(judge, column):
    cases = [(given, returning(given["entry_point"], value)) for given, value, *_ in TABLE.values()]
    found = dict(zip(TABLE, graded(judge, cases), strict=True))
    assert {name: r["verdict"] for name, r in found.items()} == {
        name: case[column] for name, case in TABLE.items()
    }


def test_results_that_are_not_kept_are_made_beside_the_tests(monkeypatch):
    monkeypatch.setattr(asserts, "MOST_KEPT_BYTES", 5)
    codes = [returning("double", value) for value in ("[2 * x for x in a[0]]", "a[0]")]
    found = graded("strict", [(EVALPLUS, code) for code in codes])
    assert [r["verdict"] for r in found] == ["AC", "WA"]
    broken = {**EVALPLUS, "canonical_solution": "    raise KeyError('it')\n"}
    (unclear,) = graded("strict", [(broken, codes[0])])
    assert unclear["verdict"] == "CU"
    assert "known solution cannot be run: KeyError: 'it'" in unclear["details"][0]["error"]


def test_rows_of_the_hub_may_have_long_results_and_may_be_wrong():
    known = "def double(n):\n    return 'x' * n\n"
    text = "def check(candidate):\n    inputs = [[5], [17 << 20]]\n    for given in inputs:\n"
    long = {**HUMANEVAL, "prompt": "", "canonical_solution": known}
    long["test"] = f"{text}        assert candidate(*given) == 'x' * given[0]\n"
    wrong = {**HUMANEVAL, "test": "def check(candidate):\n    assert candidate([1]) == 3\n"}
    right = returning("double", "[2 * x for x in a[0]]")
    found = graded("strict", [(long, known), (long, right), (wrong, right)])
    assert [r["verdict"] for r in found] == ["AC", "WA", "CU"]
    assert "the known solution of the row fails here as well" in found[2]["details"][0]["error"]
    assert parse_problem(long).time_limit_s == 60


def test_a_known_solution_that_writes_no_results_spoils_only_its_own_problem():
    garbage = "[" * 100_000
    wild = f"""    import os
    for fd in range(3, 30):
        try: os.write(fd, b{garbage!r})
        except OSError: pass
    return [2 * x for x in xs]
"""
    code = returning("double", "[2 * x for x in a[0]]")
    found = graded("strict", [({**EVALPLUS, "canonical_solution": wild}, code), (EVALPLUS, code)])
    assert [r["verdict"] for r in found] == ["CU", "AC"]
    assert "it writes something else than its results" in found[0]["details"][0]["error"]


def test_base_and_plus_inputs_are_a_test_each():
    assert parse_problem(EVALPLUS).origin["base_tests"] == "1"
    assert len(parse_problem(EVALPLUS).tests) == 2
    assert len(parse_problem({**EVALPLUS, "plus_input": []}).tests) == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"base_input": [5]}, "Expected `array`, got `int`"),
        ({"atol": "x"}, "atol is 'x': Expected `int"),
        ({"canonical_solution": ""}, "canonical_solution is empty"),
    ],
)
def test_bad_rows_say_why(changes, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse_problem({**EVALPLUS, **changes})
