"""Science questions with a free answer: a number with a unit, a name, an expression."""

from __future__ import annotations

from eval.benchmarks.extraction.units import power_of_ten
from eval.benchmarks.fields import BadRow, optional, row_id, text, texts, value
from eval.benchmarks.model import Row, Sample
from eval.benchmarks.registry import named


@named("process_fn", "process_scibench_sft")
def scibench_tuned(row: Row) -> Sample:
    """problem_text, answer_number, unit.

    The unit is told in the question. A unit such as "$10^{-3}$ m" is told without its power
    of ten, which then belongs to the number on both sides.
    """
    return _scibench(row, *power_of_ten(optional(row, "unit")))


@named("process_fn", "process_scibench")
def scibench(row: Row) -> Sample:
    """The same, the unit told as it stands: eval functions that know nothing of units fit."""
    return _scibench(row, optional(row, "unit"), 0)


def _scibench(row: Row, bare: str, exponent: int) -> Sample:
    question = text(row, "problem_text")
    if bare:
        question += f" The unit of the answer is {bare}."
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


@named("process_fn", "process_ChemBench_str_match")
def chembench_text(row: Row) -> Sample:
    """examples[0] with input and target."""
    example = first_example(row)
    return Sample("ChemBench", row_id(row), text(example, "input"), (text(example, "target"),))


def first_example(row: Row) -> Row:
    """ChemBench keeps its question in a list of one."""
    examples = value(row, "examples")
    if not (isinstance(examples, list) and examples and isinstance(examples[0], dict)):
        raise BadRow("field 'examples' is not a list of questions")
    found: Row = examples[0]
    return found


@named("process_fn", "process_olympic_arena_sft")
def olympic_arena(row: Row) -> Sample:
    """prompt, answer (a list), type_sequence (what each answer is), unit."""
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
