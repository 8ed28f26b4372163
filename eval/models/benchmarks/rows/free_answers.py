"""Rows of benchmarks whose answers are numbers, expressions or names.

Each docstring lists the fields of the benchmark's rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from gradebox.eval.models.answers.boxed import all_boxed
from gradebox.eval.models.benchmarks.extraction.markers import announced_answer
from gradebox.eval.models.benchmarks.extraction.numbers import split_power_of_ten
from gradebox.eval.models.benchmarks.extraction.split import split_answers
from gradebox.eval.models.benchmarks.rows.fields import (
    BadRow,
    as_text,
    first_example,
    optional,
    row_id,
    text,
    texts,
    value,
)
from gradebox.eval.models.benchmarks.sample import Process, Row, Sample

_CALCULATION = re.compile(r"<<[^<>]*>>")
_UNIT_IN_BRACKETS = re.compile(r"\([^()]*\)")
OPTIONS_INTRO = "Please select from the following options:"


def _without_commas(answer: str) -> str:
    return answer.replace(",", "")


def _plain(
    dataset: str,
    question: str,
    answer: str,
    *,
    ids: Sequence[str] = ("id",),
    reference: str = "",
    extra: Sequence[str] = (),
) -> Process:
    """Return a process function for rows with these fields for question and answer.

    ids        fields of the id, the first one present is taken
    reference  field of the worked solution
    extra      fields that are copied into the sample
    """

    def process(row: Row) -> Sample:
        return Sample(
            dataset=dataset,
            id=row_id(row, *ids),
            question=text(row, question),
            answers=(text(row, answer),),
            reference=optional(row, reference),
            extra={name: row[name] for name in extra if name in row},
        )

    return process


def gsm8k(row: Row) -> Sample:
    """question, answer ("18", or a solution whose last line is "#### 18"), cot."""
    answer = text(row, "answer")
    solution, mark, last = answer.rpartition("####")
    return Sample(
        dataset="gsm8k",
        id=row_id(row),
        question=text(row, "question"),
        answers=(_without_commas(last.strip() if mark else answer),),
        reference=_CALCULATION.sub("", solution.strip() if mark else optional(row, "cot")),
    )


def math(row: Row) -> Sample:
    """problem, solution; the boxed answers of the solution are the reference answers."""
    question, solution = text(row, "problem"), text(row, "solution")
    boxed = all_boxed(solution) or announced_answer(solution)
    if not boxed:
        raise BadRow("field 'solution' has no \\boxed{…} answer")
    return Sample(
        dataset="math",
        id=row_id(row, "id", "unique_id"),
        question=question,
        answers=tuple(split_answers(question, boxed)),
        reference=solution,
        extra={n: row[n] for n in ("level", "type", "category") if n in row},
    )


def olympiad_bench(row: Row) -> Sample:
    """question, final_answer (a list), error (the tolerance of a number)."""
    answers = texts(row, "final_answer")
    if not answers:
        raise BadRow("field 'final_answer' is empty; proofs have no answer to compare")
    return Sample(
        dataset="olympiad_bench",
        id=row_id(row),
        question=text(row, "question"),
        answers=answers,
        extra={
            "category": optional(row, "subfield"),
            "error": optional(row, "error"),
            "is_multiple_answer": row.get("is_multiple_answer") is True,
        },
    )


def cmath(row: Row) -> Sample:
    """question, golden, grade."""
    sample = _plain("cmath", "question", "golden", extra=("grade", "reasoning_step"))(row)
    return replace(sample, answers=(_without_commas(sample.answer),))


def svamp(row: Row) -> Sample:
    """Body, Question, Answer."""
    body = text(row, "Body")
    body = body if body.endswith((".", "!", "?")) else body + "."
    question = f"{body} {text(row, 'Question')}"
    return Sample("svamp", row_id(row, "id", "ID"), question, (text(row, "Answer"),))


def asdiv(row: Row) -> Sample:
    """body, question, answer with its unit in brackets: "9 (apples)"."""
    question = f"{text(row, 'body')} {text(row, 'question')}"
    answer = _UNIT_IN_BRACKETS.sub("", text(row, "answer")).strip()
    return Sample("asdiv", row_id(row), question, (answer,))


def tabmwp(row: Row) -> Sample:
    """table, table_title, question, choices (a list or null), answer."""
    title = optional(row, "table_title")
    regarding = f' regarding "{title}"' if title else ""
    question = (
        f"Read the following table{regarding} and answer a question:\n"
        f"{text(row, 'table')}\n{text(row, 'question')}"
    )
    options = texts(row, "choices") if row.get("choices") else ()
    answer = text(row, "answer")
    if options:
        question += f" {OPTIONS_INTRO} {', '.join(options)}"
    return Sample(
        dataset="tabmwp",
        id=row_id(row),
        question=question,
        answers=(answer if options else _without_commas(answer),),
        options=options,
        extra={"type": "multiple-choice" if options else "short-answer"},
    )


def mgsm_zh(row: Row) -> Sample:
    """answer, and the question in `question` or in the first of `messages`."""
    if row.get("question") is not None:
        question = text(row, "question")
    else:
        messages = value(row, "messages")
        if not (isinstance(messages, list) and messages and isinstance(messages[0], dict)):
            raise BadRow("field 'messages' is not a list of messages")
        question = as_text(value(messages[0], "content"), "content")
    return Sample("mgsm_zh", row_id(row), question, (_without_commas(text(row, "answer")),))


def gaokao_cloze(row: Row) -> Sample:
    """question, answer: "$5$;$10$" for several blanks, in their order."""
    parts = [part.strip().strip("$").strip() for part in text(row, "answer").split(";")]
    return Sample("agieval-gaokao-mathcloze", row_id(row), text(row, "question"), tuple(parts))


def scibench_sft(row: Row) -> Sample:
    """problem_text, answer_number, unit.

    A unit such as "$10^{-3}$ m" is put into the question without its power of ten, which then
    belongs to the number: `eval_scibench` multiplies the reference by it.
    """
    return _scibench(row, *split_power_of_ten(optional(row, "unit")))


def scibench(row: Row) -> Sample:
    """problem_text, answer_number, unit; the question has the unit with its power of ten."""
    return _scibench(row, optional(row, "unit"), 0)


def _scibench(row: Row, unit: str, exponent: int) -> Sample:
    question = text(row, "problem_text")
    if unit:
        question += f" The unit of the answer is {unit}."
    return Sample(
        dataset="scibench",
        id=row_id(row),
        question=question,
        answers=(text(row, "answer_number").lstrip("+"),),
        reference=optional(row, "solution"),
        extra={
            "unit": optional(row, "unit"),
            "exponent": exponent,
            "subject": optional(row, "subject"),
            "source": optional(row, "source"),
        },
    )


def chembench(row: Row) -> Sample:
    """examples[0] with input and target."""
    example = first_example(row)
    return Sample("ChemBench", row_id(row), text(example, "input"), (text(example, "target"),))


def olympic_arena(row: Row) -> Sample:
    """prompt, answer (a list), type_sequence (the kind of each answer)."""
    answers = texts(row, "answer")
    if not answers:
        raise BadRow("field 'answer' is empty")
    kinds = texts(row, "type_sequence") if row.get("type_sequence") else ()
    return Sample(
        dataset="olympic_arena",
        id=row_id(row),
        question=text(row, "prompt"),
        answers=answers,
        extra={"kinds": kinds, "subject": optional(row, "subject")},
    )


PROCESS_FUNCTIONS: dict[str, Process] = {
    "process_gsm8k_test": gsm8k,
    "process_math_test": math,
    "process_math500": _plain(
        "math500",
        "problem",
        "answer",
        ids=("id", "unique_id"),
        reference="solution",
        extra=("level", "subject"),
    ),
    "process_olympiad_bench": olympiad_bench,
    "process_amc": _plain("amc", "problem", "answer"),
    "process_ocwcourses": _plain("ocw", "problem", "answer", reference="solution"),
    "process_svamp": svamp,
    "process_asdiv": asdiv,
    "process_mawps": _plain("mawps", "input", "target"),
    "process_tabmwp": tabmwp,
    "process_mgsm_zh": mgsm_zh,
    "process_cmath": cmath,
    "process_agieval_gaokao_math_cloze": gaokao_cloze,
    "process_scibench": scibench,
    "process_scibench_sft": scibench_sft,
    "process_ChemBench_str_match": chembench,
    "process_olympic_arena_sft": olympic_arena,
}
