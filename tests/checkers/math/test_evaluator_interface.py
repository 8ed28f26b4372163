"""EvaluatorMath's documented interface.

Inputs and results are from the documentation and tests of dart-math's EvaluatorMath, and our own.
"""

import inspect
from dataclasses import dataclass, replace

import pytest
import sympy
from sympy import FiniteSet, Integer, Interval, Matrix, Rational, Symbol, Union, cos, oo, pi, sqrt

import gradebox.checkers.math as package
from gradebox.checkers.math import (
    POLICIES,
    EvaluatorBase,
    EvaluatorBatchBase,
    EvaluatorMath,
    EvaluatorMathBatch,
    grade,
    latex2sympy_interval,
)
from testing.rows import rows

EVALUATOR = EvaluatorMath()


@pytest.mark.parametrize(("response", "answer"), rows(__file__, "extracted"))
def test_documented_extraction(response, answer):
    assert EVALUATOR.extract_ans(response) == answer


@pytest.mark.parametrize(
    ("ref", "answer", "equal"),
    rows(__file__, "eq"),
)
def test_eq(ref, answer, equal):
    assert EVALUATOR.eq(ref, answer) is equal


@pytest.mark.parametrize(
    ("ref", "answer", "plain", "as_sets"),
    [
        ("{1,2}", "{2,1}", True, True),
        (r"\left(1,2\right)", r"\left(2,1\right)", False, True),
        ("(1,2)", r"\{2,1\}", False, True),
        ("(1,2)", r"(1,3)", False, False),
    ],
)
def test_eq_of_sets(ref, answer, plain, as_sets):
    assert EVALUATOR.eq(ref, answer) is plain
    assert EVALUATOR.eq(ref, answer, compare_sets=True) is as_sets


a, b = Symbol("a"), Symbol("b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"(-11,-10)\cup\{-\sqrt{110}\}", Interval.open(-11, -10)),
        (r"(-\infty, 0) \cup (0, \infty)", Union(Interval.open(-oo, 0), Interval.open(0, oo))),
        ("(a+b,b]", Interval.Lopen(a + b, b)),
        (r"[0,1]\cup\{5\}", Union(Interval(0, 1), FiniteSet(5))),
        (r"\mathbb{R}\setminus\{2\}", Union(Interval.open(-oo, 2), Interval.open(2, oo))),
        (r"\mathbb{R}\setminus[0,1]", Union(Interval.open(-oo, 0), Interval.open(1, oo))),
    ],
)
def test_latex2sympy_interval(text, expected):
    assert latex2sympy_interval(text) == expected


def test_latex2sympy_interval_rejects_an_expression():
    with pytest.raises(ValueError, match=r"x\+1.*not an interval.*\[a,b\)"):
        latex2sympy_interval("x+1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            r"\sqrt{400\cos^2(9\pi/44)},\frac{\pi}{4}",
            Matrix([[sqrt(400 * cos((9 * pi) / 44) ** 2), pi / 4]]),
        ),
        (
            r"\begin{pmatrix} \frac{1}{2} & 0 & -\frac{\sqrt{3}}{2} \\ 0 & 1 & 0 \\ "
            r"\frac{\sqrt{3}}{2} & 0 & \frac{1}{2} \end{pmatrix}",
            Matrix(
                [
                    [Rational(1, 2), 0, -sqrt(3) / 2],
                    [0, 1, 0],
                    [sqrt(3) / 2, 0, Rational(1, 2)],
                ]
            ),
        ),
        (r"\begin{pmatrix}-18\\-49\\96\end{pmatrix}", Matrix([[-18, -49, 96]])),
        (r"\begin{pmatrix} 2 & 3 \\ 0 & -2 \end{pmatrix}", Matrix([[2, 3], [0, -2]])),
    ],
)
def test_latex2matrix(text, expected):
    assert EVALUATOR.latex2matrix(text) == expected


def test_latex2matrix_rejects_an_inequality():
    with pytest.raises(ValueError, match=r"x<3.*not a matrix.*LaTeX matrix or a list"):
        EVALUATOR.latex2matrix("x<3")


@pytest.mark.parametrize(
    ("name", "args", "expected"),
    rows(__file__, "text_functions"),
)
def test_text_functions(name, args, expected):
    function = getattr(EVALUATOR, name, None) or getattr(package, name)
    assert function(*args) == expected


