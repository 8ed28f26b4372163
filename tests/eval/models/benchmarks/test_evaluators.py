"""Eval functions: tables of right and wrong predictions."""

from __future__ import annotations

from typing import Any

import pytest

from gradebox.eval.models.answers.equality import MathEquality
from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.extraction.numbers import parse_number
from gradebox.eval.models.benchmarks.sample import Sample

MATH = MathEquality("lm-open-science")


def sample(*answers: str, **extra: Any) -> Sample:
    return Sample("d", "1", "?", answers, extra=extra)


RIGHT: list[tuple[str, list[str], Sample]] = [
    ("eval_last_single_answer", ["5"], sample("5")),
    ("eval_last_single_answer", ["5.0004"], sample("5")),
    ("eval_last_single_answer", ["1,000"], sample("1000")),
    ("eval_last_single_answer", [r"\frac{1}{2}"], sample("0.5")),
    ("eval_math", ["4", "3"], sample("3", "4")),
    ("eval_math", ["9", "3", "4"], sample("3", "4")),
    ("eval_math", ["3"], sample("3", "3")),
    ("eval_math", ["1", "-2"], sample("-2,1")),
    ("eval_math", [r"\frac{\sqrt{5}+3}{2}"], sample(r"\frac{3+\sqrt{5}}{2}")),
    ("eval_agieval_gaokao_math_cloze", ["14", "40"], sample("14", "40")),
    ("eval_agieval_gaokao_mathqa", ["C"], sample("C")),
    ("eval_agieval_gaokao_mathqa", ["A、D"], sample("A", "D")),
    ("eval_mmlu_stem", ["b"], sample("B")),
    ("eval_mmlu_stem", ["C"], sample("B", "C")),
    ("eval_pubmedqa", ["yes"], sample("yes")),
    ("eval_olympiad_math", ["30.64"], sample("30.66", error="0.05")),
    ("eval_olympiad_math", ["7, -3"], sample("-3, 7", is_multiple_answer=True)),
    (
        "eval_olympiad_math",
        ["1.02, 2.9"],
        sample("1, 3", is_multiple_answer=True, error="0.1, 0.2"),
    ),
    ("eval_ocwcourses", ["2.49 eV"], sample("2.48")),
    ("eval_ocwcourses", [r"2.47 \times 10^3"], sample("2480")),
    ("eval_ocwcourses", ["2+3 x^{2}"], sample("3 x^{2}+2")),
    ("eval_tabmwp", ["July"], sample("July", type="multiple-choice")),
    ("eval_tabmwp", ["2355"], sample("2,355", type="short-answer")),
    ("eval_scibench", ["98"], sample("96.0", exponent=0)),
    ("eval_scibench", [r"1.1 \times 10^{12}"], sample("1.08", exponent=12)),
    ("eval_scibench", ["9.6e1 m"], sample("96.0", exponent=0)),
    ("eval_olympic_arena", ["C", "A"], sample("A", "C", kinds=("MC",))),
    ("eval_olympic_arena", ["7", "1"], sample("7", "1", kinds=("NV", "NV"))),
]

WRONG: list[tuple[str, list[str], Sample]] = [
    ("eval_last_single_answer", [], sample("5")),
    ("eval_last_single_answer", [""], sample("5")),
    ("eval_last_single_answer", ["5.01"], sample("5")),
    ("eval_last_single_answer", ["5", "6"], sample("5")),
    ("eval_last_single_answer", ["-5"], sample("5")),
    ("eval_math", ["3"], sample("3", "4")),
    ("eval_math", ["3", "5"], sample("3", "4")),
    ("eval_math", [], sample("3", "4")),
    ("eval_math", ["1", "2"], sample("-2,1")),
    ("eval_agieval_gaokao_math_cloze", ["40", "14"], sample("14", "40")),
    ("eval_agieval_gaokao_math_cloze", ["14"], sample("14", "40")),
    ("eval_agieval_gaokao_mathqa", ["CD"], sample("C")),
    ("eval_agieval_gaokao_mathqa", [], sample("C")),
    ("eval_agieval_gaokao_mathqa", ["A"], sample("A", "D")),
    ("eval_mmlu_stem", [], sample("B")),
    ("eval_mmlu_stem", ["A"], sample("B")),
    ("eval_olympiad_math", ["30.72"], sample("30.66", error="0.05")),
    ("eval_olympiad_math", ["7"], sample("-3, 7", is_multiple_answer=True)),
    ("eval_olympiad_math", [], sample("36")),
    ("eval_ocwcourses", ["2.53"], sample("2.48")),
    ("eval_ocwcourses", [], sample("2.48")),
    ("eval_ocwcourses", ["about 2.48"], sample("2.48")),
    ("eval_tabmwp", ["May"], sample("July", type="multiple-choice")),
    ("eval_scibench", ["102"], sample("96.0", exponent=0)),
    ("eval_scibench", ["-96"], sample("96.0", exponent=0)),
    ("eval_scibench", ["1.08"], sample("1.08", exponent=12)),
    ("eval_scibench", [], sample("96.0", exponent=0)),
    ("eval_olympic_arena", ["A"], sample("A", "C", kinds=("MC",))),
    ("eval_olympic_arena", ["A", "B", "C"], sample("A", "C", kinds=("MC",))),
    ("eval_olympic_arena", ["1", "7"], sample("7", "1", kinds=("NV", "NV"))),
]


@pytest.mark.parametrize(("name", "prediction", "against"), RIGHT)
def test_right_predictions(name: str, prediction: list[str], against: Sample) -> None:
    assert registry.find("eval_fn", name)(prediction, against, MATH)


@pytest.mark.parametrize(("name", "prediction", "against"), WRONG)
def test_wrong_predictions(name: str, prediction: list[str], against: Sample) -> None:
    assert not registry.find("eval_fn", name)(prediction, against, MATH)


def test_every_eval_function_is_tested() -> None:
    functions = set(registry.TABLES["eval_fn"].values())
    for table in (RIGHT, WRONG):
        assert {registry.find("eval_fn", name) for name, *_ in table} == functions


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", ["__import__('os').system('true')", "exit()", "9**9**9**9", "(" * 5000, "1e999", "\0"]
)
def test_hostile_answers_are_wrong(answer: str) -> None:
    quick = MathEquality("lm-open-science", timeout_s=0.5)
    for name, function in registry.TABLES["eval_fn"].items():
        assert not function([answer], sample("5", kinds=("NV",)), quick), name


@pytest.mark.parametrize("text", ["5" * 1_000_000, "5." + "1" * 1_000_000, "1," * 500_000])
def test_a_million_digits_are_not_a_number_and_take_linear_time(text: str) -> None:
    """The pattern of 3.2 x 10^5 takes quadratic time, which would hit the test's time limit."""
    assert parse_number(text) is None
    assert parse_number("3.2 \\times 10^{5}") == 320000.0
