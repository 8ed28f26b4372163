"""The policy `rounded`: an answer that is the reference, rounded, or that it rounds."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.checkers.math import POLICIES, grade
from gradebox.checkers.math.compare.judge import judge
from gradebox.checkers.math.policy import get_policy
from testing.rows import rows

ROUNDED = POLICIES["rounded"]


@pytest.mark.parametrize(
    ("gold", "accepted", "rejected"),
    rows(__file__, "what_is_a"),
)
def test_what_is_a_rounding(gold, accepted, rejected):
    found = {answer: grade(gold, answer, "rounded").equal for answer in accepted + rejected}
    assert found == {**dict.fromkeys(accepted, True), **dict.fromkeys(rejected, False)}


@pytest.mark.parametrize(
    ("policy", "gold", "accepted", "rejected"),
    [
        ("rounded:0.01", "100", "100.9", "101.1"),
        ("rounded:0.05", "120^\\circ", "119^\\circ", "110^\\circ"),
        ("rounded:0.01", "(10, 20)", "(10.05, 19.9)", "(10.05, 19)"),
        ("rounded:2dp", "1.23456", "1.2390", "1.2397"),
    ],
)
def test_a_tolerance_is_given(policy, gold, accepted, rejected):
    assert grade(gold, accepted, policy).equal
    assert not grade(gold, rejected, policy).equal
    assert not grade(gold, accepted).equal


@pytest.mark.parametrize(
    "policy", ["rounded:", "rounded:1", "rounded:0", "rounded:x", "rounded:dp"]
)
def test_a_bad_tolerance_says_what_is_allowed(policy):
    with pytest.raises(ValueError, match=r"is no tolerance; give a number between 0 and 1, such"):
        get_policy(policy)


numbers = st.decimals(-1000, 1000, places=3, allow_nan=False).map(lambda d: f"{d:f}")
places = st.integers(1, 3)
tolerances = st.sampled_from(["0.001", "0.01", "0.05", "0.2"])


@settings(deadline=None, max_examples=60)
@given(numbers, places)
def test_a_number_is_accepted_for_its_own_rounding(number, digits):
    rounded = f"{Decimal(number):.{digits}f}"
    assert judge(rounded, number, ROUNDED)[0]


@settings(deadline=None, max_examples=60)
@given(numbers, numbers, tolerances, tolerances)
def test_a_tolerance_is_symmetric_and_monotone(gold, answer, one, other):
    small, large = sorted((one, other), key=float)
    accepted = judge(gold, answer, get_policy(f"rounded:{small}"))[0]
    assert not accepted or judge(gold, answer, get_policy(f"rounded:{large}"))[0]
    whole = [text.partition(".")[0] for text in (gold, answer)]  # without digits of their own
    policy = get_policy(f"rounded:{small}")
    assert judge(*whole, policy)[0] == judge(*reversed(whole), policy)[0]


forms = st.sampled_from(
    ["{}", "({}, {})", "{}, {}", "x={}", r"\{{{}, {}, {}\}}", r"{}\%", "[{}, 2000)"]
)


@settings(deadline=None, max_examples=60)
@given(forms, forms, st.lists(st.sampled_from(["1.23", "1.234", "1.2", "2"]), min_size=6))
def test_what_is_equal_exactly_is_equal_rounded(one, other, values):
    gold, answer = one.format(*values), other.format(*values[3:])
    for policy in (ROUNDED, get_policy("rounded:0.01")):
        assert judge(gold, answer, policy)[0] or not judge(gold, answer, POLICIES["strict"])[0]
