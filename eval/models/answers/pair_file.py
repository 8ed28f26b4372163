"""Grade a file of responses against their reference answers, and count how each was decided.

{"id": "7", "answer": "\\\\frac12", "response": "So it is $\\\\boxed{0.5}$."}

A response counts as right only when it is equal. Of the others, "another answer" was compared and
differs; the rest is counted apart, as the grader's limits may be the cause.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from gradebox.checkers.math import Grade, grade_many
from gradebox.checkers.math.evaluator import get_field, spellings_of
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.response_file import read_lines

# Start of a reason → the outcome counted; the first that fits, else "another answer".
_OUTCOMES = {
    "no answer": "no answer found",
    "empty": "no answer found",
    "not read (answer)": "answer not read",
    "not read": "reference not read",
    "not comparable": "not comparable",
    "undecided": "undecided",
    **dict.fromkeys(
        ("time limit", "memory limit", "crashed", "error", "too long", "nested"), "limit reached"
    ),
}
EQUAL, DIFFERENT = "equal", "another answer"
OUTCOMES = (EQUAL, DIFFERENT, *dict.fromkeys(_OUTCOMES.values()))


def outcome_of(grade: Grade) -> str:
    """Return which of OUTCOMES a grade is."""
    if grade.equal:
        return EQUAL
    return next((o for start, o in _OUTCOMES.items() if grade.reason.startswith(start)), DIFFERENT)


def grade_file(
    path: Path, policy: str, timeout: float, gold: str | None = None, response: str | None = None
) -> Iterator[tuple[int, dict[str, Any], Grade]]:
    """Yield (line number, line, grade) of each line of a JSONL file, in order, in constant memory.

    gold, response  names of the two fields; None: the first name that EvaluatorMathBatch accepts

    A reference that is a list has several spellings, of which one must fit. Raises InputError for
    a line without a reference or a response, ValueError for a bad policy or timeout, SandboxError
    when no worker can be started.
    """
    waiting: deque[tuple[int, dict[str, Any], int]] = deque()

    def pairs() -> Iterator[tuple[Any, Any]]:
        for number, line in enumerate(read_lines(path), 1):
            try:
                reference = _field(line, gold, "ref")
                answer = _field(line, response, "response")
            except ValueError as error:
                raise InputError(f"{path} line {number}: {error}") from None
            spellings = spellings_of(reference)
            if not any(str(spelling).strip() for spelling in spellings):
                raise InputError(f"{path} line {number}: the reference answer is empty")
            waiting.append((number, line, len(spellings)))
            yield from ((spelling, answer) for spelling in spellings)

    grades = grade_many(pairs(), policy, timeout)
    for first in grades:
        number, line, spellings = waiting.popleft()
        found = [first, *itertools.islice(grades, spellings - 1)]
        yield number, line, next((grade for grade in found if grade.equal), first)


def _field(line: Mapping[str, Any], name: str | None, kind: str) -> Any:
    if name is None:
        return get_field(line, kind)
    if line.get(name) is None:
        raise ValueError(f"there is no field {name!r}")
    return line[name]


def table(counts: Mapping[str, int]) -> str:
    """Return the counts of the outcomes with their shares; outcomes without a line are left out."""
    total = sum(counts.values())
    rows = [("responses", f"{total:,}", "")]
    rows += [(o, f"{counts[o]:,}", f"{counts[o] / total:.4f}") for o in OUTCOMES if counts[o]]
    return "\n".join(f"{name:<20}{n:>10}  {share}".rstrip() for name, n, share in rows)
