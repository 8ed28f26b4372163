"""What is printed when a run ends: a table of at most 80 columns, and loud lines."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

WIDTH = 80
MAX_NOTES = 10
STATUS_NOTES = {
    "passed": "every judged case accepted",
    "failed": "a case failed, or no code",
    "no_tests": "not counted: no test to run",
    "unsupported": "not counted: interactive without interactor",
    "invalid": "not counted: bad line or unknown problem",
    "error": "not counted: the machine failed; graded again at the next start",
}
LOUD = ("error", "invalid")
SHOWN_TROUBLES = 3


def table(metrics: Mapping[str, Any], folder: str) -> str:
    """The summary of a finished run from its metrics."""
    statuses, run = metrics["statuses"], metrics["run"]
    rows = ["", *_heading(metrics)]
    for status, note in STATUS_NOTES.items():
        if statuses.get(status) or status in ("passed", "failed"):
            rows.append(f"  {status:<12}{statuses.get(status, 0):>9}  {note}")
    failed = {v: n for v, n in metrics["verdicts"].items() if v != "AC"}
    if failed:
        rows += _wrap("  failed by    ", [f"{_verdict(v)} {n}" for v, n in failed.items()])
    cases = metrics["case_verdicts"]
    rows += _wrap("  cases        ", [f"{v} {n}" for v, n in cases.items()] or ["none"])
    for k, value in metrics["pass_at_k"].items():
        rows.append(f"  {'pass@' + k:<13}{_estimate(value)}")
    rows.append(f"  {'this run':<13}{_effort(run)}")
    rows += _wrap("  records      ", [folder])
    return "\n".join(rows)


def loud_lines(metrics: Mapping[str, Any]) -> list[str]:
    """What nobody may overlook, and what was passed over in the data."""
    lines: list[str] = []
    for status in LOUD:
        count = metrics["statuses"].get(status, 0)
        if count:
            lines.append(f"!! {count} solutions {_LOUD_TEXT[status]}:")
            for trouble in metrics["first_troubles"].get(status, ())[:SHOWN_TROUBLES]:
                lines += _indented(_with_line(trouble))
    unclear = metrics["case_verdicts"].get("CU", 0)
    if unclear:
        lines.append(f"!! {unclear} cases have no verdict (CU): the checker said nothing usable")
    unstable = metrics["unstable_cases"]["count"]
    if unstable:
        lines.append(f"!! {unstable} cases changed their verdict between runs (unstable_cases)")
    notes = metrics["run"]["notes"]
    for note in notes[:MAX_NOTES]:
        lines += _indented(f"note: {note}", "")
    if len(notes) > MAX_NOTES:
        lines.append(f"note: and {len(notes) - MAX_NOTES} more, in the metrics file")
    return lines


def _indented(text: str, indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        _cut(text, 4 * WIDTH), WIDTH, initial_indent=indent, subsequent_indent=indent + "  "
    )


_LOUD_TEXT = {
    "error": "the machine failed at (start again for just those)",
    "invalid": "are invalid",
}


def _heading(metrics: Mapping[str, Any]) -> list[str]:
    counted = metrics["num_attempted"]
    box = metrics["sandbox"]
    return [
        f"{metrics['num_solutions']} solutions of {metrics['num_problems']} problems, "
        f"{counted} counted; sandbox {box.get('backend')}, level {box.get('level')}"
    ]


def _verdict(name: str) -> str:
    return "no code" if name == "none" else name


def _estimate(entry: Mapping[str, Any]) -> str:
    if entry["value"] is None:
        return _cut(str(entry["note"]), WIDTH - 15)
    text = f"{entry['value']:.4f}"
    interval = entry["interval"]
    if interval is None:
        return text
    share = f"{100 * interval['level']:g} %"
    return f"{text}  {share} interval {interval['low']:.4f} to {interval['high']:.4f}"


def _effort(run: Mapping[str, Any]) -> str:
    return (
        f"{run['graded_now']} solutions graded in {run['wall_s']:.1f} s, "
        f"{run['from_before']} from before"
    )


def _with_line(trouble: Mapping[str, Any]) -> str:
    error = str(trouble["error"])
    where = f"line {trouble['line']}"
    return error if error.startswith(where) else f"{where}: {error}"


def _wrap(head: str, words: list[str]) -> list[str]:
    rows = [head]
    for word in words:
        if len(rows[-1]) + len(word) + 2 > WIDTH and rows[-1].strip() != head.strip():
            rows.append(" " * len(head))
        rows[-1] += word + "  "
    return [row.rstrip() for row in rows]


def _cut(text: str, width: int) -> str:
    clean = "".join(c if c.isprintable() else "?" for c in text)
    return clean if len(clean) <= width else clean[: width - 1] + "…"
