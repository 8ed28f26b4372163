"""The page as files: template, style, script, and the data in chunks.

Data is inside the page while it is small, else in files beside it:

    Chunks.add("rows", …)    ─▶ rows-0, rows-1, …        each a list of rows
    Chunks.add("details", …) ─▶ details-0, details-1, …  each a list of details

A page opened from the file system may not fetch files, but it may load scripts. So each file is
one call, `gradeboxChunk("rows-0", token, "…JSON…")`. The token identifies the report: a page
that is still open when the report is rewritten must not show data of the new one.

The content security policy allows one style and one script, by their hashes, and what that script
loads (`strict-dynamic`: the data files). Nothing else runs, wherever untrusted text might end up,
and the browser refuses to turn a string into markup or script (trusted types).
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Template
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.whole_file import whole_file

CHUNK_CHARS = 1 << 20
INLINE_CHARS = 4 << 20
_CHUNK_FILE = re.compile(r"(rows|details)-\d+\.js")
# Besides `</script>` and `<!--`: U+2028 and U+2029 end a line in old script engines, and a
# browser may guess a wrong encoding. So everything but plain ASCII is escaped.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\x7f": "\\u007f"})


def script_json(value: Any) -> str:
    """Return `value` as JSON that is safe inside a `<script>` element: ASCII without <, > and &.

    Raises ValueError for NaN and infinity.
    """
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.translate(_ESCAPES)


class Chunks:
    """Collect values in named series, and write files once they exceed `inline_chars`.

    folder  where the files go; chunk files of an earlier report in it are removed
    token   identifies the report in the page and in its files
    inline  name ─▶ JSON of each chunk that belongs in the page; empty when files are written
    """

    def __init__(self, folder: Path, token: str, inline_chars: int = INLINE_CHARS) -> None:
        self._folder = folder
        self._token = token
        self._inline_chars = inline_chars
        self._open: dict[str, list[str]] = defaultdict(list)
        self._open_chars: dict[str, int] = defaultdict(int)
        self._finished: dict[str, int] = defaultdict(int)
        self._inline_size = 0
        self._uses_files = False
        self.inline: dict[str, str] = {}
        self._remove_old()

    def add(self, series: str, value: Any) -> tuple[int, int]:
        """Add a value; return the number of its chunk and its index in the chunk."""
        text = script_json(value)
        if self._open_chars[series] + len(text) > CHUNK_CHARS:
            self._finish_chunk(series)
        self._open[series].append(text)
        self._open_chars[series] += len(text) + 1
        return self._finished[series], len(self._open[series]) - 1

    def finish(self) -> dict[str, int]:
        """Finish every open chunk; return the number of chunks of each series."""
        for series in list(self._open):
            self._finish_chunk(series)
        return dict(self._finished)

    @property
    def folder(self) -> Path | None:
        """The folder of the files, or None when all data is in the page."""
        return self._folder if self._uses_files else None

    def _finish_chunk(self, series: str) -> None:
        values = self._open.pop(series, [])
        self._open_chars[series] = 0
        if not values:
            return
        name, text = f"{series}-{self._finished[series]}", f"[{','.join(values)}]"
        self._finished[series] += 1
        if self._uses_files:
            self._write(name, text)
            return
        self.inline[name] = text
        self._inline_size += len(text)
        if self._inline_size > self._inline_chars:
            self._uses_files = True
            for name, text in self.inline.items():
                self._write(name, text)
            self.inline.clear()

    def _write(self, name: str, text: str) -> None:
        call = ",".join(map(script_json, (name, self._token, text)))
        write_report_file(self._folder / f"{name}.js", [f"gradeboxChunk({call});\n"])

    def _remove_old(self) -> None:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            if _CHUNK_FILE.fullmatch(path.name):
                path.unlink()
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


def write_report_file(path: Path, pieces: Iterable[str]) -> None:
    """Write a file of the report whole, so that a browser never reads half of it.

    Makes its folder. Raises InputError when the file can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path, durable=False) as file:
            file.writelines(piece.encode() for piece in pieces)
    except OSError as error:
        raise InputError(
            f"{path}: can't be written: {error.strerror}; choose another place with -o"
        ) from None


STATIC = Path(__file__).resolve().parent / "static"
SCRIPTS = (
    *("base", "diff", "data", "summary", "source", "rerun", "solution", "table", "view", "runs"),
    "app",
)


def html_page(
    title: str, run: Any, chunks: Mapping[str, str], *, asks: bool = False
) -> Iterator[str]:
    """Yield the page in pieces.

    run     what the script needs of the run as a whole, as JSON values
    chunks  name ─▶ JSON of the data inside the page
    asks    the page may ask the server that it comes from
    """
    style, script = _style(), _script()
    head, tail = _static("page.html").split("$chunks")
    values = {
        "title": html.escape(title),
        "policy": html.escape(page_policy(asks=asks)),
        "style": style,
    }
    yield Template(head).substitute(values)
    yield _data_element("meta", script_json(run))
    for name, text in chunks.items():
        yield _data_element(name, text)
    yield Template(tail).substitute(script=script)


def page_policy(*, asks: bool = False) -> str:
    """Return the content security policy of the page; see `html_page`."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src 'sha256-{_digest(_script())}' 'strict-dynamic'",
            f"style-src 'sha256-{_digest(_style())}'",
            "connect-src 'self'" if asks else "connect-src 'none'",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types gradebox",
        )
    )


def _style() -> str:
    return _static("page.css")


def _script() -> str:
    scripts = "\n".join(_static(f"{name}.js") for name in SCRIPTS)
    return f'(() => {{\n"use strict";\n{scripts}\n}})();\n'


def _static(name: str) -> str:
    return (STATIC / name).read_text("utf-8")


def _data_element(name: str, text: str) -> str:
    return f'<script type="application/json" id="data-{html.escape(name)}">{text}</script>\n'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
