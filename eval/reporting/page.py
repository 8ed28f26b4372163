"""The page of a run, and the report: the page with the answers of a view inside.

    template, style, script ─ html_page ─▶ the page that a view serves (server.py)
    RunView ─ rows, details ─▶ compressed chunks ─ html_page ─▶ report.html

A report of any size is one file: a chunk is a list of rows or details as JSON, compressed and in
base64, which the page unpacks when it needs one. What it asks a view's server for, it finds there.

The content security policy allows one style and one script, by their hashes. Nothing else runs,
wherever untrusted text might end up, and the browser refuses to turn a string into markup or script
(trusted types).
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.reopen import Overrides
from gradebox.eval.reporting.page_data import CASE_COLUMNS, COLUMNS
from gradebox.eval.reporting.run_view import RunView
from gradebox.eval.reporting.sources import RunSources
from gradebox.eval.results.records import read_metrics, results_path
from gradebox.eval.results.statistics.counts import StatisticsOptions
from gradebox.sandbox.common.whole_file import whole_file

CHUNK_CHARS = 1 << 20
PROGRAM_CHARS, RESPONSE_CHARS = 20_000, 20_000
# Besides `</script>` and `<!--`: U+2028 and U+2029 end a line in old script engines, and a
# browser may guess a wrong encoding. So everything but plain ASCII is escaped.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\x7f": "\\u007f"})
STATIC = Path(__file__).resolve().parent / "static"
SCRIPTS = ("base", "diff", "data", "charts", "summary", "solution", "table", "app")


class WrittenReport(NamedTuple):
    """The page that `build_report` wrote, and the number of its solutions."""

    path: Path
    solutions: int


def build_report(
    results: str, output: Path | None = None, options: StatisticsOptions | None = None
) -> WrittenReport:
    """Write the report of a results folder or records file. Memory use is constant.

    output  the page; None: report.html beside the records

    Raises InputError when the records can't be used or the page can't be written.
    """
    records = results_path(results)
    path = output or records.parent / "report.html"
    if not records.exists():
        raise InputError(f"{records}: No such file; give the results folder of a run")
    read_metrics(records.parent)
    with RunView(results, options or StatisticsOptions(), Overrides()) as run:
        while (found := run.changes(run.epoch, 1 << 62))["more"]:
            pass
        if found["why"] or not found["total"]:
            why = found["why"] or f"{records}: no record in it; grade some solutions first"
            raise InputError(why)
        meta = {"name": run.title, "summary": run.summary(), "rows": 0, "details": list[int]()}
        pieces = html_page(f"{run.title} · gradebox report", meta, _chunks(run, meta))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path, durable=False) as file:
                file.writelines(piece.encode() for piece in pieces)
        except OSError as error:
            raise InputError(
                f"{path}: can't be written: {error.strerror}; choose another place with -o"
            ) from None
    return WrittenReport(path, found["total"])


def _chunks(run: RunView, meta: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each chunk.

    Sets in `meta` the number of chunks of rows, and the first place in each chunk of details.
    """
    found: dict[str, Any] = {"change": 0, "more": True}
    place = 0
    while found["more"]:
        found = run.changes(run.epoch, found["change"])
        yield f"rows-{meta['rows']}", _packed(row.decode() for row in found["rows"])
        meta["rows"] += 1
    lines = _lines_of(run.sources, run)
    while place < found["total"]:
        texts, chars, first = list[str](), 0, place
        while place < found["total"] and chars < CHUNK_CHARS:
            record = run.record(run.epoch, place)
            detail = run.detail(record, every_text=False)
            if lines is not None:
                detail["source"] = lines(record)
            texts.append(json.dumps(detail, separators=(",", ":"), allow_nan=False))
            chars, place = chars + len(texts[-1]), place + 1
        meta["details"].append(first)
        yield f"details-{len(meta['details']) - 1}", _packed(texts)


def _lines_of(sources: RunSources, run: RunView) -> Any:
    """Return a function that finds a record's program and response, None without their file."""
    try:
        lines = sources.lines(run.results())
    except InputError:
        return None

    def texts(record: dict[str, Any]) -> dict[str, Any]:
        try:
            return lines.texts(record, PROGRAM_CHARS, RESPONSE_CHARS)
        except InputError:
            return {}

    return texts


def _packed(values: Iterable[str]) -> str:
    """Return JSON values as a compressed list; the same values make the same text."""
    return base64.b64encode(gzip.compress(f"[{','.join(values)}]".encode(), mtime=0)).decode()


def html_page(
    title: str, meta: Any, chunks: Iterable[tuple[str, str]] = (), *, asks: bool = False
) -> Iterator[str]:
    """Yield the page in pieces.

    meta    what the script needs of the run as a whole, as JSON values; it is complete when the
            chunks have been taken
    chunks  names and texts of the data inside the page
    asks    the page may ask the server that it comes from
    """
    style, script = _static("page.css"), _script()
    head, tail = _static("page.html").split("$chunks")
    policy = html.escape(page_policy(asks=asks))
    yield Template(head).substitute(title=html.escape(title), policy=policy, style=style)
    for name, text in chunks:
        yield f'<script type="text/plain" id="data-{name}">{text}</script>\n'
    columns = {"columns": COLUMNS, "case_columns": CASE_COLUMNS}
    text = script_json({**columns, **meta})
    yield f'<script type="application/json" id="data-meta">{text}</script>\n'
    yield Template(tail).substitute(script=script)


def script_json(value: Any) -> str:
    """Return `value` as JSON that is safe inside a `<script>` element: ASCII without <, > and &.

    Raises ValueError for NaN and infinity.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.translate(_ESCAPES)


def page_policy(*, asks: bool = False) -> str:
    """Return the content security policy of the page; see `html_page`."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_digest(_script())}'",
            f"style-src 'sha256-{_digest(_static('page.css'))}'",
            "connect-src 'self'" if asks else "connect-src 'none'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _script() -> str:
    scripts = "\n".join(_static(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{scripts}\n}})();\n'


def _static(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
