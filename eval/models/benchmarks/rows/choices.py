"""Rows of multiple-choice benchmarks.

The question for a base model asks which option is right. A tuned model is asked by its prompt,
so its question has the options only.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gradebox.eval.models.benchmarks.rows.fields import (
    BadRow,
    as_text,
    first_example,
    letter_at,
    letter_of,
    option_letter,
    parsed_json,
    row_id,
    text,
    texts,
    value,
)
from gradebox.eval.models.benchmarks.sample import LETTERS, Process, Row, Sample

ASK = "Which of these is the right choice? Explain your answer."
ASK_ASSERTION = "Is the statement correct? Which of these is the right choice? Explain your answer."
ASK_ZH = "以下哪个选项是正确的？请简单说明理由。"

_INLINE_OPTION = re.compile(r"(?:^|[\s,])\(?([A-Ga-g])(?:\s*\)|\.\s)\s*")
_BRACKETED_OPTION = re.compile(r"^\(([A-D])\)\s*")


@dataclass(frozen=True)
class ChoiceRow:
    """The contents of a row; `right` is the letter of the right option, or several letters."""

    question: str
    options: tuple[str, ...]
    right: str
    id: str = ""


def split_inline(options: str) -> tuple[str, ...]:
    """Return the options of "A) 1 B) 2", "A. 1 B. 2" or "a ) 1 , b ) 2"; letters are in order."""
    if options.startswith("['") and options.endswith("']"):
        # Some rows of MathQA have a Python list as text.
        options = options[2:-2].replace("', '", " , ")
    found: list[tuple[int, int]] = []
    for match in _INLINE_OPTION.finditer(options):
        if match[1].upper() == LETTERS[len(found)]:
            found.append((match.start(), match.end()))
    if len(found) < 2:
        raise BadRow(f"field 'options' is {options[:60]!r}; write it as A) … B) …")
    ends = [start for start, _ in found[1:]] + [len(options)]
    return tuple(
        options[begin:end].strip().rstrip(",").strip()
        for (_, begin), end in zip(found, ends, strict=True)
    )


def shuffle_by_key(options: Sequence[str], key: str) -> tuple[str, ...]:
    """Return the options in an order that depends only on `key`.

    The files have the right option first. One seed for all questions would give it the same
    letter everywhere, so that a model that always answers this letter would always be right.
    """
    seed = int.from_bytes(hashlib.sha256(key.encode("utf-8", "replace")).digest()[:8], "big")
    result = list(options)
    random.Random(seed).shuffle(result)
    return tuple(result)


def _sat(row: Row) -> ChoiceRow:
    options = split_inline(text(row, "options"))
    right = option_letter(text(row, "Answer"), len(options), "Answer")
    return ChoiceRow(text(row, "question"), options, right, row_id(row))


def _mathqa(row: Row) -> ChoiceRow:
    options = split_inline(text(row, "options"))
    right = option_letter(text(row, "correct"), len(options), "correct")
    question = text(row, "problem")
    return ChoiceRow(question[:1].upper() + question[1:], options, right, row_id(row))


def _lettered(question: str, options: str, answer: str, *ids: str) -> Callable[[Row], ChoiceRow]:
    """Return a reader of rows with a list of options and the letter of the right one."""

    def read(row: Row) -> ChoiceRow:
        found = texts(row, options)
        right = option_letter(text(row, answer), len(found), answer)
        return ChoiceRow(text(row, question), found, right, row_id(row, *(ids or ("id",))))

    return read


_mmlu_stem = _lettered("question", "options", "answer")


def _column_options(
    question: str, columns: Sequence[str], answer: str, *, numbered: bool
) -> Callable[[Row], ChoiceRow]:
    """Return a reader of rows with a column per option.

    numbered  the answer is a 0-based number, not a letter
    """

    def read(row: Row) -> ChoiceRow:
        found = tuple(text(row, c) for c in columns)
        if numbered:
            right = letter_at(value(row, answer), len(found), answer)
        else:
            right = option_letter(text(row, answer), len(found), answer)
        return ChoiceRow(text(row, question), found, right, row_id(row))

    return read


def _mmlu(row: Row) -> ChoiceRow:
    """choices and a 0-based answer; some copies have options and a letter."""
    if row.get("choices") is None:
        return _mmlu_stem(row)
    options = texts(row, "choices")
    right = letter_at(value(row, "answer"), len(options), "answer")
    return ChoiceRow(text(row, "question"), options, right, row_id(row))


def _gpqa(row: Row) -> ChoiceRow:
    right = text(row, "Correct Answer")
    wrong = [text(row, f"Incorrect Answer {i}") for i in (1, 2, 3)]
    question = text(row, "Question")
    options = shuffle_by_key([right, *wrong], question)
    name = row_id(row, "id", "Record ID")
    return ChoiceRow(question, options, letter_of(right, options, "Correct Answer"), name)


def _medqa(row: Row) -> ChoiceRow:
    options = value(row, "options")
    if not isinstance(options, dict) or list(options) != list(LETTERS[: len(options)]):
        raise BadRow("field 'options' is not an object with the letters A, B, … in order")
    found = tuple(as_text(o, "options") for o in options.values())
    right = option_letter(text(row, "answer_idx"), len(found), "answer_idx")
    return ChoiceRow(text(row, "question"), found, right, row_id(row))


def _chembench(row: Row) -> ChoiceRow:
    example = first_example(row)
    scores = parsed_json(example, "target_scores")
    if not isinstance(scores, dict):
        raise BadRow("field 'target_scores' is not an object with a score for each option")
    right = [o for o, score in scores.items() if score == 1]
    if not right:
        raise BadRow("field 'target_scores' has no right option with score 1")
    options = tuple(scores)
    # The model is asked for one letter, so any of several right options is accepted.
    letters = "".join(letter_of(option, options, "target_scores") for option in right)
    return ChoiceRow(text(example, "input"), options, letters, row_id(row))


def _assertion(row: Row) -> ChoiceRow:
    answer = text(row, "Answer").lower()
    if answer not in ("true", "false"):
        raise BadRow(f"field 'Answer' is {answer!r}; use True or False")
    right = "A" if answer == "true" else "B"
    return ChoiceRow(text(row, "Question"), ("True", "False"), right, row_id(row, "id", "ID"))


def _newton_confident(row: Row) -> ChoiceRow:
    options = tuple(text(row, f"option_{i}") for i in (1, 2, 3))
    majority = value(row, "result_majority")
    try:
        index = int(float(majority)) - 1
    except (TypeError, ValueError, OverflowError):
        raise BadRow(f"field 'result_majority' is {majority!r}; use 1, 2 or 3") from None
    return ChoiceRow(
        text(row, "question"), options, letter_at(index, 3, "result_majority"), row_id(row)
    )


def _newton(count: int | None, context: bool = False) -> Callable[[Row], ChoiceRow]:
    """Return a reader of rows with choice_1 … and the right option's text in gt.

    count    number of options; None: two when q_type is boolean, else four
    context  put the field `context` before the question
    """

    def read(row: Row) -> ChoiceRow:
        number = count or (2 if row.get("q_type") == "boolean" else 4)
        options = tuple(text(row, f"choice_{i}") for i in range(1, number + 1))
        right = letter_of(text(row, "gt"), options, "gt")
        question = text(row, "question")
        if context:
            question = f"{text(row, 'context')} {question}"
        return ChoiceRow(question, options, right, row_id(row))

    return read


def _gaokao(row: Row) -> ChoiceRow:
    options = tuple(_BRACKETED_OPTION.sub("", option) for option in texts(row, "options"))
    # Some questions have several right options, and the answer must name all of them: "AD".
    label = "".join(c for c in text(row, "label") if c not in " ,、")
    right = "".join(option_letter(c, len(options), "label") for c in label)
    if not right:
        raise BadRow("field 'label' is empty; use letters from A to D")
    question = text(row, "question").rstrip("\\").rstrip()
    return ChoiceRow(question, options, right, row_id(row))


YES_NO_MAYBE = ("Yes", "No", "Maybe")


def _pubmed_context(row: Row) -> str:
    contexts = value(row, "context")
    if isinstance(contexts, dict):
        contexts = value(contexts, "contexts")
    if not isinstance(contexts, list):
        raise BadRow("field 'context' is not a list of texts")
    return "\n".join(f"- {as_text(c, 'context')}" for c in contexts)


def _pubmed(row: Row) -> ChoiceRow:
    decision = text(row, "final_decision").capitalize()
    right = letter_of(decision, YES_NO_MAYBE, "final_decision")
    question = f"Information:\n{_pubmed_context(row)}\n\nQuestion:\n{text(row, 'question')}"
    return ChoiceRow(question, YES_NO_MAYBE, right, row_id(row, "id", "pubid"))


def _pubmed_word(row: Row) -> Sample:
    """Return the sample for base models, whose answer is the word itself, in brackets."""
    choice = _pubmed(row)
    question = f"{choice.question}\nAnswer with one of (yes), (no) and (maybe)."
    right = YES_NO_MAYBE[LETTERS.index(choice.right)].lower()
    return Sample("pubmedqa", choice.id, question, (right,), tuple(w.lower() for w in YES_NO_MAYBE))


_medmcqa = _column_options("question", ("opa", "opb", "opc", "opd"), "cop", numbered=True)
_cs_bench = _column_options("Question", "ABCD", "Answer", numbered=False)
_piqa = _column_options("goal", ("sol1", "sol2"), "label", numbered=True)
_mmlu_pro = _lettered("question", "options", "answer", "question_id", "id")
_super_gpqa = _lettered("question", "options", "answer_letter", "uuid", "id")
_newton_implicit = _newton(4, context=True)


def _choice(
    dataset: str,
    read: Callable[[Row], ChoiceRow],
    ask: str = "",
    separator: str = "\n",
    label: str = "({letter}) {option}",
) -> Process:
    """Return a process function.

    ask        text between the question and its options
    separator  text between two options
    label      format of an option
    """

    def process(row: Row) -> Sample:
        choice = read(row)
        listed = separator.join(
            label.format(letter=letter, option=option)
            for letter, option in zip(LETTERS, choice.options, strict=False)
        )
        question = "\n".join(part for part in (choice.question, ask, listed) if part)
        return Sample(dataset, choice.id, question, tuple(choice.right), choice.options)

    return process


_gaokao_mathqa = _choice(
    "agieval-gaokao-mathqa", _gaokao, "从以下选项中选择：", " ", "({letter}){option}"
)

PROCESS_FUNCTIONS: dict[str, Process] = {
    # For base models, whose question asks for the choice
    "process_math_sat": _choice("math_sat", _sat, ASK),
    "process_mathqa": _choice("mathqa", _mathqa, ASK),
    "process_mmlu_stem": _choice("mmlu_stem", _mmlu_stem, ASK, ", "),
    "process_mmmlu_zh_math": _choice("mmmlu_zh", _mmlu_stem, ASK_ZH, ", "),
    "process_mmlu": _choice("mmlu", _mmlu, ASK),
    "process_gpqa": _choice("gpqa", _gpqa, ASK),
    "process_medqa": _choice("medqa", _medqa, ASK),
    "process_medmcqa": _choice("medmcqa", _medmcqa, ASK),
    "process_ChemBench_multi_choise": _choice("ChemBench", _chembench, ASK),
    "process_cs_bench_multiple_choice": _choice("cs_bench", _cs_bench, ASK),
    "process_cs_bench_assertion": _choice("cs_bench_assertion", _assertion, ASK_ASSERTION),
    "process_newton_confident_questions": _choice("newton_confident", _newton_confident, ASK),
    "process_newton_explicit_questions": _choice("newton_explicit", _newton(None), ASK),
    "process_newton_implicit_questions": _choice("newton_implicit", _newton_implicit, ASK),
    "process_piqa": _choice("piqa", _piqa, ASK),
    "process_pubmedqa": _pubmed_word,
    "process_agieval_gaokao_mathqa": _gaokao_mathqa,
    "process_agieval_gaokao_mathqa_few_shot_cot_test": _gaokao_mathqa,
    # For tuned models, whose prompt asks for the choice
    "process_mmlu_sft": _choice("mmlu", _mmlu),
    "process_mmlu_pro": _choice("mmlu_pro", _mmlu_pro),
    "process_super_gpqa": _choice("super_gpqa", _super_gpqa),
    "process_gpqa_sft": _choice("gpqa", _gpqa),
    "process_medqa_sft": _choice("medqa", _medqa),
    "process_medmcqa_sft": _choice("medmcqa", _medmcqa),
    "process_ChemBench_multi_choise_sft": _choice("ChemBench", _chembench),
    "process_cs_bench_multiple_choice_sft": _choice("cs_bench", _cs_bench),
    "process_cs_bench_assertion_sft": _choice("cs_bench_assertion", _assertion),
    "process_newton_confident_questions_sft": _choice("newton_confident", _newton_confident),
    "process_newton_explicit_questions_bool_sft": _choice("newton_explicit", _newton(2)),
    "process_newton_explicit_questions_mc_sft": _choice("newton_explicit", _newton(4)),
    "process_newton_implicit_questions_sft": _choice("newton_implicit", _newton_implicit),
    "process_piqa_sft": _choice("piqa", _piqa),
    "process_pubmedqa_sft": _choice("pubmedqa", _pubmed),
}
