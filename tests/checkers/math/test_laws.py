"""Property tests: what holds for all numbers and expressions."""

from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.checkers.math import POLICIES, extract_answer, grade
from gradebox.checkers.math.compare.exact import quick, rational
from gradebox.checkers.math.compare.numeric import equal
from gradebox.checkers.math.first_tier import first_tier
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.normalise import normalise, strip_ends
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.tables import word_list
from gradebox.checkers.math.read.values import ParseError

STRICT = POLICIES["strict"]
DART = POLICIES["dart"]
ints = st.integers(-(10**12), 10**12)
positive = st.integers(1, 10**6)


@settings(deadline=None)
@given(ints, positive)
def test_a_fraction_is_read_exactly(top, low):
    for text in (f"{top}/{low}", rf"\frac{{{top}}}{{{low}}}", rf"$\dfrac{{{top}}}{{{low}}}$"):
        found = rational(text)
        assert found is not None
        assert Fraction(*found) == Fraction(top, low)


@settings(deadline=None)
@given(ints, st.integers(0, 10**6))
def test_a_decimal_is_read_exactly(whole, part):
    text = f"{whole}.{part:07d}"
    found = rational(text)
    assert found is not None
    assert Fraction(*found) == Fraction(text)


@settings(deadline=None)
@given(ints, ints)
def test_integers_are_equal_only_to_the_same_integer(a, b):
    assert quick(str(a), str(b), STRICT) is (a == b)
    assert quick(f"{a:,}", str(a), STRICT) is True
    assert quick(str(a), f"{b}.0", DART) in ((a == b), None, a * 100 == b, a == b * 100)


@settings(deadline=None)
@given(ints, positive, ints, positive)
def test_fractions_are_equal_when_their_values_are(a, b, c, d):
    verdict = quick(f"{a}/{b}", f"{c}/{d}", STRICT)
    assert verdict is (Fraction(a, b) == Fraction(c, d))


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_gives_a_structure_or_a_parse_error(text):
    cleaned = normalise(text)
    assert strip_ends(cleaned) == cleaned
    read_answer(cleaned)
    try:
        parse_expression(cleaned)
    except ParseError as e:
        assert str(e)


@settings(deadline=None)
@given(st.text(alphabet="x1+-*/^(){}[]\\,.;:=<>|!_ $%&frac sqrt", max_size=60))
def test_math_like_text_gives_a_structure_or_a_parse_error(text):
    extract_answer(text)
    cleaned = normalise(text)
    try:
        read_answer(cleaned)
        parse_expression(cleaned)
    except ParseError as e:
        assert str(e)


x, y = sympy.symbols("x y")
atoms = st.one_of(st.integers(1, 9).map(sympy.Integer), st.sampled_from([x, y, sympy.pi]))
expressions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
        st.tuples(inner, st.integers(2, 3)).map(lambda p: p[0] ** p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] - 2 * p[1]),
        inner.map(lambda e: sympy.sqrt(e**2 + 1)),
        inner.map(lambda e: e / (x**2 + 1)),
        inner.map(sympy.sin),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(expressions)
def test_sympy_latex_output_parses_to_the_same_expression(expr):
    assert equal(parse_expression(normalise(sympy.latex(expr))), expr) is True


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(expressions)
def test_an_expression_equals_its_expansion_but_not_itself_plus_one(expr):
    assert equal(expr, sympy.expand(expr)) is True
    assert equal(expr, expr + 1) is False


@settings(deadline=None)
@given(st.integers(-50, 50), st.integers(1, 50))
def test_equality_is_symmetric(a, b):
    for left, right in ((f"{a}/{b}", f"{2 * a}/{2 * b}"), (str(a), f"{a}.5"), (f"{a}", f"{b}")):
        assert grade(left, right).equal is grade(right, left).equal


TOKENS = word_list(
    r"the . .. a is are no yes so not $ $$ 1 2 3.5 x x=2 = < , ; : ( ) [ ] { } ** ` quadrant "
    r"Monday third I IV if and or of \text{ \frac \boxed{ \sqrt \pm \% % # #### Answer: option "
    r"(A) B even primes all real numbers except no solution undefined 5:30 pm 10% km m/s ! ? … ½ "
    r"√ π 是 选 ² |"
)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(TOKENS), max_size=14).map(" ".join),
    st.lists(st.sampled_from([*TOKENS, "\n"]), max_size=20).map(" ".join),
)
def test_words_and_marks_in_any_order_raise_nothing_in_the_first_tier(gold, response):
    decided, _, left, right = first_tier(gold, response, STRICT)
    assert decided in (True, False, None)
    assert isinstance(left, str) and isinstance(right, str)
