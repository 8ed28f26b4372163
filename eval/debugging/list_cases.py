"""List the cases that have a reason, one line for each.

problem    sample  solution      case          verdict  why
1000/A          2  gpt-3         official:0    WA       token 1: expected '6', found '7'
"""

from __future__ import annotations

from collections.abc import Iterator

from gradebox.eval.common.terminal import Row, Span, cut, pad, row, wrap_words
from gradebox.eval.debugging.find import Json, Results, SolutionQuery, case_name, matching_cases
from gradebox.eval.debugging.page_parts import VERDICT_STYLES, command_rows, debug_command

COLUMNS = (("problem", 10), ("sample", 6), ("solution", 14), ("case", 12), ("verdict", 7))


def case_list(
    results: Results, query: SolutionQuery, reason: str, *, results_name: str, width: int
) -> Iterator[Row]:
    """Yield the table, the number of cases, and a command that explains the first case.

    results_name  the results as the user named them
    """
    cases = solutions = 0
    last: Json | None = None
    first: tuple[Json, Json] | None = None
    for record, case in matching_cases(results, query, reason):
        if not solutions:
            yield row(Span("  ".join(pad(n, w) for n, w in COLUMNS) + "  why", "dim"))
        solutions += record is not last
        last = record
        if case is not None:
            cases += 1
            first = first or (record, case)
        yield _line(record, case, width)
    if not solutions:
        for line in wrap_words(f"no case in {results_name} has the reason {reason}", width):
            yield row(line)
        return
    yield row("")
    yield row(Span(f"{cases} cases in {solutions} solutions", "head"))
    if first is not None:
        record, case = first
        yield row("explain the first:")
        yield from command_rows(debug_command(results_name, record, case_name(case)), width)


def _line(record: Json, case: Json | None, width: int) -> Row:
    values = [str(record.get(name)) for name in ("problem_id", "sample_i", "solution_id")]
    verdict = str(case.get("verdict")) if case is not None else "none"
    why = str((case or record).get("error") or (case or {}).get("reason") or "")
    values += [case_name(case) if case is not None else "none", verdict]
    cells = [pad(value, size) for value, (_, size) in zip(values, COLUMNS, strict=True)]
    left = max(0, width - sum(size + 2 for _, size in COLUMNS))
    return (
        Span("  ".join(cells[:-1]) + "  "),
        Span(cells[-1], VERDICT_STYLES.get(verdict, "bad")),
        Span("  " + cut(" ".join(why.split()), left)),
    )
