"""From results to files: one pass over the records, flat memory, the page written last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from eval.compare_parts.side import read_metrics
from eval.input_error import InputError, shown
from eval.records import latest_records, results_path
from eval.report_parts.chunks import INLINE_CHARS, Chunks
from eval.report_parts.limits_use import LimitsUse
from eval.report_parts.page import page
from eval.report_parts.rows import CASE_COLUMNS, COLUMNS, detail_of, row_of
from eval.statistics import Summary

RUN_FACTS = ("timestamp", "flags", "sandbox", "calibration", "problems", "run")


@dataclass(frozen=True)
class Wanted:
    """What numbers the report shows and how intervals are made.

    ks  the k of pass@k; None for those the run was asked for
    """

    ks: Sequence[int] | None = None
    level: float = 0.95
    seed: int = 0
    cluster_by_contest: bool = False


@dataclass(frozen=True)
class Report:
    """What was written: the page, the folder of data beside it if any, and for how many."""

    path: Path
    data: Path | None
    solutions: int


def build(
    results: str, output: Path | None, wanted: Wanted, *, inline_chars: int = INLINE_CHARS
) -> Report:
    """Write the report of a results folder or file; InputError says what is in the way.

    output        the page, or None for report.html beside the records
    inline_chars  more data than this goes to `<page's stem>_data/`
    """
    records = results_path(results)
    path = output or records.parent / "report.html"
    data = path.with_name(f"{path.stem}_data")
    token = _token(records)
    chunks, summary, use = Chunks(data, token, inline_chars), Summary(), LimitsUse()
    solutions = 0
    for record in latest_records(records):
        try:
            summary.add(record)
            use.add(record)
            place = chunks.add("details", detail_of(record, results))
            chunks.add("rows", [*row_of(record), *place])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{records}: the record of problem {shown(record.get('problem_id'))} is not one "
                f"of a graded solution ({type(error).__name__}: {shown(str(error))})"
            ) from None
        solutions += 1
    if not solutions:
        raise InputError(f"{records}: no record in it; grade some solutions first")
    metrics = read_metrics(records.parent)
    name = records.parent.resolve().name
    meta = {
        "name": name,
        "results": results,
        "columns": [*COLUMNS, "chunk", "place"],
        "case_columns": CASE_COLUMNS,
        "chunks": chunks.finish(),
        "token": token,
        "folder": data.name if chunks.folder else None,
        "statistics": summary.result(
            ks=wanted.ks or _ks_of(metrics),
            level=wanted.level,
            seed=wanted.seed,
            cluster_by_contest=wanted.cluster_by_contest,
        ),
        "limits_use": use.result(),
        "run": _facts(metrics),
    }
    _write(path, f"{name} · gradebox report", meta, chunks)
    return Report(path, chunks.folder, solutions)


def _token(records: Path) -> str:
    """Names one state of the records; empty when there is no such file."""
    try:
        state = records.stat()
    except OSError:
        return ""
    return sha256(f"{state.st_size} {state.st_mtime_ns}".encode()).hexdigest()[:16]


def _ks_of(metrics: Mapping[str, Any]) -> list[int]:
    """The k the run was asked for, 1 always among them."""
    found = {1}
    for row in (metrics.get("statistics") or {}).get("pass_at_k") or ():
        found.add(int(row["k"]))
    return sorted(found)


def _facts(metrics: Mapping[str, Any]) -> dict[str, Any]:
    return {name: metrics[name] for name in RUN_FACTS if name in metrics}


def _write(path: Path, title: str, meta: Mapping[str, Any], chunks: Chunks) -> None:
    """Whole or not at all: a browser never sees half a page."""
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(page(title, meta, chunks.inline()))
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise InputError(
            f"{path}: can't write: {error.strerror}; choose another place with -o"
        ) from None
