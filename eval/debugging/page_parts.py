"""Parts that several pages of the debugger share, and the list of the cases that have a reason:

problem    sample  solution      case          verdict  why
1000/A          2  gpt-3         official:0    WA       token 1: expected '6', found '7'
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import Any

from gradebox.eval.common.terminal import (
    MAX_CUT_INPUT,
    Row,
    Span,
    cut,
    decode,
    display_width,
    escape,
    option,
    pad,
    row,
    shell_word,
    wrap_anywhere,
    wrap_words,
)
from gradebox.eval.debugging.find import Json, Results, SolutionQuery, case_name, matching_cases
from gradebox.sandbox.common.own_command import command
from gradebox.sandbox.model import MIB

FIRST_LINES, LAST_LINES = 12, 16
VERDICT_STYLES = {"AC": "good", "CU": "warn", "ER": "warn", "SK": "dim"}


def title(record: Json, case: str, width: int) -> Iterator[Row]:
    """Yield the lines that name the solution and the case."""
    text = (
        f"{record.get('problem_id')}  sample {record.get('sample_i')}  {record.get('solution_id')}"
        f"  (line {record.get('line')}, {record.get('language')})  case {case}"
    )
    for line in wrap_words(text, width, "  "):
        yield row(Span(line, "head"))


def heading(text: str, width: int) -> Row:
    """Return the first line of a section."""
    return row(Span(cut(f"-- {text} ", width), "head"))


def block(
    name: str, data: bytes, width: int, *, full: bool = False, tail: bool = False
) -> Iterator[Row]:
    """Yield a text under its name.

    full  all lines, wrapped; else the first lines
    tail  the last lines instead of the first
    """
    yield row("")
    if not data:
        yield heading(f"{name}: empty", width)
        return
    yield heading(f"{name}, {size(len(data))}", width)
    text = data.removesuffix(b"\n")
    if full:
        for line in text.split(b"\n"):
            for part in wrap_anywhere(decode(line), width - 2):
                yield row("  " + part)
        return
    if tail:
        shown = text.rsplit(b"\n", LAST_LINES)[-LAST_LINES:]
    else:
        shown = text.split(b"\n", FIRST_LINES)[:FIRST_LINES]
    omitted = text.count(b"\n") + 1 - len(shown)
    more = row(Span(f"  … {omitted} more lines; --full shows all", "dim")) if omitted else None
    if more and tail:
        yield more
    for line in shown:
        yield row("  " + cut(decode(line[: 8 * width]), width - 2))
    if more and not tail:
        yield more


def size(count: Any) -> str:
    """Return `1 byte`, `2048 bytes` or `12.0 MB`; "?" when the size is unknown."""
    if not isinstance(count, int):
        return "?"
    if count >= MIB:
        return f"{count / MIB:.1f} MB"
    return f"{count} byte" + "s" * (count != 1)


def command_rows(words: Iterable[str], width: int) -> Iterator[Row]:
    """Yield a command to copy: words quoted for the shell, lines joined by a backslash."""
    line = "  "
    for word in words:
        if line.strip() and display_width(line) + 1 + display_width(word) > width - 2:
            yield row(line + " \\")
            line = "      "
        line += word if not line.strip() else " " + word
    yield row(line)


def debug_command(results: str, record: Json, case: str = "") -> list[str]:
    """Return the words, quoted for the shell, of the command for a solution or one case of it."""
    return [
        command("debug"),
        shell_word(results),
        option("--problem", str(record.get("problem_id"))),
        option("--sample", str(record.get("sample_i"))),
        *([option("--case", case)] if case else []),
    ]


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
