"""Choice letters and words that end a response, where the reference answer is of that kind."""

import pytest

from gradebox.checkers.math import grade

RIGHT = [
    ("B", "The quotient is about 600/20 = 30, so the closest choice is B."),
    ("C", r"$\sqrt5\approx2.24$，$\pi\approx3.14$，因此最大的是 C。"),
    ("E", r"After dividing by $\sin x$ the expression simplifies to $E$."),
    ("K", "Two weeks cost $5x$ and the rest $3y$, so the total is $5x+3y$: choice (K)."),
    ("D", "Trying them, the value 37 (option D) is the expected one."),
    (r"\text{(F)}", "Its slope is $-2$ and it crosses (0,1). That is graph F."),
    (r"\text{A, D, E}", "The entries must add to 1. This holds for (A), (D) and (E) only."),
    ("B,C", "- (A) wrong\n- (B) valid\n- (C) valid\n\nSo the valid ones are B and C."),
    ("A", "The word has 6 letters, and 100 = 6·16 + 4. The fourth letter is A."),
    ("converges", r"Since $a_n<\frac1{n^2}$, the comparison test shows convergence."),
    (
        "converges",
        "The ratio tends to 1/2 < 1, so by the ratio test the series converges absolutely.",
    ),
    ("diverges", r"The terms tend to $\frac12$, so the series diverges."),
    ("hyperbola", "So $(x-1)^2-4(y+2)^2=9$. This is the equation of a hyperbola."),
    ("no solution", "|3x+2| ≥ 0, so the left side is at least 5. The solution set is empty."),
    (r"\text{TEAM}", 'With 4 letters of value 20 we can form the word "TEAM".'),
    (
        r"$\text{a sufficient but not a necessary condition}$",
        "If $x>2$ then $x^2>4$; but $x=-3$ also works. So it is sufficient but not necessary.",
    ),
]
WRONG = [
    ("B", "The quotient is about 600/20 = 30, so the closest choice is C."),
    ("B", "The quotient is about 30, so the choice is not B."),
    ("B", "Since B is 20 and C is 30, the closest is C."),
    ("A", "A number that works is 12. It is a multiple of 3."),
    (r"\text{A, D, E}", "This holds for (A) and (E) only."),
    ("converges", r"Since $a_n>\frac1n$, the comparison test does not show convergence."),
    ("converges", "The ratio tends to 2 > 1, so the series diverges."),
    ("converges", "If $p>1$, the series converges."),
    ("decreasing", "It is increasing when $k$ is decreasing."),
    ("conditionally converges", "By the ratio test with 1/2 < 1 the series converges absolutely."),
    ("hyperbola", "So $x^2+4y^2=9$. This is not the equation of a hyperbola."),
    ("hyperbola", "So $x^2+4y^2=9$. This is the equation of an ellipse, not of a hyperbola."),
    ("no solution", "|3x+2| = 5. The solution set is not empty."),
    (
        r"$\text{a sufficient but not a necessary condition}$",
        "If $x^2>4$ then $x$ may be $-3$. So it is necessary but not sufficient.",
    ),
]


@pytest.mark.parametrize(("gold", "response"), RIGHT)
def test_the_letters_or_words_that_end_a_response_are_its_answer(gold, response):
    assert grade(gold, response).equal


@pytest.mark.parametrize(("gold", "response"), WRONG)
def test_other_denied_and_supposed_ones_are_not(gold, response):
    assert not grade(gold, response).equal


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("unit", ["A, ", "(A) ", "is A ", "option A ", "$", "an ellipse "])
def test_long_responses_raise_nothing(unit):
    assert not grade("B", unit * 20000).equal
    assert not grade("hyperbola", unit * 20000).equal
