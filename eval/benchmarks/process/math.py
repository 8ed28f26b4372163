"""Math word problems and competition math: a question, an answer, sometimes a solution."""

from __future__ import annotations

import re

from eval.benchmarks.extraction.marks import all_boxed, announced
from eval.benchmarks.extraction.split import split_answers
from eval.benchmarks.fields import BadRow, as_text, optional, row_id, text, texts, value
from eval.benchmarks.model import Row, Sample
from eval.benchmarks.registry import named

_CALCULATION = re.compile(r"<<[^<>]*>>")
_UNIT_IN_BRACKETS = re.compile(r"\([^()]*\)")
OPTIONS_MARK = "Please select from the following options:"


def _no_commas(answer: str) -> str:
    return answer.replace(",", "")


@named("process_fn", "process_gsm8k_test")
def gsm8k(row: Row) -> Sample:
    """question, answer ("18", or the published form with its last line "#### 18"), cot."""
    answer = text(row, "answer")
    solution, mark, last = answer.rpartition("####")
    return Sample(
        dataset="gsm8k",
        id=row_id(row),
        question=text(row, "question"),
        answers=(_no_commas(last.strip() if mark else answer),),
        reference=_CALCULATION.sub("", solution.strip() if mark else optional(row, "cot")),
    )


@named("process_fn", "process_math_test")
def math_test(row: Row) -> Sample:
    """problem, solution whose boxed answer is the reference."""
    question, solution = text(row, "problem"), text(row, "solution")
    boxed = all_boxed(solution) or announced(solution)
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


@named("process_fn", "process_math500")
def math500(row: Row) -> Sample:
    """problem, answer, solution."""
    return Sample(
        dataset="math500",
        id=row_id(row, "id", "unique_id"),
        question=text(row, "problem"),
        answers=(text(row, "answer"),),
        reference=optional(row, "solution"),
        extra={n: row[n] for n in ("level", "subject") if n in row},
    )


@named("process_fn", "process_olympiad_bench")
def olympiad_bench(row: Row) -> Sample:
    """question, final_answer (a list), error (the range a number may be off by)."""
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


@named("process_fn", "process_amc")
def amc(row: Row) -> Sample:
    """problem, answer (27.0 is 27)."""
    return Sample("amc", row_id(row), text(row, "problem"), (text(row, "answer"),))


@named("process_fn", "process_ocwcourses")
def ocw(row: Row) -> Sample:
    """problem, solution, answer."""
    return Sample(
        dataset="ocw",
        id=row_id(row),
        question=text(row, "problem"),
        answers=(text(row, "answer"),),
        reference=optional(row, "solution"),
    )


@named("process_fn", "process_svamp")
def svamp(row: Row) -> Sample:
    """Body, Question, Answer."""
    body = text(row, "Body")
    body = body if body.endswith((".", "!", "?")) else body + "."
    question = f"{body} {text(row, 'Question')}"
    return Sample("svamp", row_id(row, "id", "ID"), question, (text(row, "Answer"),))


@named("process_fn", "process_asdiv")
def asdiv(row: Row) -> Sample:
    """body, question, answer with its unit in brackets: "9 (apples)"."""
    question = f"{text(row, 'body')} {text(row, 'question')}"
    answer = _UNIT_IN_BRACKETS.sub("", text(row, "answer")).strip()
    return Sample("asdiv", row_id(row), question, (answer,))


@named("process_fn", "process_mawps")
def mawps(row: Row) -> Sample:
    """input, target."""
    return Sample("mawps", row_id(row), text(row, "input"), (text(row, "target"),))


@named("process_fn", "process_tabmwp")
def tabmwp(row: Row) -> Sample:
    """table, table_title, question, choices (a list or null), answer."""
    title = optional(row, "table_title")
    regarding = f' regarding "{title}"' if title else ""
    question = (
        f"Read the following table{regarding} and answer a question:\n"
        f"{text(row, 'table')}\n{text(row, 'question')}"
    )
    options = texts(row, "choices") if row.get("choices") else ()
    if options:
        question += f" {OPTIONS_MARK} {', '.join(options)}"
    return Sample(
        dataset="tabmwp",
        id=row_id(row),
        question=question,
        answers=(_no_commas(text(row, "answer")) if not options else text(row, "answer"),),
        options=options,
        extra={"type": "multiple-choice" if options else "short-answer"},
    )


@named("process_fn", "process_mgsm_zh")
def mgsm_zh(row: Row) -> Sample:
    """answer; the question in `question`, or as the first of `messages`."""
    if row.get("question") is not None:
        question = text(row, "question")
    else:
        messages = value(row, "messages")
        if not (isinstance(messages, list) and messages and isinstance(messages[0], dict)):
            raise BadRow("field 'messages' is not a list of messages")
        question = as_text(value(messages[0], "content"), "content")
    return Sample("mgsm_zh", row_id(row), question, (_no_commas(text(row, "answer")),))


@named("process_fn", "process_cmath")
def cmath(row: Row) -> Sample:
    """question, golden, grade."""
    return Sample(
        dataset="cmath",
        id=row_id(row),
        question=text(row, "question"),
        answers=(_no_commas(text(row, "golden")),),
        extra={n: row[n] for n in ("grade", "reasoning_step") if n in row},
    )


@named("process_fn", "process_agieval_gaokao_math_cloze")
def gaokao_cloze(row: Row) -> Sample:
    """question, answer: "$5$;$10$" when several blanks are to be filled, in their order."""
    parts = [part.strip().strip("$").strip() for part in text(row, "answer").split(";")]
    return Sample("agieval-gaokao-mathcloze", row_id(row), text(row, "question"), tuple(parts))
