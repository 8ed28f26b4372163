"""Grade a file of responses against their reference answers, and count what came of each.

{"id": "7", "answer": "\\\\frac12", "response": "So it is $\\\\boxed{0.5}$."}
{"id": "8", "answer": "B", "choices": ["2", "3.14"], "response": "It is 3.14."}
{"id": "9", "answer": "28.89", "policy": "rounded", "response": "28.889"}

A response counts as right only when it is equal. Of the others, "different" was read, compared and
differs; the rest is counted apart, as the grader's limits may be the cause.
"""

from __future__ import annotations

import itertools
from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradebox.checkers.math import OUTCOMES, AnswerPair, Grade, grade_many
from gradebox.checkers.math.choices import lettered
from gradebox.checkers.math.evaluator import get_field, spellings_of
from gradebox.checkers.math.policy import get_policy
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.response_file import read_lines

CHOICES = ("choices", "options")


@dataclass(frozen=True)
class GradedLine:
    """A line of the file and its grade.

    references  the spellings of the reference answer
    choices     texts by letter
    """

    number: int
    line: Mapping[str, Any]
    references: tuple[str, ...]
    choices: Mapping[str, str]
    grade: Grade

    def record(self) -> dict[str, Any]:
        """Return the line of the output."""
        return {
            "line": self.number,
            **({"id": self.line["id"]} if "id" in self.line else {}),
            "equal": self.grade.equal,
            "outcome": self.grade.outcome,
            "answer": self.grade.answer,
            "reason": self.grade.reason,
        }


def grade_file(
    path: Path,
    policy: str,
    timeout: float,
    gold: str | None = None,
    response: str | None = None,
    choices: str | None = None,
) -> Iterator[GradedLine]:
    """Yield the graded lines of a JSONL file, in order, in constant memory.

    gold, response, choices  names of the fields; None: the first name that EvaluatorMathBatch
                             accepts, and `choices` or `options`
    policy                   of lines without a field `policy`

    A reference that is a list has several spellings, of which one must fit. Raises InputError for
    a line without a reference or a response, or with bad choices or another policy, ValueError for
    a bad policy or timeout, SandboxError when no worker can be started.
    """
    waiting: deque[tuple[int, dict[str, Any], tuple[str, ...], dict[str, str]]] = deque()

    def pairs() -> Iterator[AnswerPair]:
        for number, line in enumerate(read_lines(path), 1):
            try:
                spellings = spellings_of(_field(line, gold, "ref"))
                answer = _field(line, response, "response")
                given = lettered(_choices(line, choices))
                own = None if line.get("policy") is None else get_policy(str(line["policy"]))
            except ValueError as error:
                raise InputError(f"{path} line {number}: {error}") from None
            if not any(str(spelling).strip() for spelling in spellings):
                raise InputError(f"{path} line {number}: the reference answer is empty")
            waiting.append((number, line, tuple(map(str, spellings)), given))
            yield from (AnswerPair(spelling, answer, own, given) for spelling in spellings)

    grades = grade_many(pairs(), policy, timeout)
    for first in grades:
        number, line, spellings, given = waiting.popleft()
        found = [first, *itertools.islice(grades, len(spellings) - 1)]
        best = next((grade for grade in found if grade.equal), first)
        yield GradedLine(number, line, spellings, given, best)


def _field(line: Mapping[str, Any], name: str | None, kind: str) -> Any:
    if name is None:
        return get_field(line, kind)
    if line.get(name) is None:
        raise ValueError(f"there is no field {name!r}")
    return line[name]


def _choices(line: Mapping[str, Any], name: str | None) -> Any:
    names: Sequence[str] = CHOICES if name is None else (name,)
    return next((line[n] for n in names if line.get(n) is not None), None)


def count(counts: Counter[str], grade: Grade) -> None:
    """Count an outcome, and for what is not read also which side or why."""
    counts[grade.outcome] += 1
    if grade.outcome == "not read":
        detail = grade.reason.partition(":")[0].removeprefix("not read").strip(" ()")
        counts[f"  {detail or 'both'}"] += 1


def table(counts: Mapping[str, int]) -> str:
    """Return the counts of the outcomes with their shares; outcomes without a line are left out."""
    total = sum(counts[outcome] for outcome in OUTCOMES)
    details = sorted(name for name in counts if name.startswith("  "))
    names = [n for o in OUTCOMES for n in (o, *(details if o == "not read" else ())) if counts[n]]
    rows = [("responses", f"{total:,}", "")]
    rows += [(n, f"{counts[n]:,}", f"{counts[n] / total:.4f}") for n in names]
    return "\n".join(f"{name:<20}{n:>10}  {share}".rstrip() for name, n, share in rows)
