"""Cases by reason, a line each.

problem    sample  solution      case          verdict  why
1000/A          2  gpt-3         official:0    WA       token 1: expected '6', found '7'
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from eval.debugging.find import Json, Results, Wanted, has_reason, name_of
from eval.debugging.screen import Row, Span, cut, folded, padded, row
from eval.debugging.show import VERDICT_STYLES, command_rows, debug_command

COLUMNS = (("problem", 10), ("sample", 6), ("solution", 14), ("case", 12), ("verdict", 7))
NO_CODE = "no_code"


@dataclass
class Listing:
    """The cases of a run that have a reason; counted while they are read."""

    results: Results
    reason: str
    wanted: Wanted
    cases: int = 0
    solutions: int = 0
    first: tuple[Json, Json] | None = field(default=None, repr=False)

    def found(self) -> Iterator[tuple[Json, Json | None]]:
        """(record, case) of every case listed; no case where a response had no code."""
        for record in self.wanted.records(self.results):
            some = False
            for case in record.get("details") or ():
                if has_reason(case, self.reason):
                    some = True
                    self.cases += 1
                    self.first = self.first or (record, case)
                    yield record, case
            if self.reason in (NO_CODE, "failed") and _has_no_code(record):
                some = True
                yield record, None
            self.solutions += some

    def rows(self, shown_as: str, width: int) -> Iterator[Row]:
        """The table, and a line that says how many; `shown_as` is how the user names the run."""
        found = self.found()
        first = next(found, None)
        if first is None:
            for line in folded(f"no case in {shown_as} is listed under {self.reason}", width):
                yield row(line)
            return
        yield row(Span("  ".join(padded(n, w) for n, w in COLUMNS) + "  why", "dim"))
        yield _line(*first, width)
        for record, case in found:
            yield _line(record, case, width)
        yield row("")
        yield row(Span(f"{self.cases} cases in {self.solutions} solutions", "head"))
        if self.first is not None:
            record, case = self.first
            yield row("the first:")
            yield from command_rows(debug_command(shown_as, record, name_of(case)), width)


def _has_no_code(record: Json) -> bool:
    no_cases = not record.get("details")
    return record.get("status") == "failed" and record.get("verdict") is None and no_cases


def _line(record: Json, case: Json | None, width: int) -> Row:
    values = [str(record.get(name)) for name in ("problem_id", "sample_i", "solution_id")]
    verdict = str(case.get("verdict")) if case is not None else "none"
    why = str((case or record).get("error") or (case or {}).get("reason") or "")
    values += [name_of(case) if case is not None else "none", verdict]
    cells = [padded(value, size) for value, (_, size) in zip(values, COLUMNS, strict=True)]
    left = max(0, width - sum(size + 2 for _, size in COLUMNS))
    return (
        Span("  ".join(cells[:-1]) + "  "),
        Span(cells[-1], VERDICT_STYLES.get(verdict, "bad")),
        Span("  " + cut(" ".join(why.split()), left)),
    )
