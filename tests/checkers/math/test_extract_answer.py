"""The answer of a response: data/extracted.jsonl has it as it is written, by kind.

data/responses.jsonl has responses that give the reference answer, or do not.
"""

import time

import pytest

from gradebox.checkers.math import extract_answer, grade
from gradebox.checkers.math.extract.document import MAX_CHARS
from gradebox.checkers.math.extract.guided import extract_gold
from tests.checkers.math.test_accuracy import read_pairs

EXTRACTED, RESPONSES = read_pairs("extracted.jsonl"), read_pairs("responses.jsonl")


@pytest.mark.parametrize("kind", dict.fromkeys(row["kind"] for row in EXTRACTED))
def test_extract_answer(kind):
    rows = [(r["response"], r["answer"]) for r in EXTRACTED if r["kind"] == kind]
    assert [(response, extract_answer(response)) for response, _ in rows] == rows


@pytest.mark.parametrize("kind", dict.fromkeys(row["kind"] for row in RESPONSES))
def test_whether_a_response_gives_the_reference_answer(kind):
    rows = [row for row in RESPONSES if row["kind"] == kind]
    assert {row["equal"] for row in rows} == {True, False}
    grades = [grade(row["gold"], row["response"]) for row in rows]
    assert [(r, g) for r, g in zip(rows, grades, strict=True) if g.equal != r["equal"]] == []


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize(
    ("gold", "unit", "times"),
    [
        *(
            ("5", unit, 5000)
            for unit in (" for $x>0$", "; indeed ", "\\ge ", "... but so ", ": one ")
        ),
        *(("B", unit, 8000) for unit in ("A, ", "(A) ", "is A ", "option A ", "$")),
        ("hyperbola", "an ellipse ", 8000),
        *(
            ("1, 2", unit, 2000)
            for unit in ("x = 1, ", "$x=1$ and ", "(", "第一空", "a: 1\n", "= ")
        ),
    ],
)
def test_long_responses_raise_nothing(gold, unit, times):
    assert not grade(gold, "The answer is 4" * (gold == "5") + unit * times).equal
    assert not grade(unit * 90, "x = 1 and y = 2").equal


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit",
    [
        *("\\boxed{", "$", "\\[", "\\(", "the answer is ", "$$", "\\begin{array}", "1,111", "\n"),
        *(" ", "```\n", "**", "**a**\n", "- a\n", "| a |\n", "<b>", "> a\n", "x = 1. ", "Wait, "),
        *("so ", "1. x = 2\n", "(a) ", "Is it 2? ", "Perhaps 3. ", "2 < ", "x, ", "_", "~~", "#"),
        *("：", "答案是", "suppose is ! "),
    ],
)
def test_long_runs_of_openers_do_not_need_quadratic_time(unit):
    """They take 0.1 s to 1 s of CPU; unbounded patterns would take many."""
    text = unit * (30_000 // len(unit))
    began = time.process_time()
    assert len(extract_answer(text)) <= MAX_CHARS
    assert len(extract_answer(f"x answer{text}.")) <= MAX_CHARS
    assert len(extract_gold(f"x{text}.")) <= len(text) + 2
    assert time.process_time() - began < 4