def test_constructor_arguments():
    names = list(inspect.signature(EvaluatorMath).parameters)
    assert names[:7] == [
        "strict_extract",
        "use_orig_eq_for_olympiadbench",
        "include_percentage",
        "rel_tol",
        "abs_tol",
        "percent_rel_tol",
        "ascii_only",
    ]
    assert inspect.signature(EvaluatorMathBatch).parameters["timeout"].default == 5
    assert issubclass(EvaluatorMathBatch, EvaluatorBatchBase)
    assert issubclass(EvaluatorMath, EvaluatorBase)


def test_star_import_has_the_documented_names():
    names: dict[str, object] = {}
    exec("from gradebox.checkers.math import *", names)
    for name in ("EvaluatorMath", "EvaluatorMathBatch", "latex2sympy_interval", "is_set"):
        assert names[name] is getattr(package, name)


def test_percentage_can_be_switched_off():
    assert EvaluatorMath(include_percentage=False).eq("3.04", "0.0304") is False


def test_tolerances_of_the_constructor_apply():
    assert EvaluatorMath(rel_tol=0.01).eq("1.000", "1.005") is True
    assert EvaluatorMath(rel_tol=1e-9, abs_tol=1e-9).eq("1.000", "1.005") is False


def test_strict_extract_ignores_prose():
    prose = "We multiply and get 12 in the end because 3 times 4 is that."
    assert EvaluatorMath(strict_extract=True).extract_ans(prose) == ""
    assert EvaluatorMath(strict_extract=True).extract_ans(r"so \boxed{12}") == "12"


@pytest.mark.parametrize(
    ("gold", "prose"),
    rows(__file__, "with_strict_extract"),
)
def test_with_strict_extract_the_reference_answer_finds_nothing_in_prose(gold, prose):
    strict = replace(POLICIES["strict"], strict_extract=True)
    assert grade(gold, prose).equal
    assert not grade(gold, prose, strict).equal
    assert grade(gold, f"{prose} The answer is {gold}.", strict).equal


@dataclass
class Sample:
    ref_ans: object
    resp: str
    dataset: str = "math"
    query: object = ""
    error: object = None


def test_batch_keeps_the_order_and_stops_a_hanging_pair():
    samples = [
        Sample("2", r"so \boxed{2}"),
        Sample("5", r"\boxed{x^{61}+3x^{39}-7x^3+5 > 0}"),
        Sample("2", "The answer is exit()"),
        {"ref_ans": r"\frac12", "resp": "The answer is 0.5", "dataset": "gsm8k"},
        Sample(["0.0304", 0.0304], r"\boxed{3.04}"),
    ]
    answers, corrects = EvaluatorMathBatch(timeout=0.3).batch_eval(samples)
    assert corrects == [True, False, False, True, True]
    assert answers == ["2", "", "exit()", "0.5", "3.04"]


@pytest.mark.parametrize(
    ("sample", "correct"),
    [
        (Sample("3.14", r"\boxed{3.1}", "olympiadbench", error="1e-1"), True),
        (Sample("3.14", r"\boxed{3.1}", "OlympiadBench-OE", query={"error": 0.01}), False),
        (Sample("3.14", r"\boxed{3.1}", "olympiadbench", "Give it within an error of 0.1."), True),
        (Sample("3.14", r"\boxed{3.1}", "olympiadbench"), False),
        (Sample("3.14", r"\boxed{3.1}", "math", error="1e-1"), False),
        (Sample("25", r"\boxed{0.25}", "olympiadbench"), False),
    ],
)
def test_olympiadbench_uses_the_error_range_of_the_query(sample, correct):
    assert EvaluatorMathBatch().batch_eval([sample])[1] == [correct]


def test_olympiadbench_comparison_can_be_switched_off():
    evaluator = EvaluatorMathBatch(use_orig_eq_for_olympiadbench=False)
    sample = Sample("3.14", r"\boxed{3.1}", "olympiadbench", error="1e-1")
    assert evaluator.batch_eval([sample])[1] == [False]


def test_error_for_a_sample_without_response_names_the_fields():
    with pytest.raises(ValueError, match=r"without response.*one of resp,"):
        EvaluatorMathBatch().batch_eval([{"ref_ans": "2"}])


def test_sympy_objects_have_exact_numbers():
    assert EVALUATOR.latex2matrix("0.5,1") == Matrix([[Rational(1, 2), Integer(1)]])
    assert isinstance(latex2sympy_interval("[0,1]"), sympy.Interval)
