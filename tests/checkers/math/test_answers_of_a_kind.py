"""The last formula of the reference answer's kind, and the value that a chain ends with."""

from __future__ import annotations

import pytest

from gradebox.checkers.math import grade
from gradebox.checkers.math.read.kinds import fits, kind_of


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("number", ["7", "7 cm", r"\frac{3}{4}", r"2\pi", "1{,}000", r"30^\circ", "3+4i", "40 km"]),
        ("expression", ["k", "2x+1", r"\sqrt{t}", r"3e^{2x}"]),
        ("relation", ["x = 5", r"y \ge 2", "C_4^2 = 6", r"\lambda=7.2 m"]),
        ("tuple", ["(1,2)", "[0,3)", r"\left(\frac12, 3\right)", r"(-\infty,3)\cup(4,5)"]),
        ("list", ["1, 2", "3 or 4", r"\{x|x>2\}", "x=1, y=2"]),
        ("letter", ["B", "(D)", "(C) 42", "A. 10"]),
        ("matrix", [r"\begin{pmatrix}1\\2\end{pmatrix}"]),
        ("words", ["even", "a disk of area 5", "5:30 am", r"the height 3: $\frac82$"]),
    ],
)
def test_kinds_of_texts(kind, texts):
    assert {t: kind_of(t) for t in texts} == dict.fromkeys(texts, kind)


@pytest.mark.parametrize(
    ("gold", "answer", "expected"),
    [
        ("5", "x = 5", True),
        ("5", "m+n = 5", True),
        ("5", "2+3 = 5", True),
        ("5", r"\log_2 x = 5", True),
        ("5", "x > 5", True),  # a bound, which the comparison rejects
        ("5", "2x = 5", False),
        ("5", "b^2 = 5", False),
        ("5", "x-2", False),
        ("2x+1", "y = 2x+1", True),
        ("2x+1", "x+(x+1) = 2x+1", True),
        ("2x+1", r"x \ne 3", False),
        ("2x+1", "y = 3", False),
        ("2x+1", "a+1", False),
        (r"\frac{\pi}{6}+k\pi", "x = π/6 + nπ", True),
        ("(1,2)", "x=1, y=2", True),
        ("(1,2)", "y=2", False),
        ("x=-1", "-1", True),
    ],
)
def test_whether_an_answer_is_of_the_kind(gold, answer, expected):
    assert fits(gold, answer) is expected


@pytest.mark.parametrize(
    ("gold", "response"),
    [
        # the response ends with another kind of formula
        ("9", "Hence $9a=81$ gives $a=9$; indeed $a^2-81=(a-9)(a+9)$."),
        ("4", r"$(p+i)(4-pi)=5p+(4-p^2)i$, so $p=4$ (here $16-p^2=0$ is the check)."),
        ("6", r"We need $c^2-36=0$ and, with positive $c$, $c=6$."),
        ("21", r"Squaring, $u^2=441$, and since $u>0$, $u=21$."),
        (
            "15",
            r"Clearing it gives $m^2+5m-300=0$, whose positive root is $m=15$.",
        ),
        (r"\frac52", r"Put $t=0$: $3g(x)=6x-15$, so $g(x)=2x-5$, which vanishes at $x=\frac52$."),
        (r"x^2+3-\frac{2}{x+7}", r"Dividing by $x+7$ gives $x^2+3-\frac{2}{x+7}$, for $x\ne-7$."),
        (r"36-9\pi", r"The field is $6\times6$ with area 36, minus one disk: $36-9\pi$."),
        ("24", r"The sides are 9 and 7, the height 3: $\frac{(9+7)\cdot3}2=24$."),
        (r"\frac{27\pi}{4}", r"It is bounded. The region is a disk of area $\frac{27\pi}{4}$."),
        ("C", "Put $z=3$ and divide by $z-1$. Everything cancels, and the result is equal to $C$."),
        ("3", "$4-2s=-2$, $2s=6$, $s=3$."),
        # chains
        (r"\frac{b}{4}", r"$\sqrt{\frac{5}{16}}=\frac{\sqrt5}{4}=\frac b4$"),
        ("0", r"$ab+bc+ca = \omega+\omega^2+\omega^3 = 1+\omega+\omega^2 = 0$"),
        ("12.4", r"$m=M+2\log_{10}(50)=9+2\log_{10}(50)=9+3.4=12.4$"),
        ("17", "Both are known. The rope measures 8 + 9 = 17 m."),
        ("250", "λ = c/ν = 3×10⁸ / 1.2×10⁶ = 250 m"),
        ("12", "系数为 $2C_4^2=12$。"),
        (
            r"\begin{pmatrix}2&0\\0&3\end{pmatrix}",
            r"$P^2=I+N=\begin{pmatrix}1&0\\0&1\end{pmatrix}+\begin{pmatrix}1&0\\0&2\end{pmatrix}"
            r"=\begin{pmatrix}2&0\\0&3\end{pmatrix}$",
        ),
    ],
)
def test_the_formula_of_the_kind_is_the_answer(gold, response):
    assert grade(gold, response).equal


@pytest.mark.parametrize(
    ("gold", "response"),
    [
        ("0", "(p + q)² + (q − r)² = 0 so p = −q, r = q, giving p + r = 2q."),  # a step
        ("4", "Since $a=4$, the expression simplifies to $3t+1$."),
        ("2", "So $f(x)=2$ or $f(x)=x$."),
        ("x+1", "So $f(x)=x+1$ or $f(x)=1$."),
        ("5", "With $n=5$ the solutions are $x=5$ or $x=7$."),
        ("5", "Therefore $z = 2+3 = 6$."),
        ("(6,8)", "So the distance from (6,8) to the origin is 10."),
        ("3", "Hence the tangent is $y = 3x - 4$, with slope 3."),
        ("9", "The probability is 2 out of 9."),
        ("5", "So the bound is $x<5$ at $y=2$."),
        ("36", "Squaring gives $r=6$ and $r^2+1=37$."),
        ("B", "So the point is $C$ and the answer is A."),
        ("10", r"$v=\frac{d}{t}\approx 9.1\cdot1.5 = 15$"),
    ],
)
def test_a_step_of_the_kind_is_no_answer(gold, response):
    assert not grade(gold, response).equal


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("\\" + "x" * 300 + "2x = 5", False),
        ("f(x)" * 90 + "2 = 1", True),
        ("(" * 200 + "," * 199, False),
        ("1 " + "a/" * 190, False),
        ("x_{" * 130, False),
    ],
)
def test_long_runs_need_no_exponential_search(answer, expected):
    assert fits("5", answer) is expected
