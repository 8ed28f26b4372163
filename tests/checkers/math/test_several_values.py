"""A reference answer of several values, which a response states one after the other."""

import pytest

from gradebox.checkers.math import grade

RIGHT = [
    # the last letters, in the order of the alphabet
    ("(3,-2)", "Adding, $7p=21$, so $p=3$ and then $q=-2$."),
    ("(4,9)", "Then $v = 9$. Substituting in $u=2v-14$ we get $u=4$."),
    ("(1,-4)", "Subtracting, 5x = 5, x = 1. Then y = −4."),
    ("(5,6)", "It holds exactly when $a=5,\\ b=6$."),
    (r"\left(\frac23,\frac14\right)", r"So $3x=2$, $x=\frac23$, and $y=\frac34-\frac24=\frac14$."),
    (r"\begin{pmatrix} 1 \\ 0 \\ 8 \end{pmatrix}", "Solving it gives x = 1, y = 0 and z = 8."),
    ("(7,2)", "We get a = 7 (b is still open). Then b = 2 (as 9 − 7 = 2)."),
    # the last letter
    ("-5, 5", "From $x^2=25$, in ascending order: first $x=-5$, then $x=5$."),
    ("$t=1$, $t=-8$", "If $r=2$, $3t=3$ gives $t=1$. If $r=-2$, then $t=-(2+6)=-8$."),
    ("1,2,3,7", "$u=3$ gives $x=1,2$; $u=21$ gives $x=3,7$."),
    (r"30^\circ, 150^\circ", "So either A = 30° (acute case), or A = 150° (obtuse case)."),
    # stated in one sentence, behind labels, in the blanks of a question
    ("12, 20", "Let it be $w$. So the plane flew 12 miles east and 20 miles back."),
    ("15, 60", "If a pen costs p, $5p=75$ so the pen is $15 and the bag is $60."),
    (r"$\frac13$;$\frac25$", r"第一空填 $\frac13$，第二空填 $\frac25$。"),
    ("4;9", "第一空：$4$；第二空：$9$。"),
    (r"$\frac13$;$\frac15$", r"都白的概率为 $\frac26=\frac13$；都黑的为 $\frac3{15}=\frac15$。"),
]
WRONG = [
    ("2, -3", "So x = 2 or x = -3. But only x = 2 satisfies the equation."),
    ("2, -3", "x^2 + x - 6 = 0 gives x = -3 and x = 2. As x is positive, x = 2."),
    ("0, 9", "x² − 9x = 0. Dividing by x gives x − 9 = 0, so x = 9."),
    ("(3,-2)", "Adding, $7p=21$, so $p=-2$ and then $q=3$."),
    ("(3,-2)", "Adding, $7p=21$, so $p=3$ and then $q=-2$, and $p+q=1$."),
    ("(5,6)", "We have $a=5$ and $b=6$. The answer is 11."),
    ("-5, 5", "From $x^2=25$, first $x=-5$, then $x=4$."),
    ("12, 20", "The plane flew 12 miles east and 22 miles back."),
    ("12 km, 20 km", "There: 12 km. Back: 21 km."),
    ("4;9", "第一空：$9$；第二空：$4$。"),
    (r"$\sin\theta=1, \cos\theta=0$", r"At that point $\cos\theta=1$ and $\sin\theta=0$."),
    (r"\begin{pmatrix} 1 \\ 0 \\ 8 \end{pmatrix}", "The rows give x = 1, y = 8, z = 0."),
    ("1,2,3,7", "$u=3$ gives $x=1,2$; $u=21$ gives $x=3,8$."),
]


@pytest.mark.parametrize(("gold", "response"), RIGHT)
def test_values_stated_one_after_the_other_are_the_answer(gold, response):
    assert grade(gold, response).equal


@pytest.mark.parametrize(("gold", "response"), WRONG)
def test_other_values_and_a_choice_among_them_are_not(gold, response):
    assert not grade(gold, response).equal


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("unit", ["x = 1, ", "$x=1$ and ", "(", "第一空", "a: 1\n", "= ", "\\pm"])
def test_long_responses_raise_nothing(unit):
    assert not grade("1, 2", unit * 5000).equal
    assert not grade(unit * 90, "x = 1 and y = 2").equal
