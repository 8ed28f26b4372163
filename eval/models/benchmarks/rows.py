"""Process functions of benchmarks whose answers are numbers, expressions or names.

    a row of a test file ─ process function ─▶ Sample, or RowError

`PROCESS_FUNCTIONS` is the table of the names in configurations; `choice_rows` has those of
multiple-choice benchmarks. Both read fields with the functions here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from gradebox.eval.common.errors import RowError
from gradebox.eval.models.answers.equality import all_boxed
from gradebox.eval.models.benchmarks.extraction.texts import (
    announced_answer,
    split_answers,
    split_power_of_ten,
)
from gradebox.eval.models.benchmarks.sample import LETTERS, Process, Row, Sample

Field = str | Callable[[Row], Any]  # a field's name, or a function of the row


def value(row: Row, name: str) -> Any:
    """Return a required field."""
    if row.get(name) is None:
        present = ", ".join(list(row)[:12]) or "none"
        raise RowError(f"no field {name!r}; its fields are {present}")
    return row[name]


def text(row: Row, name: str) -> str:
    """Return a required field as stripped text, 27.0 as "27"."""
    return as_text(value(row, name), name)


def as_text(found: Any, name: str) -> str:
    """Return the value of field `name` as stripped text, 27.0 as "27"."""
    if isinstance(found, str):
        return found.strip()
    if isinstance(found, bool) or not isinstance(found, (int, float)):
        raise RowError(f"field {name!r} is a {type(found).__name__}, not a text")
    return str(int(found)) if isinstance(found, float) and found.is_integer() else str(found)


def read(row: Row, field: Field) -> Any:
    """Return a required field as text, or what the function returns."""
    return text(row, field) if isinstance(field, str) else field(row)


def texts(row: Row, name: str) -> tuple[str, ...]:
    """Return a required field that is a list of texts."""
    found = value(row, name)
    if not isinstance(found, list):
        raise RowError(f"field {name!r} is a {type(found).__name__}, not a list")
    return tuple(as_text(item, name) for item in found)


def optional(row: Row, name: str) -> str:
    """Return a field as text, "" when it is missing."""
    return "" if row.get(name) is None else text(row, name)


def row_id(row: Row, *names: str) -> str:
    """Return the first of the fields (default: "id") that is present, else ""."""
    for name in names or ("id",):
        if row.get(name) is not None:
            return as_text(row[name], name)
    return ""


def letter_at(index: Any, count: int, name: str) -> str:
    """Return the letter of a 0-based option number from field `name`."""
    if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < count:
        raise RowError(f"field {name!r} is {index!r}; use a whole number from 0 to {count - 1}")
    return LETTERS[index]


def option_letter(found: str, count: int, name: str) -> str:
    """Return the letter in field `name` in upper case; it must belong to one of `count` options."""
    upper = found.strip().strip("()").upper()
    if len(upper) != 1 or upper not in LETTERS[:count]:
        raise RowError(f"field {name!r} is {found!r}; use a letter from A to {LETTERS[count - 1]}")
    return upper


def letter_of(option: str, options: Sequence[str], name: str) -> str:
    """Return the letter of the option with the text of field `name`."""
    if option not in options:
        raise RowError(f"field {name!r} is {option[:60]!r}, which is not one of the options")
    return LETTERS[list(options).index(option)]


def parsed_json(row: Row, name: str) -> Any:
    """Return a required field that may be JSON inside a text."""
    found = value(row, name)
    if not isinstance(found, str):
        return found
    try:
        return json.loads(found)
    except (ValueError, RecursionError):
        raise RowError(f"field {name!r} is not JSON") from None


def first_example(row: Row) -> Row:
    """Return the question of a ChemBench row, which is in a list with one element."""
    examples = value(row, "examples")
    if not (isinstance(examples, list) and examples and isinstance(examples[0], dict)):
        raise RowError("field 'examples' is not a list of questions")
    found: Row = examples[0]
    return found


_CALCULATION = re.compile(r"<<[^<>]*>>")
_UNIT_IN_BRACKETS = re.compile(r"\([^()]*\)")
OPTIONS_INTRO = "Please select from the following options:"
IDS = ("id", "unique_id")


def _process(
    dataset: str,
    question: Field,
    answers: Field,
    *,
    ids: Sequence[str] = ("id",),
    reference: Field = "",
    extra: Sequence[str] | Callable[[Row], dict[str, Any]] = (),
) -> Process:
    """Return a process function for rows whose parts are in a field, or made by a function.

    answers    a text, or a tuple of several
    ids        fields of the id, the first one present is taken
    reference  the worked solution
    extra      fields that are copied into the sample, or a function that returns `Sample.extra`
    """

    def process(row: Row) -> Sample:
        asked, found = read(row, question), read(row, answers)
        return Sample(
            dataset=dataset,
            id=row_id(row, *ids),
            question=asked,
            answers=(found,) if isinstance(found, str) else found,
            reference=optional(row, reference) if isinstance(reference, str) else reference(row),
            extra=extra(row) if callable(extra) else {n: row[n] for n in extra if n in row},
        )

    return process


def _number_in(name: str) -> Callable[[Row], str]:
    return lambda row: text(row, name).replace(",", "")


def _gsm_answer(row: Row) -> str:
    """Return 18 of "18", or of a solution whose last line is "#### 18"."""
    return text(row, "answer").rpartition("####")[2].strip().replace(",", "")


def _gsm_solution(row: Row) -> str:
    solution, mark, _ = text(row, "answer").rpartition("####")
    return _CALCULATION.sub("", solution.strip() if mark else optional(row, "cot"))


def _boxed_answers(row: Row) -> tuple[str, ...]:
    solution = text(row, "solution")
    boxed = all_boxed(solution) or announced_answer(solution)
    if not boxed:
        raise RowError("field 'solution' has no \\boxed{…} answer")
    return tuple(split_answers(text(row, "problem"), boxed))


def _listed_answers(name: str, why: str = "") -> Callable[[Row], tuple[str, ...]]:
    def answers(row: Row) -> tuple[str, ...]:
        found = texts(row, name)
        if not found:
            raise RowError(f"field {name!r} is empty{why}")
        return found

    return answers


def _olympiad_extra(row: Row) -> dict[str, Any]:
    """Return the tolerance of a number (`error`), and whether one text has several answers."""
    return {
        "category": optional(row, "subfield"),
        "error": optional(row, "error"),
        "is_multiple_answer": row.get("is_multiple_answer") is True,
    }


def _body_and_question(row: Row) -> str:
    body = text(row, "Body")
    return f"{body if body.endswith(('.', '!', '?')) else body + '.'} {text(row, 'Question')}"


def _without_unit(row: Row) -> str:
    """Return the 9 of "9 (apples)"."""
    return _UNIT_IN_BRACKETS.sub("", text(row, "answer")).strip()


def tabmwp(row: Row) -> Sample:
    """Return the sample of a question about a table, with options if the row has choices."""
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
        answers=(answer if options else answer.replace(",", ""),),
        options=options,
        extra={"type": "multiple-choice" if options else "short-answer"},
    )


def _question_or_message(row: Row) -> str:
    if row.get("question") is not None:
        return text(row, "question")
    messages = value(row, "messages")
    if not (isinstance(messages, list) and messages and isinstance(messages[0], dict)):
        raise RowError("field 'messages' is not a list of messages")
    return as_text(value(messages[0], "content"), "content")


def _blanks(row: Row) -> tuple[str, ...]:
    """Return the answers of "$5$;$10$", one for each blank."""
    return tuple(part.strip().strip("$").strip() for part in text(row, "answer").split(";"))


def _scibench(split: bool) -> Process:
    r"""Return the process function of SciBench.

    split  put a unit such as "$10^{-3}$ m" into the question without its power of ten, which then
           belongs to the number: `eval_scibench` multiplies the reference by it
    """

    def unit_of(row: Row) -> tuple[str, int]:
        unit = optional(row, "unit")
        return split_power_of_ten(unit) if split else (unit, 0)

    def question(row: Row) -> str:
        unit = unit_of(row)[0]
        asked = text(row, "problem_text")
        return f"{asked} The unit of the answer is {unit}." if unit else asked

    def extra(row: Row) -> dict[str, Any]:
        found: dict[str, Any] = {
            name: optional(row, name) for name in ("unit", "subject", "source")
        }
        return {**found, "exponent": unit_of(row)[1]}

    def answer(row: Row) -> str:
        return text(row, "answer_number").lstrip("+")

    return _process("scibench", question, answer, reference="solution", extra=extra)


def _arena_extra(row: Row) -> dict[str, Any]:
    """Return the kind of each answer, such as MC, and the subject."""
    kinds = texts(row, "type_sequence") if row.get("type_sequence") else ()
    return {"kinds": kinds, "subject": optional(row, "subject")}


PROCESS_FUNCTIONS: dict[str, Process] = {
    "process_gsm8k_test": _process("gsm8k", "question", _gsm_answer, reference=_gsm_solution),
    "process_math_test": _process(
        *("math", "problem", _boxed_answers),
        ids=IDS,
        reference="solution",
        extra=("level", "type", "category"),
    ),
    "process_math500": _process(
        *("math500", "problem", "answer"),
        ids=IDS,
        reference="solution",
        extra=("level", "subject"),
    ),
    "process_olympiad_bench": _process(
        "olympiad_bench",
        "question",
        _listed_answers("final_answer", "; proofs have no answer to compare"),
        extra=_olympiad_extra,
    ),
    "process_amc": _process("amc", "problem", "answer"),
    "process_ocwcourses": _process("ocw", "problem", "answer", reference="solution"),
    "process_svamp": _process("svamp", _body_and_question, "Answer", ids=("id", "ID")),
    "process_asdiv": _process(
        "asdiv", lambda row: f"{text(row, 'body')} {text(row, 'question')}", _without_unit
    ),
    "process_mawps": _process("mawps", "input", "target"),
    "process_tabmwp": tabmwp,
    "process_mgsm_zh": _process("mgsm_zh", _question_or_message, _number_in("answer")),
    "process_cmath": _process(
        "cmath", "question", _number_in("golden"), extra=("grade", "reasoning_step")
    ),
    "process_agieval_gaokao_math_cloze": _process("agieval-gaokao-mathcloze", "question", _blanks),
    "process_scibench": _scibench(split=False),
    "process_scibench_sft": _scibench(split=True),
    "process_ChemBench_str_match": _process(
        "ChemBench",
        lambda row: text(first_example(row), "input"),
        lambda row: text(first_example(row), "target"),
    ),
    "process_olympic_arena_sft": _process(
        "olympic_arena", "prompt", _listed_answers("answer"), extra=_arena_extra
    ),
}
