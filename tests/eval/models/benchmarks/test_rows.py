"""Process functions: rows → samples, and bad rows."""

from collections import Counter
from typing import Any

import pytest

from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.row_parts import shuffle_by_key, split_inline
from gradebox.eval.models.benchmarks.sample import Sample
from gradebox.eval.problems.row import RowError
from testing.rows import rows


def process(name: str, row: dict[str, Any]) -> Sample:
    return registry.find("process_fn", name)(row)


def test_published_form_of_gsm8k():
    row = {"question": "?", "answer": "9 * 2 = <<9*2=18>>18\n#### 1,800"}
    sample = process("process_gsm8k_test", row)
    assert sample.answers == ("1800",)
    assert sample.reference == "9 * 2 = 18"


@pytest.mark.parametrize(
    ("solution", "answers"),
    [
        (r"so $\boxed{5}$", ("5",)),
        (r"$\boxed{3}$ and $\boxed{4}$", ("3", "4")),
        (r"\boxed{2 \text{ and } 3}", ("2", "3")),
        (r"$\boxed{\left(3, \frac{\pi}{2}\right)}$", (r"\left(3, \frac{\pi}{2}\right)",)),
    ],
)
def test_reference_answers_of_math_are_boxed(solution, answers):
    row = {"problem": "?", "solution": solution, "level": "Level 1"}
    assert process("process_math_test", row).answers == answers


def test_questions_include_their_options():
    row = {"question": "Which?", "choices": ["red", "green"], "answer": 1, "subject": "s"}
    few_shot, tuned = process("process_mmlu", row), process("process_mmlu_sft", row)
    assert few_shot.question == (
        "Which?\nWhich of these is the right choice? Explain your answer.\n(A) red\n(B) green"
    )
    assert tuned.question == "Which?\n(A) red\n(B) green"
    assert few_shot.answers == tuned.answers == ("B",)
    assert tuned.options == ("red", "green")


def test_mmlu_with_letters():
    row = {"question": "Which?", "options": ["red", "green"], "answer": "b"}
    assert process("process_mmlu", row).answer == "B"


def test_right_options_of_gpqa_have_different_letters():
    letters = Counter()
    for i in range(400):
        row = {"Question": f"Question {i}?", "Correct Answer": "right"}
        row |= {f"Incorrect Answer {n}": f"wrong {n}" for n in (1, 2, 3)}
        sample = process("process_gpqa", row)
        assert sample.options["ABCD".index(sample.answer)] == "right"
        assert sample == process("process_gpqa", row), "the same on every machine"
        letters[sample.answer] += 1
    assert set(letters) == set("ABCD") and min(letters.values()) > 60, letters


def test_the_shuffle_is_fixed():
    """Published figures depend on the order, so a Python version must not change it."""
    assert shuffle_by_key(["a", "b", "c", "d"], "What?") == ("a", "b", "c", "d")
    assert shuffle_by_key(["a", "b", "c", "d"], "Why?") == ("d", "a", "b", "c")


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ("A) $4$ B) $8$ C) $16$ D) $2$", ("$4$", "$8$", "$16$", "$2$")),
        ("a ) 9.50 , b ) 10 , c ) 11", ("9.50", "10", "11")),
        ("(A) x, (B) f(B) y (C) z", ("x", "f(B) y", "z")),
        ("A. $\\frac{1}{2}$ B. 2.5 C. 3", (r"$\frac{1}{2}$", "2.5", "3")),
        ("['a ) 462 cm', 'b ) 530 cm', 'c ) 5']", ("462 cm", "530 cm", "5")),
    ],
)
def test_options_in_one_line(options, parts):
    assert split_inline(options) == parts


def test_tabmwp():
    row = {"table_title": "Rain", "table": "a | b", "question": "Most?", "choices": ["x", "y"]}
    sample = process("process_tabmwp", row | {"answer": "y"})
    assert sample.question == (
        'Read the following table regarding "Rain" and answer a question:\na | b\nMost? '
        "Please select from the following options: x, y"
    )
    assert sample.options == ("x", "y")


def test_scibench_leaves_the_power_of_ten_out_of_the_unit():
    row = {"problem_text": "How far?", "answer_number": "+1.08", "unit": r"$10^{12} \mathrm{~m}$"}
    sample = process("process_scibench_sft", row)
    assert sample.question == r"How far? The unit of the answer is $\mathrm{~m}$."
    assert sample.answer == "1.08" and sample.extra == {"unit": row["unit"]}
    sample = process("process_scibench", row)
    assert sample.question == r"How far? The unit of the answer is $10^{12} \mathrm{~m}$."
    assert sample.extra == {}


def test_gaokao_questions_with_several_right_letters():
    row = {"question": "?", "options": ["(A)1", "(B)2", "(C)3", "(D)4"]}
    for label in ("AD", "A D", "A,D"):
        sample = process("process_agieval_gaokao_mathqa", row | {"label": label})
        assert sample.answers == ("A", "D")
    with pytest.raises(RowError, match="'label' is empty"):
        process("process_agieval_gaokao_mathqa", row | {"label": ","})


def test_any_of_several_right_options_of_chembench_is_right():
    scores = '{"red": 0, "green": 1, "blue": 1}'
    row = {"examples": [{"input": "Which?", "target_scores": scores}]}
    assert process("process_ChemBench_multi_choise_sft", row).answers == ("B", "C")


def test_the_word_of_pubmedqa_for_base_models():
    row = {"question": "?", "context": ["x"], "final_decision": "no", "pubid": 7}
    sample = process("process_pubmedqa", row)
    assert (sample.id, sample.answers, sample.options) == ("7", ("no",), ("yes", "no", "maybe"))


BAD = rows(__file__, "bad")


@pytest.mark.parametrize(("name", "row", "words"), BAD)
def test_bad_rows(name, row, words):
    with pytest.raises(RowError) as caught:
        process(name, row)
    assert words in str(caught.value)
