"""The explanation of a verdict: what was compared, and how it was read."""

import pytest

from gradebox.checkers.math import Explanation, grade


@pytest.mark.parametrize(
    ("gold", "response", "reason"),
    [
        ("5", "n 2", "not read (answer): a number directly after another factor"),
        ("n 2", "5", "not read (gold): a number directly after another factor"),
        ("5 5 n", "n 2", "not read (gold and answer): a number directly after another factor"),
    ],
)
def test_a_reject_names_the_side_that_is_not_read(gold, response, reason):
    found = grade(gold, response)
    assert (found.equal, found.reason) == (False, reason)


@pytest.mark.parametrize(
    ("gold", "response", "tier", "explanation"),
    [
        ("5", "So it is $5$.", 1, ("5", "5", "5", "5")),
        (r"\frac12", "The answer is 0.5.", 2, (r"\frac12", "0.5", "1/2", "1/2")),
        ("[2,5)", "2<x", 2, ("[2,5)", "2<x", "Interval.Ropen(2, 5)", "2 < x")),
        ("(1,2)", "x=1 or x=2", 2, ("(1,2)", "x=1 or x=2", "list in (): 1; 2",
                                    "alternatives: x = 1; x = 2")),
        ("y\\in[1,2)", "5 cm", 2, ("y\\in[1,2)", "5 cm", "y in Interval.Ropen(1, 2)",
                                   "5, unit cm")),
        ("50\\%", "north", 2, ("50\\%", "north", "50 percent", "words 'north'")),
        ("2:3", "5:00 pm", 2, ("2:3", "5:00 pm", "2/3", "words '17:00 5:00'")),
        ("5 5 n", "n 2", 2, ("5 5 n", "n 2",
                             "'5 5 n' (not read: a number directly after another factor)",
                             "'n 2' (not read: a number directly after another factor)")),
    ],
)  # fmt: skip
def test_explanations(gold, response, tier, explanation):
    found = grade(gold, response, explain=True)
    assert found.tier == tier
    assert found.explanation == Explanation(*explanation)


def test_there_is_no_explanation_unless_asked_for():
    assert grade("x+1", "1+x").explanation is None
