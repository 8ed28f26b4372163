"""Extraction functions: a table of outputs and extracted answers for each."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.sample import Sample
from gradebox.eval.models.benchmarks.texts import (
    parse_number,
)

QUESTION = Sample("d", "1", "How many?", ("5",))
COMMAS = Sample("d", "1", "Find all x. Enter them separated by commas.", ("3", "4"))
FOUR = Sample("d", "1", "Which?", ("B",), ("red", "green apples", "blue", "none of these"))
TABLE = Sample("d", "1", "Which?", ("July",), ("May", "July", "has enough", "does not have enough"))
TWO_BLANKS = Sample("d", "1", "填空", ("14", "40"))

# Each line: the function, a model's output, the answers that are extracted.
CASES = Path(__file__).with_name("extraction_cases.jsonl").read_text("utf-8").splitlines()
NAMED = [json.loads(line) for line in CASES]

SAMPLE_OF = {
    "extract_tabmwp_few_shot_answer": TABLE,
    "extract_agieval_gaokao_mathcloze_few_shot_cot_test": TWO_BLANKS,
}


@pytest.mark.parametrize(("name", "output", "expected"), NAMED)
def test_extracted_answers(name, output, expected):
    choice = name.endswith("_sft_answer") and "scibench" not in name and "olympic" not in name
    sample = SAMPLE_OF.get(name, FOUR if choice else QUESTION)
    assert registry.find("answer_extraction_fn", name)(output, sample) == expected


def test_several_answers_are_split_as_the_question_asks():
    extract = registry.find("answer_extraction_fn", "extract_math_few_shot_cot_answer")
    assert extract(r"\boxed{3, 4}", COMMAS) == ["3", "4"]
    assert extract(r"\boxed{3, 4}", QUESTION) == ["3, 4"]
    assert extract(r"\boxed{(3, 4)}", COMMAS) == ["(3, 4)"]
    assert registry.find("answer_extraction_fn", "placeholder")("3, 4", COMMAS) == ["3", "4"]
    assert registry.find("answer_extraction_fn", "extract_olympic_arena_sft_answer")(
        r"\boxed{7, 1}", COMMAS
    ) == ["7", "1"]


def test_every_extraction_function_is_tested():
    functions = {f: n for n, f in registry.TABLES["answer_extraction_fn"].items()}
    tested = {registry.find("answer_extraction_fn", name) for name, *_ in NAMED}
    # The same functions with the same number of letters as a tested one.
    same_kind = {"extract_gpqa_sft_answer", "extract_mmlu_pro_sft_answer"}
    same_kind |= {"extract_super_gpqa_few_shot_answer"}
    assert {name for f, name in functions.items() if f not in tested} <= same_kind


@settings(max_examples=30)
@given(text=st.text("\\boxed{}() ,.ABCDanswer:is$\n5Q答案是问题：", max_size=200))
def test_extraction_never_raises(text):
    for name, extract in registry.TABLES["answer_extraction_fn"].items():
        for sample in (QUESTION, FOUR, TABLE, TWO_BLANKS):
            found = extract(text, sample)
            assert isinstance(found, list) and all(isinstance(f, str) for f in found), name


HOSTILE = [
    "\\boxed{" * 10_000,
    "{" * 50_000,
    "the answer is " * 5_000,
    "(A" * 25_000,
    "1," * 25_000,
    "the answer is" + " " * 50_000,
    "answer" + " a" * 25_000,
    "$" * 50_000,
    "9" * 50_000,
    "答案是" * 15_000,
    "Final Answer:" * 5_000,
    "\\boxed{1" + " " * 50_000 + "2}",
    "The final answer is 1" + " " * 50_000 + "x",
    "The answer is 1" + " " * 50_000 + "x\n",
    "答案是" + "A" * 50_000 + "x",
    "答案是 A" + " " * 50_000 + "x",
    "final answer" + " " * 50_000,
    "answer:" + "(" * 50_000,
]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({n for n, *_ in NAMED if "_choice_" not in n}))
def test_hostile_outputs_take_linear_time(name):
    """A quadratic rule would take minutes and hit the test's time limit."""
    extract = registry.find("answer_extraction_fn", name)
    for text in HOSTILE:
        assert isinstance(extract(text, SAMPLE_OF.get(name, FOUR)), list)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5.0),
        ("+65.49", 65.49),
        ("1,234.5", 1234.5),
        (r"3.2 \times 10^5", 3.2e5),
        (r"$3.2 \times 10^{-5}$", 3.2e-5),
        ("3.2e5", 3.2e5),
        ("23{,}000", 23000.0),
        (".5", 0.5),
        *((text, None) for text in ("abc", "", "1 2", "nan", "inf", "1e999", "1_000", "1/2")),
    ],
)
def test_parse_number(text, value):
    assert parse_number(text) == (value if value is None else pytest.approx(value))
