"""Questions with choices: the letter, its text and its value are one answer."""

import pytest

from gradebox.checkers.math import AnswerPair, grade, grade_many
from testing.rows import rows

CHOICES = [r"\frac{1}{2}", "0.25", "3 apples", r"\sqrt{2}"]
ALIKE = ["1/2", "0.5", "3"]


@pytest.mark.parametrize(
    ("gold", "response", "choices", "outcome"),
    rows(__file__, "letters_texts_and"),
)
def test_letters_texts_and_values(gold, response, choices, outcome):
    found = grade(gold, response, choices=choices)
    assert found.outcome == outcome, found.reason


def test_pairs_have_choices_and_policies_of_their_own():
    pairs = [
        AnswerPair("B", "28.889", "rounded", ["5", "28.89"]),
        AnswerPair("28.89", "28.889"),
        ("28.89", "28.89"),
    ]
    assert [g.equal for g in grade_many(pairs)] == [True, False, True]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ("AB", "choices are no list of 1 to 26 texts, nor texts by letter"),
        (["x"] * 27, "choices are no list of 1 to 26 texts"),
        ({"label": ["A"], "text": []}, "choices are no list of 1 to 26 texts"),
        ({"b": "1"}, "choice 'b' has no capital letter as its name"),
    ],
)
def test_bad_choices(choices, message):
    with pytest.raises(ValueError, match=message):
        grade("A", "B", choices=choices)
