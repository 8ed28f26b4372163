"""The solutions that a data set has of its own, with the status that grading them must give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.problem import Problem
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find

EXPECTED = ("passed", "failed")


@dataclass(frozen=True)
class KnownSolution:
    """A solution with the status that grading it must give."""

    solution: Solution
    expect: str


def known_solutions_of(problem: Problem) -> Iterator[KnownSolution]:
    """Yield the known solutions in a problem's `gold_solutions` field; InputError for bad ones."""
    for number, entry in enumerate(problem.gold_solutions):
        name = f"gold_solutions[{number}]"
        language, expect = entry.get("language") or "python", entry.get("expect") or "passed"
        where = f"problem {problem.id}: {name}"
        if expect not in EXPECTED or not isinstance(entry.get("code"), str):
            raise InputError(
                f"{where} has expect {shown(expect)} and code of type "
                f"{type(entry.get('code')).__name__}: passed or failed, and text are needed"
            )
        try:
            find(str(language))
        except UnknownLanguage as e:
            raise InputError(f"{where}: {e}") from None
        code = entry["code"].encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        yield KnownSolution(Solution(problem.id, name, number, 0, str(language), code), expect)
