"""Which outcome a pair has: rejects that the rules did not read are not called different."""

import pytest

from gradebox.checkers.math import OUTCOMES, Grade, grade


@pytest.mark.parametrize(
    ("gold", "response", "outcome"),
    [
        ("5", "5.0", "equal"),
        ("5", "6", "different"),
        (r"\sqrt{2}", r"\sqrt{3}", "different"),
        ("green", "blue", "different"),
        ("convergent", "it is not convergent", "different"),
        ("B", "(C)", "different"),
        ("B", "B, D", "different"),
        ("1, 2", "1, 3", "different"),
        ("area = 5", "area = 6", "different"),
        ("(1, 2)", "(2, 1)", "different"),
        ("5", "n 2", "not read"),
        ("n 2", "5", "not read"),
        ("1, 2", "1, the larger root", "not read"),
        ("10", "2x = 10", "not read"),
        (r"\{2, 3\}", "(2, 3)", "not read"),
        (r"x \equiv 3 \pmod 7", "x = 7k+3", "not read"),
        (r"\frac{\pi}{4}+k\pi", r"\frac{5\pi}{4}+k\pi", "not read"),
        (r"\langle 2, 5\rangle", r"2\hat{i}+5\hat{j}", "not read"),
        ("(1, 1)", "x = y = 1", "not read"),
        ("darwin", "Charles Darwin", "not read"),
        ("B", "4.09 kg", "not read"),
        ("PV/T", "VP/T", "equal"),
        ("Ann, Bob, Cal", "Cal, Bob, Ann", "different"),  # a ranking, or a set
        ("Ann, Bob and Cal", "Cal, Ann and Bob", "equal"),
        ("10^{10^{10}}+1", "1+10^{10^{10}}", "not read"),
        ("2024^{2024}", "2024^{2024}+1", "different"),
        ("5", "", "no answer"),
        ("5", "The answer cannot be determined from what is given.", "no answer"),
        ("5", "Answer: insufficient information", "no answer"),
        ("8", "无法确定", "no answer"),
        ("5", "We add the two numbers, and then we get that the sum of", "cut"),
        ("5", "<think>The first number is 2, the second", "cut"),
        ("5", r"So the result is \boxed{\text{the", "cut"),
        ("5", "x^{61}+3x^{39}-7x^3+5 > 0", "timed out"),
    ],
)
def test_each_pair_has_its_outcome(gold, response, outcome):
    found = grade(gold, response, timeout=1)
    assert (found.outcome, found.equal) == (outcome, outcome == "equal"), found.reason


def test_limits_are_an_outcome_of_their_own():
    reasons = ("time limit", "memory limit", "crashed", "error: TypeError", "nested too deep")
    found = [Grade(False, "", reason, 2).outcome for reason in reasons]
    assert found == ["timed out"] * 3 + ["not read"] * 2
    assert set(found) < set(OUTCOMES)
