"""A solution: one line of a solutions file; and those that a data set has of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.common.errors import InputError, RowError, shown
from gradebox.eval.problems.problem import Expectation, Problem
from gradebox.eval.problems.row.tests import plain_name
from gradebox.sandbox.errors import UnknownLanguage
from gradebox.sandbox.languages import find


@dataclass(frozen=True)
class Solution:
    """One line of a solutions file.

    code       the program, or None when the response has none
    files      (name, text) of a program's files when it has several, `code` first; else empty. The
               name "" stands for the name of the language's main file
    language   the name as given, which `gradebox.sandbox.languages` resolves
    sample_i   0-based number of this sample within its problem, in file order
    line       1-based line in its file
    error      why the line is invalid, else None
    source     path of the file, "" for rows in memory
    response   an answer in which no program was found, which may continue the problem's prompt; or
               one with several programs, of which the problem's tests need one
    known      of a submission to a site: `site_verdict` and `site_language`, as the site names them
    expect     the status that its line says it must have, one of EXPECTED; else ""
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
    files: tuple[tuple[str, str], ...] = ()
    expect: str = ""


EXPECTED = ("passed", "failed")


def files_of(row: Mapping[str, Any], main: str = "") -> tuple[tuple[str, str], ...]:
    """Return (name, text) of a program's files; without `code`, the first one is the main file.

    main  the name of the file that comes first, if there is a file of this name

    Raises RowError. A field `files` that holds anything but texts has no program's files: ().
    """
    given = row.get("files")
    if not isinstance(given, Mapping) or not all(isinstance(one, str) for one in given.values()):
        return ()
    files = ((plain_name("files", name), encodable(text)) for name, text in given.items())
    return tuple(sorted(files, key=lambda file: file[0] != main))


def encodable(text: str) -> str:
    """Replace lone surrogates, which JSON allows and UTF-8 doesn't."""
    if text.isascii():
        return text
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


@dataclass(frozen=True)
class KnownSolution:
    """A solution with what grading it must give.

    expect    the status that it must have: passed or failed
    expected  for a package's submission instead: the verdicts that tests must give
    whole     the expectation is also about tests after the first that fails
    """

    solution: Solution
    expect: str
    expected: tuple[Expectation, ...] = ()
    whole: bool = False

    @property
    def must_pass(self) -> bool:
        """Whether it must be accepted."""
        if not self.expected:
            return self.expect == "passed"
        return self.expected[0].permitted == ("AC",)

    @property
    def must_be_slow(self) -> bool:
        """Whether it must exceed the time limit."""
        return any(one.required == ("TLE",) and not one.tests for one in self.expected)


def known_solutions_of(problem: Problem) -> Iterator[KnownSolution]:
    """Yield the known solutions in a problem's `gold_solutions` field; InputError for bad ones.

    A package's submissions may be in languages that are not in our table.
    """
    for number, entry in enumerate(problem.gold_solutions):
        name = str(entry.get("name") or f"gold_solutions[{number}]")
        language, expect = entry.get("language") or "python", entry.get("expect") or "passed"
        where = f"problem {problem.id}: {name}"
        try:
            files = files_of(entry)
        except RowError as e:
            raise InputError(f"{where}: {e}") from None
        code = files[0][1] if files and "code" not in entry else entry.get("code")
        expected = tuple(e for e in entry.get("expected") or () if isinstance(e, Expectation))
        if expect not in EXPECTED or not isinstance(code, str):
            raise InputError(
                f"{where} has expect {shown(expect)} and code of type "
                f"{type(code).__name__}: passed or failed, and text are needed"
            )
        try:
            language = str(language) if expected else find(str(language)).name
        except UnknownLanguage as e:
            raise InputError(f"{where}: {e}") from None
        code = encodable(code)
        files = (("", code), *files) if files and "code" in entry else files
        files = files if len(files) > 1 else ()
        solution = Solution(problem.id, name, number, 0, language, code, files=files)
        yield KnownSolution(solution, expect, expected, bool(entry.get("whole")))
