"""List the cases that have a reason, one line for each.

problem    sample  solution      case          verdict  why
1000/A          2  gpt-3         official:0    WA       token 1: expected '6', found '7'
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from gradebox.eval.common.terminal import (
    MAX_CUT_INPUT,
    Row,
    Span,
    cut,
    display_width,
    escape,
    pad,
    row,
    wrap_words,
)
from gradebox.eval.debugging.find import Json, Results, SolutionQuery, case_name, matching_cases
from gradebox.eval.debugging.page_parts import VERDICT_STYLES, command_rows, debug_command

COLUMNS = {"problem": 10, "sample": 6, "solution": 14, "case": 12, "verdict": 7}
NARROW = 100  # below that many columns the reason gets the space of the solution's name


def case_list(
    results: Results,
    query: SolutionQuery,
    reason: str,
    *,
    results_name: str,
    width: int,
    whole: bool = False,
) -> Iterator[Row]:
    """Yield the table, the number of cases, and a command that explains the first case.

    results_name  the results as the user named them
    whole         cut nothing: the lines are for another program
    """
    shown = [name for name in COLUMNS if whole or width >= NARROW or name != "solution"]
    cases = solutions = 0
    last: Json | None = None
    first: tuple[Json, Json] | None = None
    for record, case in matching_cases(results, query, reason):
        if not solutions:
            titles = [pad(name, COLUMNS[name]) for name in shown]
            yield row(Span("  ".join([*titles, "why"]), "dim"))
        solutions += record is not last
        last = record
        if case is not None:
            cases += 1
            first = first or (record, case)
        yield _line(record, case, shown, None if whole else width)
    if not solutions:
        for line in wrap_words(f"no case in {results_name} has the reason {reason}", width):
            yield row(line)
        return
    yield row("")
    yield row(Span(f"{cases} cases in {solutions} solutions", "head"))
    if first is not None:
        record, case = first
        yield row("explain the first:")
        words = debug_command(results_name, record, case_name(case))
        yield from command_rows(words, sys.maxsize if whole else width)


def _line(record: Json, case: Json | None, shown: list[str], width: int | None) -> Row:
    verdict = str(case.get("verdict")) if case is not None else "none"
    why = " ".join(str((case or record).get("error") or (case or {}).get("reason") or "").split())
    values = {
        "problem": str(record.get("problem_id")),
        "sample": str(record.get("sample_i")),
        "solution": str(record.get("solution_id")),
        "case": case_name(case) if case is not None else "none",
        "verdict": verdict,
    }
    fit = pad if width is not None else _filled
    cells = [fit(values[name], COLUMNS[name]) for name in shown]
    left = MAX_CUT_INPUT if width is None else width - sum(COLUMNS[name] + 2 for name in shown)
    return (
        Span("  ".join(cells[:-1]) + "  "),
        Span(cells[-1], VERDICT_STYLES.get(verdict, "bad")),
        Span("  " + cut(why, max(0, left))),
    )


def _filled(text: str, width: int) -> str:
    text = escape(text)
    return text + " " * (width - display_width(text))
