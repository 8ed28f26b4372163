"""Formulas in text without TeX."""

import pytest

from gradebox.checkers.math import extract_answer, grade
from gradebox.checkers.math.extract.formulas import formulas
from testing.rows import rows


@pytest.mark.parametrize(
    ("text", "found"),
    rows(__file__, "formulas_of_a"),
)
def test_formulas_of_a_text(text, found):
    assert [formula for _, _, formula in formulas(text)] == found
    assert all(text[start:end] == formula for start, end, formula in formulas(text))


@pytest.mark.parametrize(
    "part",
    ["(", "= ", "x = 1 → ", "1. ", "a^", "(so ", "$x=1$ ", "`1` ", "x=\n", "⇒=", "{=\\to", "[1, "],
)
def test_long_texts_are_read(part):
    text = part * (20_000 // len(part))
    assert isinstance(extract_answer(text), str)
    assert isinstance(extract_answer(f"So it is {text} 7."), str)


def test_solution_is_before_a_reference_answer():
    assert grade("Solution is: $k=3$.", "k = 3").equal
    assert not grade("Solution is: $k=3$.", "k = 4").equal
    assert extract_answer("So yes, it works, with k = 3. The answer is 3.") == "3"
