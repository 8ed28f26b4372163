"""A solution: one line of a solutions file; and those that a data set has of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find


@dataclass(frozen=True)
class Solution:
    """One line of a solutions file.

    code       the program, or None when the response has none
    language   the name as given, which `gradebox.sandbox.languages` resolves
    sample_i   0-based number of this sample within its problem, in file order
    line       1-based line in its file
    error      why the line is invalid, else None
    source     path of the file, "" for rows in memory
    response   the answer without a program in it, which continues a prompt where there is one; and
               an answer with several programs, of which the problem's tests need one
    known      of a submission to a site: `site_verdict` and `site_language`, as the site names them
    """

    problem_id: str
    solution_id: str
    sample_i: int
    line: int
    language: str
    code: str | None
    error: str | None = None
    source: str = ""
    response: str | None = None
    known: Mapping[str, str] = field(default_factory=dict)


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
