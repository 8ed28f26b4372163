"""Which outcome a pair has: rejects that the rules did not read are not called different."""

import pytest

from gradebox.checkers.math import OUTCOMES, Grade, grade
from testing.rows import rows


@pytest.mark.parametrize(
    ("gold", "response", "outcome"),
    rows(__file__, "each_pair_has"),
)
def test_each_pair_has_its_outcome(gold, response, outcome):
    found = grade(gold, response, timeout=1)
    assert (found.outcome, found.equal) == (outcome, outcome == "equal"), found.reason


def test_limits_are_an_outcome_of_their_own():
    reasons = ("time limit", "memory limit", "crashed", "error: TypeError", "nested too deep")
    found = [Grade(False, "", reason, 2).outcome for reason in reasons]
    assert found == ["timed out"] * 3 + ["not read"] * 2
    assert set(found) < set(OUTCOMES)
