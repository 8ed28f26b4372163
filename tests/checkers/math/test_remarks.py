"""Conditions, remarks, checks and corrections around the answer of a response."""

import pytest

from gradebox.checkers.math import extract_answer, grade

RIGHT = [
    # a condition, which the reference answer leaves out
    (r"\frac{2}{s-3}", r"$L=\int_0^\infty 2e^{3t}e^{-st}\,dt=\frac{2}{s-3}$ for $s>3$."),
    (r"x+5", r"$\frac{x^2-25}{x-5}=x+5$, valid for $x>5$."),
    (r"x-1+\frac{3}{2x+1}", r"Dividing gives $x-1+\frac{3}{2x+1}$, for $x\ne-\frac12$."),
    ("$P(n)=3n+2$", "The answer is $P(n)=3n+2$ for $n\\ge1$."),
    # a remark
    (r"\frac14", r"Thus the probability is $\frac14$ no matter what $m$ is."),
    ("6", "$36-4c=12$ gives $c=6$; indeed $x^2+6x+6$ has the discriminant 12."),
    (
        r"\frac{t}{1+t^2}",
        r"This gives $u=\frac{t}{1+t^2}$, which scales as $t^{-1}$ for large $t$.",
    ),
    ("8", "Subtracting, $b+3=11$, therefore $b=8$ (and $a=31$)."),
    ("2", "Comparing the real parts, $2k=4$, so $k=2$ (and $k^2-4=0$ checks)."),
    # a check
    ("$x=4, x=1$", "So $x=4$ or $x=1$. Both check: at 4 we get 2+0, at 1 we get 1+1."),
    ("n^2+1", "The sum telescopes to $n^2+1$. For n=2 this gives 5, matching 2+3."),
    # a bound that is attained
    ("7", "By the triangle inequality $|u-v|\\ge|u|-|v|=7$, with equality for $u=9,v=2$."),
    (r"3\sqrt2", r"$x+y\le\sqrt{2\cdot9}=3\sqrt2\approx4.24$，等号可以取到。"),
    # a number in words
    ("3", "Excluded are $16$, $\\pm4$. So three real numbers."),
    ("9", "Dividing, 13.5/1.5 = 9 and 9.0 is whole. Anna paid for nine tickets."),
    (r"72\text{ degrees}", "The arc is 144°, hence it measures half of that: seventy-two degrees."),
    # a remark on the answer, a summary, an ellipsis: not the announcement
    ("25", "The answer is 25. This answer is correct."),
    ("25", "**Answer: 25** Check: 5*5 = 25, so the answer is consistent."),
    ("9", "The answer is 9.\n```\nThis answer is correct.\n```\nThis answer is correct.\n"),
    ("H", "The answer is (D). Now, let's总结以上答案：The answer is (H)."),
    ("G", "The answer is (G).\n\nLet's summarize the answers:\nA. cilia\nB. 3/40\nG. 1/4"),
    ("C", "The answer is (C).\n\nFinal Answer: The answer is ... C."),
    ("correct", "The answer is correct."),
    # text after the answer
    ("70", "The number was **70**, ranging from **20** in 2005 to **60** in 2008."),
    ("2000", "The profit made on 30 June 2006 due to this sale is €2,000."),
    ("80\\%", "So the new method is 80% more accurate."),
    (r"\frac{3}{10} \# \# 0.3", "The answer is 3/10."),
]
NO_ANSWER = [  # refused, undecided, cut, in a loop
    ("2", "As the sum of 2 terms is unknown, it's impossible to provide the degree."),
    ("No", "(A) Yes\n(B) No\n\nAs the figure is missing, we cannot determine the answer."),
    ("6", "Ann buys milk at 6 or more grocery stores, so we cannot determine the mean."),
    ("17", r"We list them: $$\begin{array}{cc} 1 & 2 \\ 17 & 60 & 68 & 76 & 84"),
    (
        "13",
        "So the group has 13 people.\n\n13. Case 13: in this case, as there are 13 people, there",
    ),
]
WRONG = [
    *NO_ANSWER,
    ("6", "The median is **5**, as half of the people shop at 6 or more grocery stores."),
    ("60", "The number was **70**, ranging from **20** in 2005 to **60** in 2008."),
    ("2006", "The profit made on 30 June 2006 due to this sale is €2,000."),
    (r"\frac{2}{s-3}", r"$L=\frac{2}{s+3}$ for $s>3$."),
    ("x", "$f(x)=x$ for $x>0$ and $-x$ for $x<0$."),
    ("7", "By the triangle inequality $|u-v|\\ge|u|-|v|=7$."),
    ("7", "We have $|u-v|\\ge7$, but equality is not attained: it is 8."),
    ("8", "Therefore $b=31$ (and $a=8$)."),
    # a question or a correction takes an announced answer back
    (
        r"\frac15",
        r"The answer is $\frac15$? Let me check: one case of 6 is left. So it is $\frac16$.",
    ),
    ("3/8", "So the answer is 3/8... but one case is counted twice, so subtract: 5/16."),
    ("3", "Excluded are $16$, $\\pm4$. So four real numbers."),
]


@pytest.mark.parametrize(("gold", "response"), RIGHT)
def test_what_surrounds_the_answer_is_left_out(gold, response):
    assert grade(gold, response).equal


@pytest.mark.parametrize(("gold", "response"), WRONG)
def test_other_values_are_rejected(gold, response):
    assert not grade(gold, response).equal


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("unit", [" for $x>0$", "; indeed ", "\\ge ", "... but so ", ": one "])
def test_long_responses_raise_nothing(unit):
    assert not grade("5", "The answer is 4" + unit * 10000).equal
    assert not grade("5", unit * 10000).equal


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("The net charge is +2... but at this pH it is +1.", "+1"),
        ("So the answer is $10$... however, swapping them gives $\\frac{11}{6}$.", "\\frac{11}{6}"),
        ("The answer is 21/216 = 7/72... but one case is counted twice, so it is 5/54.", "5/54"),
        # not broken off
        ("The multiples are 2, 4, 6... so the next one is 8.", "8"),
        ("The answer is 12... so we are done.", "12"),
        ("As 1 + 2 + ... + 4 is 10, the number of missing ones is 12.", "12"),
        ("It is $\\boxed{12}$... so 3 are left.", "12"),
    ],
)
def test_a_value_that_is_broken_off_is_given_up(response: str, answer: str) -> None:
    assert extract_answer(response).strip("$ .+") == answer.strip("+")
