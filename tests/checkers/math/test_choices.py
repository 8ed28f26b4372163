"""Questions with choices: the letter, its text and its value are one answer."""

import pytest

from gradebox.checkers.math import AnswerPair, grade, grade_many

CHOICES = [r"\frac{1}{2}", "0.25", "3 apples", r"\sqrt{2}"]
ALIKE = ["1/2", "0.5", "3"]


@pytest.mark.parametrize(
    ("gold", "response", "choices", "outcome"),
    [
        ("A", "The answer is 0.5.", CHOICES, "equal"),
        ("A", "0.25", CHOICES, "different"),
        ("A", "So it is 0.5, i.e. (B).", CHOICES, "different"),  # a stated letter decides
        (r"\frac12", "(A)", CHOICES, "equal"),
        ("1/2", "The answer is (B).", CHOICES, "different"),
        ("C", "three apples", CHOICES, "equal"),
        ("(D)", r"\boxed{1.4142135623730951}", CHOICES, "equal"),
        ("7", "A", CHOICES, "not read"),  # the reference is no choice
        ("A", "0.5", ALIKE, "not read"),
        ("A", "(A)", ALIKE, "equal"),
        ("A", "(B)", ALIKE, "different"),
        ("1/2", "0.5", ALIKE, "equal"),
        ("1/2", "A", ALIKE, "not read"),
        ("C", "3", ALIKE, "equal"),
        ("B", "0.25", {"label": ["A", "B"], "text": ["1", "0.25"]}, "equal"),
        ("B", "21", ["A) 20", "B) 21"], "equal"),
        ("B", "21", {"C": "21", "B": "20"}, "different"),
    ],
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
