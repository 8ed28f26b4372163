"""Formulas in text without TeX."""

from __future__ import annotations

import pytest

from gradebox.checkers.math import extract_answer, grade
from gradebox.checkers.math.extract.formulas import formulas


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The sum is 2π − 3√5, a bit less.", ["2π − 3√5"]),
        ("so g(t) = 5(2 − exp(−t/7)) metres", ["g(t) = 5(2 − exp(−t/7))"]),
        ("Here k = 7p^{-2} and m = 3.", ["k = 7p^{-2}", "m = 3"]),
        ("v(s) = e^{-s}(A sin 2s + B cos 2s)", ["v(s) = e^{-s}(A sin 2s + B cos 2s)"]),
        ("the angle is arctan 2 + π/6", ["arctan 2 + π/6"]),
        ("we get 4k ≡ 3 (mod 11)", ["4k ≡ 3 (mod 11)"]),
        ("the vector (3, -1) and the list [1 - sqrt(7)*I, 2]", ["(3, -1)", "[1 - sqrt(7)*I, 2]"]),
        ("It needs 4 1/2 cups.", ["4 1/2"]),
        ("= ∫(2x + cos x) dx = x² + sin x + C", ["∫(2x + cos x) dx = x² + sin x + C"]),
        ("I saw a 7 on the x-axis, (a) 5 and (2) 6.", []),  # letters, labels and numbers alone
        ("It moves at 9 m/s for 5 s, which is 45 m.", []),  # units
        ("In 2024 it cost $1,250 or 12%.", []),
        ("(unclosed 3 + 4", ["3 + 4"]),
    ],
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
