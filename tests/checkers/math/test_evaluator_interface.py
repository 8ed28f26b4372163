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
    fix_a_slash_b,
    grade,
    is_set,
    latex2sympy_interval,
    norm_deg,
)

EVALUATOR = EvaluatorMath()

SHOWN_SOLUTION = (
    r"Both $1$ and $11$ divide $11,$ so $\boxed{11}=2$, and since $1,$ $2,$ $4,$ $5,$ $10,$ and "
    r"$20$ divide $20,$ then $\boxed{20}=6$. The inner expression, $\boxed{11}\times\boxed{20}="
    r"2\times6=12$. Finally, $\boxed{12}=6$ because $1,$ $2,$ $3,$ $4,$ $6,$ and $12$ divide "
    "$12.$\n\nTherefore, $6$ is our answer. Please note that we have not boxed the correct answer "
    "as we normally do, as that would be especially confusing for this problem."
)
EXTRACTED = [
    (r"Therefore, $1+1=\boxed{2}$.", "2"),
    (SHOWN_SOLUTION, "6"),
    ("Therefore, the number of ways to arrange the letters of CIRCLE is 720 ÷ 2 = 360.", "360"),
    ("The answer is 1/2", r"\frac{1}{2}"),
    (
        r"The answer is \begin{pmatrix} 3 \\ \frac{\pi}{2} \end{pmatrix}",
        r"\begin{array}3\\frac{\pi}{2}\end{array}",
    ),
]


@pytest.mark.parametrize(("response", "answer"), EXTRACTED)
def test_documented_extraction(response, answer):
    assert EVALUATOR.extract_ans(response) == answer


@pytest.mark.parametrize(
    ("ref", "answer", "equal"),
    [
        ("x+y", "y+x", True),
        (r"\frac{1}{2}", "0.5", True),
        (r"\begin{array}1\\2\end{array}", "1,2", True),
        ("no", "false", True),
        (r"251,7\\ \noindent", "0", False),
        ("3.54*10^{-7}", "3.54e-07", True),
        ("1", "100", False),
        ("100", "1", False),
        ("3.04", "0.0304", True),
        (["0.0304", 0.0304], "3.04", True),
        ("x<-1", "x>3", False),
        (r"(-\infty,0)\cup(0,\infty)", r"(-\infty,0)\cup(0,\infty)", True),
        ("1+2,2+1", "2+1,1+2", True),
        (5, 5, True),
        (0.1 + 0.2, 0.3, True),
        ("x + y", "y + x", True),
        ("C", "C", True),
        ("1,234", "1234", True),
        ("12,34", "(12,34)", True),
        (r"\$ 5", "5", True),
        (r"3 * \sqrt{13}", r"3\sqrt{13}", True),
        (r"\pi/2", r"\frac{\pi}{2}", True),
        (r"(3,\pi/2)", r"(3,\frac{\pi}{2})", True),
        ("23000", r"\$23{,}000", True),
        ("White", "white", True),
        ("[0,3)", "[0,1]", False),
        ("[0,1]", "[0,3)", False),
        ("1001.5", "1001", False),
        (r"\frac{2003}{2}", "1001", False),
        # our own
        ("2500", "25", False),
        ("9", "900", False),
        ("(-\\infty,0]", "(-\\infty,0)", False),
        ("3t", "3", False),
        ("north", "none", False),
        ("wedge", "Wednesday", False),
        ("50%", "0.5", True),
        ("0.25", "25", True),
        ("7", ["not", "an", "answer"], False),
    ],
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
    ("function", "args", "expected"),
    [
        (EVALUATOR.norm_math_str, (r"251,7\\ \noindent",), "251,7"),
        (EVALUATOR.norm_math_str, (r"\left( \dfrac{1}{2} , 3 \right).",), r"(\frac{1}{2},3)"),
        (fix_a_slash_b, (r"(3/4)\sqrt{3}",), r"(\frac{3}{4})\sqrt{3}"),
        (EVALUATOR.norm_pm, (r"x\pmy",), "x-y,x+y"),
        (EVALUATOR.norm_pm, (r"a\mpb",), "a-b,a+b"),
        (EVALUATOR.norm_pm, (r"1\pm\sqrt{19}",), r"1-\sqrt{19},1+\sqrt{19}"),
        (EVALUATOR.norm_pm, (r"\{1\pm\sqrt{5},-2\}",), r"1-\sqrt{5},1+\sqrt{5},-2"),
        (
            EVALUATOR.norm_pm,
            (r"\(\frac{1\pm\sqrt{17}}{4}\)",),
            r"\frac{1-\sqrt{17}}{4},\frac{1+\sqrt{17}}{4}",
        ),
        (
            EVALUATOR.norm_pm,
            (r"\frac{1\pm\sqrt{1-\frac{2}{\sqrt{3}}}}{1}",),
            r"\frac{1-\sqrt{1-\frac{2}{\sqrt{3}}}}{1},\frac{1+\sqrt{1-\frac{2}{\sqrt{3}}}}{1}",
        ),
        (EVALUATOR.norm_pm, ("x+y",), "x+y"),
        (norm_deg, (r"20^\circ",), "20"),
        (norm_deg, (r"\sin 20^\circ",), r"\sin {20*\frac{\pi}{180}}"),
        (norm_deg, (r"\cos{35^{\circ}}",), r"\cos {35*\frac{\pi}{180}}"),
        (EVALUATOR.norm_basic_fn, ("sinx",), r"\sin^{1}x"),
        (EVALUATOR.norm_basic_fn, (r"\sin^2x",), r"\sin^{2}x"),
        (EVALUATOR.norm_basic_fn, (r"\cos^{3}y",), r"\cos^{3}y"),
        (EVALUATOR.extract_set, ("{2,1}",), ["1", "2"]),
        (EVALUATOR.extract_set, (r"\{b, a\}",), ["a", "b"]),
        (is_set, ("{2,1}",), True),
        (is_set, ("orange",), False),
        (is_set, ("x<-1orx>3",), True),
        (is_set, ("(3/4)sqrt(3)",), False),
        (is_set, ("1,234",), False),
        (is_set, (r"(0,1)\cup(2,3)",), True),
        (EVALUATOR.remove_first_paren_pair, ("{white}", "{"), "white"),
        (EVALUATOR.remove_first_paren_pair, ("a(b(c)d)e(f)", "("), "ab(c)de(f)"),
        (EVALUATOR.remove_first_paren_pair, ("none", "("), "none"),
    ],
)
def test_text_functions(function, args, expected):
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
    [
        ("(2,3)", "First a = 2. Then b = 3."),
        ("-4,4", "First x = -4, then x = 4."),
        ("30, 40", "It drove 30 mph going and 40 mph returning."),
        ("1;2", "第一空：1；第二空：2"),
        ("2,3", "(a) 2 (b) 3"),
        ("B", "so the closest choice is B."),
        ("3", "$|w-z| \\ge 3$, with equality for $w=5$."),
        ("ellipse", "This is the equation of an ellipse."),
        ("15", "So $b^2 = 225$ and, since $b > 0$, $b = 15$."),
    ],
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
