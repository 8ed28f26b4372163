"""Extraction functions: a table of outputs and extracted answers for each."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.extraction.numbers import (
    parse_leading_number,
    parse_number,
    split_power_of_ten,
)
from gradebox.eval.models.benchmarks.extraction.split import split_commas
from gradebox.eval.models.benchmarks.sample import Sample

QUESTION = Sample("d", "1", "How many?", ("5",))
COMMAS = Sample("d", "1", "Find all x. Enter them separated by commas.", ("3", "4"))
FOUR = Sample("d", "1", "Which?", ("B",), ("red", "green apples", "blue", "none of these"))
TABLE = Sample("d", "1", "Which?", ("July",), ("May", "July", "has enough", "does not have enough"))
TWO_BLANKS = Sample("d", "1", "填空", ("14", "40"))

BOX = r"so $\boxed{%s}$."

CASES = {
    "extract_last_single_answer": [
        (BOX % "5", ["5"]),
        (r"\boxed{4}, no: \boxed{5}", ["5"]),
        (r"\boxed{\frac{1}{2}}", [r"\frac{1}{2}"]),
        ("The final answer is $5$. I hope it is correct.", ["5"]),
        ("The answer is 5.", ["5"]),
        ("the answer is: **$x+1$**.", ["x+1"]),
        ("It is 1,234.5 in all", ["1234.5"]),
        ("between -3 and -7", ["-7"]),
        ("It is 5. Then 2024 ended.", ["2024"]),
        ("<think>\\boxed{9}</think>The answer is 5", ["5"]),
        ("<think>It may be \\boxed{9}, but", []),
        ("答案是：5。", ["5"]),
        ("no idea", []),
        ("", []),
        (r"\boxed{", []),
    ],
    "extract_gsm_few_shot_cot_answer": [
        ("3 * 4 = 12. The answer is 12.\n\nQ: Another? 77", ["12"]),
        ("It costs $1,250 then", ["1250"]),
        ("The answer is $5 and not 7", ["7"]),
        ("The answer is 12. Since 3 of them", ["3"]),
        (BOX % "5" + " in 2 days", ["5"]),
        ("-4", ["-4"]),
        ("2.50", ["2.50"]),
        ("The answer is 7/9.", ["7/9"]),
        ("Ben has 4, Ann 3.\nThe answer is Ben.\n", ["Ben"]),
        ("The answer is near.\n3 + 4 = 7", ["7"]),
        ("It is at 8:15", ["8:15"]),
        ("10/4=2.5", ["2.5"]),
        ("none", []),
    ],
    "extract_math_few_shot_cot_answer": [
        ("Final Answer: The final answer is $6$. I hope it is correct.", ["6"]),
        ("The final answer is $6$. I hope it is correct.\n\nProblem:\n1\n\\boxed{9}", ["6"]),
        (r"\boxed{2} and then \boxed{3}", ["2", "3"]),
        (r"\boxed{2 \text{ and } 3}", ["2", "3"]),
        (r"\boxed{1, 2, and 3}", ["1, 2", "3"]),
        (r"\boxed{1,000}", ["1,000"]),
        (r"\boxed{(1,2)}", ["(1,2)"]),
        ("The answer is yes.", ["yes"]),
    ],
    "extract_olympiad_math_answer": [
        ("Final Answer: The final answer is $36$. I hope it is correct.", ["36"]),
        ("Final Answer: $n = 5$\nfurther words", ["n = 5"]),
        (r"**Final Answer:** \boxed{8}", ["8"]),
        (r"thus \boxed{7}", ["7"]),
        ("", []),
    ],
    "extract_ocwcourses_few_shot_answer": [
        ("Final answer: The final answer is 2.48. I hope it is correct.", ["2.48"]),
        (r"The final answer is $3 x^{2}$. I hope it is correct.", ["3 x^{2}"]),
        ("The final answer is 2.48.", ["2.48"]),
        ("nothing here 5", []),
    ],
    "extract_mmlu_stem": [
        ("It is green. The answer is (B).", ["B"]),
        ("(A) is red, (B) is right", ["B"]),
        ("the final answer is (c). I hope", ["C"]),
        ("The answer is B\n\nProblem:\nnext\nThe answer is (D)", ["B"]),
        ("(E)", []),
        ("A long day", []),
    ],
    "extract_sat_few_shot_answer": [
        ("the final answer is (D)", ["D"]),
        ("The final answer is D.", ["D"]),
    ],
    "extract_mathqa_few_shot_answer": [("The answer is (E).", ["E"]), ("(F)", [])],
    "extract_medqa": [("The answer is (E).", ["E"])],
    "extract_super_gpqa": [("The answer is (J).", ["J"]), ("(K)", [])],
    "extract_mmlu_sft_answer": [
        ("Because.\nAnswer: B", ["B"]),
        ("**Answer: (B)**", ["B"]),
        ("Answer: $B", ["B"]),
        ("Answer: \\boxed{B}", ["B"]),
        (r"\boxed{\text{B}}", ["B"]),
        (r"\boxed{B) green apples}", ["B"]),
        ("The correct option is **B**.", ["B"]),
        ("B", ["B"]),
        ("(B).", ["B"]),
        ("B) green apples", ["B"]),
        ("Of all of them, B is the correct choice", ["B"]),
        ("The answer is: green apples.", ["B"]),
        ("Green apples", ["B"]),
        (r"\boxed{Green Apples}", ["B"]),
        ("Answer: A\nWait.\nAnswer: B", ["B"]),
        ("First I said the answer is A.\n\nAnswer: B", ["B"]),
        ("<think>Answer: C</think>Answer: B", ["B"]),
        ("Answer: E", []),
        ("The answer is a colour", []),
        ("The answer is A colour that I like", []),
        ("The answer is not B", []),
        ("I am sure", []),
        ("", []),
    ],
    "extract_two_choice_sft_answer": [("Answer: B", ["B"]), ("Answer: C", [])],
    "extract_three_choice_sft_answer": [("Answer: C", ["C"]), ("Answer: D", [])],
    "extract_five_choice_sft_answer": [("Answer: E", ["E"]), ("Answer: F", [])],
    "extract_super_gpqa_sft_answer": [("Answer: I", ["I"]), ("Answer: J.", ["J"])],
    "extract_adaptive_mc_sft_answer": [("Answer: D", ["D"]), ("Answer: E", [])],
    "extract_pubmedqa": [
        ("The final answer is (maybe).", ["maybe"]),
        ("The answer is Yes.", ["yes"]),
        ("(no)\n\nQuestion: next (yes)", ["no"]),
        ("unclear", []),
    ],
    "extract_tabmwp_few_shot_answer": [
        ("The answer is July.", ["July"]),
        ("May was dry, July wet", ["July"]),
        ("23 is more than 22. The answer is does not have enough.", ["does not have enough"]),
        ("So he does not have enough", ["does not have enough"]),
        ("Maybe", []),
    ],
    "extract_cmath_few_shot_test": [
        ("8 * 6 = 48。答案是 48。", ["48"]),
        ("答案是：1,640元", ["1640"]),
        ("答案为 2.5\n问题：下一题 答案是 9", ["2.5"]),
        ("一共 48 支", ["48"]),
        ("不知道", []),
    ],
    "extract_agieval_gaokao_mathcloze_few_shot_cot_test": [
        ("答案是 $14$;$40$", ["14", "40"]),
        ("答案是 $14$，$40$。", ["14", "40"]),
        ("答案是 $(1,2)$", ["(1,2)"]),
        ("答案是 一,二;三", ["一,二", "三"]),
        (r"\boxed{14}, \boxed{40}", ["14", "40"]),
        ("不会", []),
    ],
    "extract_agieval_gaokao_mathqa_few_shot_cot_test": [
        ("所以答案是 (C)。", ["C"]),
        ("答案是 C\n问题 下一题 答案是 D", ["C"]),
        ("答案：B", ["B"]),
        ("答案是 A、D。", ["A、D"]),
        ("答案是 AD", ["AD"]),
        ("不会", []),
    ],
    "extract_mmmlu_zh_math": [("所以答案是： (B)", ["B"]), ("选 (D)", ["D"])],
    "extract_scibench_sft_answer": [(r"therefore \boxed{9.81}.", ["9.81"]), ("is 9.81", ["9.81"])],
    "extract_olympic_arena_sft_answer": [(r"\boxed{1} \boxed{210}", ["210"]), ("210", [])],
    "placeholder": [("5", ["5"]), (" 5/6 \n", ["5/6"]), ("", [])],
}

SAMPLE_OF = {
    "extract_tabmwp_few_shot_answer": TABLE,
    "extract_agieval_gaokao_mathcloze_few_shot_cot_test": TWO_BLANKS,
}
NAMED = [(name, *case) for name, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(("name", "output", "expected"), NAMED)
def test_extracted_answers(name: str, output: str, expected: list[str]) -> None:
    choice = name.endswith("_sft_answer") and "scibench" not in name and "olympic" not in name
    sample = SAMPLE_OF.get(name, FOUR if choice else QUESTION)
    assert registry.find("answer_extraction_fn", name)(output, sample) == expected


def test_several_answers_are_split_as_the_question_asks() -> None:
    extract = registry.find("answer_extraction_fn", "extract_math_few_shot_cot_answer")
    assert extract(r"\boxed{3, 4}", COMMAS) == ["3", "4"]
    assert extract(r"\boxed{3, 4}", QUESTION) == ["3, 4"]
    assert extract(r"\boxed{(3, 4)}", COMMAS) == ["(3, 4)"]
    assert registry.find("answer_extraction_fn", "placeholder")("3, 4", COMMAS) == ["3", "4"]
    assert registry.find("answer_extraction_fn", "extract_olympic_arena_sft_answer")(
        r"\boxed{7, 1}", COMMAS
    ) == [
        "7",
        "1",
    ]


def test_every_extraction_function_is_tested() -> None:
    functions = {f: n for n, f in registry.TABLES["answer_extraction_fn"].items()}
    tested = {registry.find("answer_extraction_fn", name) for name in CASES}
    # The same functions with the same number of letters as a tested one.
    same_kind = {"extract_gpqa_sft_answer", "extract_mmlu_pro_sft_answer"}
    same_kind |= {"extract_super_gpqa_few_shot_answer"}
    assert {name for f, name in functions.items() if f not in tested} <= same_kind


@settings(max_examples=30)
@given(text=st.text("\\boxed{}() ,.ABCDanswer:is$\n5Q答案是问题：", max_size=200))
def test_extraction_never_raises(text: str) -> None:
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
@pytest.mark.parametrize("name", [n for n in CASES if "_choice_" not in n])
def test_hostile_outputs_take_linear_time(name: str) -> None:
    """A quadratic rule would take minutes and hit the test's time limit."""
    extract = registry.find("answer_extraction_fn", name)
    for text in HOSTILE:
        assert isinstance(extract(text, SAMPLE_OF.get(name, FOUR)), list)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1,2", ["1", "2"]),
        ("1, 2", ["1", "2"]),
        ("1,000", ["1,000"]),
        ("1,000,000", ["1,000,000"]),
        ("1,000, 2", ["1,000", "2"]),
        ("(1,2),3", ["(1,2)", "3"]),
        ("1,2345", ["1", "2345"]),
        ("", []),
        (",,", []),
    ],
)
def test_split_commas(text: str, parts: list[str]) -> None:
    assert split_commas(text) == parts


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
def test_parse_number(text: str, value: float | None) -> None:
    assert parse_number(text) == (value if value is None else pytest.approx(value))


def test_a_number_with_its_unit() -> None:
    assert parse_leading_number("12.5 m/s") == 12.5
    assert parse_leading_number(r"1.5 \times 10^3 \mathrm{~J}") == 1500.0
    assert parse_leading_number("about 5") is None


@pytest.mark.parametrize(
    ("unit", "bare", "exponent"),
    [
        (r"$\mathrm{atm}$ ", r"$\mathrm{atm}$", 0),
        (r"$10^{-3} \mathrm{~m}$", r"$\mathrm{~m}$", -3),
        (r"$10^6$ m", "m", 6),
        (r" $10^{3}$ ", "", 3),
        ("", "", 0),
    ],
)
def test_powers_of_ten_in_units(unit: str, bare: str, exponent: int) -> None:
    assert split_power_of_ten(unit) == (bare, exponent)
