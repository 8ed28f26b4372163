"""The statements of problems in the rows of other data sets than Codeforces'.

    row ─▶ {"id", "description", "language"}, for a template that has only the description

Tests are not read, except for MBPP's asserts, which are part of its prompts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from gradebox.eval.problems.formats import OWN, Judge, Reading, RowFormat, recognising
from gradebox.eval.problems.formats.ioi import IOI, names_of
from gradebox.eval.problems.formats.multipl_e import LANGUAGES

Row = Mapping[str, Any]


@dataclass(frozen=True)
class StatementField:
    """Where a row has its statement.

    text     fields, of which the first that is not empty counts
    code     the field of the code to start from, which makes the answer a function
    asserts  the field of asserts that are shown
    begun    the statement itself is code, to be completed
    """

    text: tuple[str, ...]
    code: str = ""
    asserts: str = ""
    begun: bool = False


STATEMENTS = {
    "humaneval": StatementField(("prompt",), begun=True),
    "mbpp": StatementField(("text", "prompt"), asserts="test_list"),
    "acecode": StatementField(("question",)),
    "leetcode": StatementField(("problem_description",), code="starter_code"),
    "livecodebench": StatementField(("question_content",), code="starter_code"),
    "multipl-e": StatementField(("prompt",), begun=True),
    "kodcode": StatementField(("question",)),
    "apps": StatementField(("question",), code="starter_code"),
    "taco": StatementField(("question",), code="starter_code"),
    "code-contests": StatementField(("description",)),
    "code-contests-plus": StatementField(("description",)),
    "deepcoder": StatementField(("problem",), code="starter_code"),
    "verl": StatementField(("prompt",)),
    "prime": StatementField(("prompt", "problem_statement")),
    "nemo-gym": StatementField(("responses_create_params",)),
    "sandboxfusion": StatementField(("content",)),
    "ioi": StatementField(("problem",), code="starting_code"),
}
# Their statements say themselves whether a function or a program is wanted.
_WHOLE = ("acecode", "kodcode", "nemo-gym", "prime", "verl")
_COMPLETE = "Complete this function, and give it whole, with its imports."
_PROGRAM = "Write a program that reads standard input and writes standard output."


OWN_COLUMNS = (
    *("id", "contest_id", "index", "title", "description", "input_format", "output_format"),
    *("interaction_format", "note", "examples", "time_limit", "memory_limit", "input_mode"),
)


def reading_of(rows: Iterable[Row], _where: str) -> Reading:
    """Return how a data set with these first rows becomes statements."""
    found = recognising(rows)
    kind = found if found is not None and found.name in STATEMENTS else OWN
    uses: tuple[str, ...] = OWN_COLUMNS
    if kind is not OWN:
        where = STATEMENTS[kind.name]
        uses = (*where.text, *filter(None, (where.code, where.asserts)))

    def convert(row: Row, _judge: Judge) -> dict[str, Any]:
        if kind is OWN:
            return {name: row.get(name) for name in OWN_COLUMNS}
        return _described(row, kind)

    return Reading(replace(kind, uses=uses, convert=convert))


def _described(row: Row, kind: RowFormat) -> dict[str, Any]:
    """Return the id, the statement and the language of a row."""
    where, given = STATEMENTS[kind.name], row.get("language")
    tests_in = LANGUAGES.get(given, "") if isinstance(given, str) else ""
    names = names_of(row) if kind is IOI else kind.ids_of(row)
    text = next((found for name in where.text if (found := _text(row.get(name)))), "")
    fence = "cpp" if tests_in.startswith("c++") else tests_in or "python"
    if where.begun:
        parts = [_COMPLETE, _block(fence, text)]
    elif code := _text(row.get(where.code)) if where.code else "":
        fence = "cpp" if kind is IOI else fence
        parts = [text, "Start from this code, and keep its names:", _block(fence, code)]
    elif asserts := row.get(where.asserts) if where.asserts else None:
        shown = "\n".join(map(str, asserts)) if isinstance(asserts, (list, tuple)) else ""
        parts = [text, "It must pass these tests:", _block(fence, shown)]
    else:
        parts = [text] if kind.name in _WHOLE else [text, _PROGRAM]
    return {"id": names.get("id"), "description": "\n\n".join(parts), "language": tests_in}


def _block(fence: str, code: str) -> str:
    return f"```{fence}\n{code.rstrip()}\n```"


def _text(value: Any) -> str:
    """Return a text, or the last message of a request or of messages."""
    messages = value.get("input") if isinstance(value, dict) else value
    if isinstance(messages, list) and messages and isinstance(messages[-1], dict):
        value = messages[-1].get("content")
    return value if isinstance(value, str) and value.strip() else ""
