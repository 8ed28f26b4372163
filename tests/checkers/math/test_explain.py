"""The explanation of a verdict: what was compared, and how it was read."""

import pytest

from gradebox.checkers.math import Explanation, grade
from testing.rows import rows


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
    rows(__file__, "explanations"),
)  # fmt: skip
def test_explanations(gold, response, tier, explanation):
    found = grade(gold, response, explain=True)
    assert found.tier == tier
    assert found.explanation == Explanation(*explanation)


def test_there_is_no_explanation_unless_asked_for():
    assert grade("x+1", "1+x").explanation is None
