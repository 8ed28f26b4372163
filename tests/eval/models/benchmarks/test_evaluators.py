"""Eval functions: tables of right and wrong predictions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.models.answers.equality import MathEquality
from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.sample import Sample
from gradebox.eval.models.benchmarks.texts import parse_number

MATH = MathEquality("lm-open-science")


def sample(*answers: str, options: Sequence[str] = (), **extra: Any) -> Sample:
    return Sample("d", "1", "?", answers, tuple(options), extra=extra)


# Each line: the function, whether the prediction is right, the prediction, the sample's answers
# and its other fields.
CASES = [
    json.loads(line)
    for line in Path(__file__).with_name("evaluator_cases.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize(("name", "right", "prediction", "answers", "extra"), CASES)
def test_predictions(name, right, prediction, answers, extra):
    found = registry.find("eval_fn", name)(prediction, sample(*answers, **extra), MATH)
    assert found is right


def test_every_eval_function_is_tested():
    functions = set(registry.TABLES["eval_fn"].values())
    for right in (True, False):
        tested = {name for name, expected, *_ in CASES if expected is right}
        assert {registry.find("eval_fn", name) for name in tested} == functions


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", ["__import__('os').system('true')", "exit()", "9**9**9**9", "(" * 5000, "1e999", "\0"]
)
def test_hostile_answers_are_wrong(answer):
    quick = MathEquality("lm-open-science", timeout_s=0.5)
    for name, function in registry.TABLES["eval_fn"].items():
        assert not function([answer], sample("5", type_sequence=["NV"]), quick), name


@pytest.mark.parametrize("text", ["5" * 1_000_000, "5." + "1" * 1_000_000, "1," * 500_000])
def test_a_million_digits_are_not_a_number_and_take_linear_time(text):
    """The pattern of 3.2 x 10^5 takes quadratic time, which would hit the test's time limit."""
    assert parse_number(text) is None
    assert parse_number("3.2 \\times 10^{5}") == 320000.0
