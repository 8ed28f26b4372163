"""Build the report of a results folder in one pass over its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.reporting.html_page import INLINE_CHARS, Chunks, html_page, write_report_file
from gradebox.eval.reporting.page_data import (
    CASE_COLUMNS,
    COLUMNS,
    LimitUsage,
    detail_of,
    row_of,
)
from gradebox.eval.results.records import (
    latest_records,
    read_metrics,
    reporting_bad_metrics,
    reporting_bad_record,
    results_path,
)
from gradebox.eval.results.statistics import Summary
from gradebox.eval.solutions.lines import SolutionLines

PROGRAM_CHARS, RESPONSE_CHARS = 20_000, 20_000
RUN_FACTS = ("timestamp", "flags", "sandbox", "calibration", "problems", "run")


@dataclass(frozen=True)
class StatisticsOptions:
    """Which figures the report shows, and how their intervals are computed.

    ks  the values of k for pass@k; None: those of the run
    """

    ks: Sequence[int] | None = None
    level: float = 0.95
    seed: int = 0
    cluster_by_contest: bool = False


@dataclass(frozen=True)
class WrittenReport:
    """What `build_report` wrote.

    path       the page
    data       the folder of its data files, or None when all data is in the page
    solutions  their number
    """

    path: Path
    data: Path | None
    solutions: int


def build_report(
    results: str,
    output: Path | None = None,
    options: StatisticsOptions = StatisticsOptions(),
    *,
    inline_chars: int = INLINE_CHARS,
) -> WrittenReport:
    """Write the report of a results folder or records file. Memory use is constant.

    output        the page; None: report.html beside the records
    inline_chars  more data than this goes to files in `<stem of the page>_data/`

    Raises InputError when the records can't be used or the page can't be written.
    """
    records = results_path(results)
    path = output or records.parent / "report.html"
    data = path.with_name(f"{path.stem}_data")
    token = _token(records)
    chunks, summary, usage = Chunks(data, token, inline_chars), Summary(), LimitUsage()
    solutions = 0
    with ExitStack() as stack:
        lines = _solution_lines(results, stack)
        for record in latest_records(records):
            with reporting_bad_record(records, record):
                summary.add(record)
                usage.add(record)
                detail = detail_of(record, results) | _source(lines, record)
                place = chunks.add("details", detail)
                chunks.add("rows", [*row_of(record), *place])
            solutions += 1
    if not solutions:
        raise InputError(f"{records}: no record in it; grade some solutions first")
    metrics = read_metrics(records.parent)
    with reporting_bad_metrics(records.parent):
        ks = options.ks or ks_of_run(metrics)
    name = records.parent.resolve().name
    run = {
        "name": name,
        "columns": [*COLUMNS, "chunk", "place"],
        "case_columns": CASE_COLUMNS,
        "chunks": chunks.finish(),
        "token": token,
        "folder": data.name if chunks.folder else None,
        "statistics": summary.result(
            ks=ks,
            level=options.level,
            seed=options.seed,
            cluster_by_contest=options.cluster_by_contest,
        ),
        "limit_usage": usage.result(),
        "run": {name: metrics[name] for name in RUN_FACTS if name in metrics},
    }
    write_report_file(path, html_page(f"{name} · gradebox report", run, chunks.inline))
    return WrittenReport(path, chunks.folder, solutions)


def _solution_lines(results: str, stack: ExitStack) -> SolutionLines | None:
    """Return the run's solutions file until the stack is closed; None when it can't be found."""
    from gradebox.eval.debugging.find import open_results
    from gradebox.eval.debugging.reopen import Overrides, solutions_file

    try:
        found = SolutionLines(solutions_file(open_results(results), Overrides()))
    except InputError:
        return None
    stack.callback(found.close)
    return found


def _source(lines: SolutionLines | None, record: Mapping[str, Any]) -> dict[str, Any]:
    if lines is None:
        return {}
    try:
        return {"source": lines.texts(record, PROGRAM_CHARS, RESPONSE_CHARS)}
    except InputError:
        return {}


def _token(records: Path) -> str:
    """Return a name of the present state of the records; "" when there is no such file."""
    try:
        state = records.stat()
    except OSError:
        return ""
    return sha256(f"{state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]


def ks_of_run(metrics: dict[str, Any]) -> list[int]:
    """Return the k of pass@k that the run has, and 1."""
    rows = (metrics.get("statistics") or {}).get("pass_at_k") or ()
    return sorted({1, *(int(row["k"]) for row in rows)})
