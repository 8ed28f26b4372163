"""Formulas in text without TeX, and which of the last pieces are the answer."""

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
    ("gold", "response"),
    [
        ("3 + 5\\pi", "Their areas are 4 + 6π and 1 + π, so what is left is 3 + 5π."),
        ("\\frac{7}{p^2}", "Setting the integral equal to 1, we find k = 7p^{-2}."),
        ("x > \\frac13", "That leaves 1 < 3x, i.e. 1/3 < x."),
        # equations that lead to the last one are no answers
        ("6", "Then $20-2a=8$, $2a=12$, $a=6$."),
        ("-3", "We find $m=1$ and $n=4$, so $m-n=-3$."),
        ("\\{1, 6\\}", "So u = −2 or u = 3, and y = 1 or y = 6."),
        ("(2, 5)", "Adding the equations, x = 2 and y = 5."),
        ("-5", "The coefficient is $b+3=-2$ and $b=-5$."),
        ("x=4 \\text{ or } x=-4", "$7-|x|=3$ → $|x|=4$ → $x=4$ or $x=-4$."),
        ("4", "3x − 2 = 10 → 3x = 12 → x = 4."),
        ("\\frac54", "2(b + 1) = 6b - 3\n2b + 2 = 6b - 3\n5 = 4b\nb = 5/4"),
        ("41", "n = 5. 16 + 25 = 41."),
        ("\\{-3, 1\\}", "so u ∈ {−2, 2} and x ∈ {−3, 1}."),
        ("D", "The radius is 2² + 1² = 5, so it is the last one. D"),
        # said about the answer
        ("12", "The value of $4k$ is $12$ (so $k=3$)."),
        ("y = \\frac{8}{x}", "So the relation is $y=\\frac{8}{x}$ ($x\\ne0$)."),
        ("2-9e^{-t/5}", "With $c=-9$ we find $v(t)=2-9e^{-t/5}$ m/s."),
        ("no solution", "Both sides are undefined. So there are no solutions in $[0,\\pi)$."),
        ("C", "Twelve inches are 25 × 12 = 300 miles. **C**"),
        ("B", "(B) The car is moving at a rate of 25 metres per second."),
        ("8", "Hence n = 8 (check: 8·9 = 72)."),
        ("41", "The list of multiples leads to n = 41 as the smallest value."),
        ("\\frac{400}{3}", "The total is $100+\\frac{100}{3}=\\frac{400}{3}$ feet, about 133.3."),
        ("does not exist", "It is 2 on one line and 3 on another, so the limit does not exist."),
        ("12", "They meet after 90 minutes, and she rested for **12** minutes of them."),
        # a program's output
        ("x^2-4x", "Running it prints `x**2 - 4*x`"),
        # the value of a left side that is no condition
        ("9", "Therefore $|A-B| = 9$."),
        ("-2", "So $w^{30}+w^{-30}=-2$."),
        ("\\frac35", "It follows that $\\tan 3\\beta=\\frac{2t}{1-t}=\\frac{3}{5}$."),
        ("4000000", "The product is $2000^2 = 4{,}000{,}000$."),
        ("7\\sqrt2", "Adding both, $p+q=7\\sqrt2\\approx 9.8995$."),
    ],
)  # fmt: skip
def test_the_answer_of_the_last_sentence(gold, response):
    found = grade(gold, response)
    assert found.equal, found


@pytest.mark.parametrize(
    ("gold", "response"),
    [
        ("4", "So $2x = 4$."),
        ("\\frac{77}{2}", "The minimum is (100 − 23)/2 = 38.5, but it must be whole, so 39."),
        ("-2", "So -2b = 4... b = -2. Check: 3(-2) = -6 and 2(-2) = -4. These differ, so b = 2."),
        ("(1, 2)", "y = 1, x = 2"),
        ("4", "So $x^2 = 4$."),
        ("5", "It is the circle $x^2+y^2=5$."),
        ("7", "The system would need k = 7, but the last row fails, so no such k exists."),
        ("\\frac12", "The product is $\\frac12$... since $c<0$, it is positive, so $p=\\frac14$."),
        ("0", "The slope is $\\frac{0}{3-3}$, which is undefined."),
        ("5 a", "5"),
        ("2b\\sqrt{3 a}", "2b\\sqrt{3}"),
        ("\\varnothing", "Squaring gives $x=4$. Otherwise there is no solution."),
    ],
)
def test_another_answer_of_the_last_sentence(gold, response):
    found = grade(gold, response)
    assert not found.equal, found


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
