"""Question files: JSON lines, each with an id that is unique in the file.

{"id": "7", "problem": "…", "answer": "42"}
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.response_file import read_lines

ID_FIELDS = ("id", "problem_id", "unique_id")


def read_questions(
    path: Path, required: Iterable[str | Sequence[str]], limit: int | None = None
) -> list[tuple[str, dict[str, Any]]]:
    """Return (id, line) of each line of a JSONL file; a line without an id has its number.

    required  names of fields that every line must have; of a list of names, any one of them
    limit     maximum number of lines returned; the whole file is checked

    Raises InputError for a missing file or field, a duplicate id, or an empty file.
    """
    groups = [(name,) if isinstance(name, str) else tuple(name) for name in required]
    line_of_id: dict[str, int] = {}
    questions: list[tuple[str, dict[str, Any]]] = []
    for number, line in enumerate(read_lines(path), 1):
        for names in groups:
            if all(line.get(name) is None for name in names):
                present = ", ".join(list(line)[:8]) or "none"
                raise InputError(
                    f"{path} line {number} has no field {' or '.join(map(repr, names))}; its "
                    f"fields are {present}"
                )
        question_id = _id_of(line, str(number))
        if question_id in line_of_id:
            raise InputError(
                f"{path} line {number}: line {line_of_id[question_id]} has the same id "
                f"{question_id!r}; ids must be unique"
            )
        line_of_id[question_id] = number
        if limit is None or len(questions) < limit:
            questions.append((question_id, line))
    if not questions:
        raise InputError(f"{path} has no questions; at least one line is needed")
    return questions


def _id_of(line: dict[str, Any], default: str) -> str:
    for field in ID_FIELDS:
        value = line.get(field)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and value != "":
            return str(value)
    return default


def text_field(where: str, line: dict[str, Any], name: str) -> str:
    """Return a field that the line has as text, 27.0 as "27".

    Raises InputError when it is neither text nor a number.
    """
    value = line[name]
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where}: field {name!r} is a {type(value).__name__}, not a text")
    return str(int(value)) if isinstance(value, float) and value.is_integer() else repr(value)
