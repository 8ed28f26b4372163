"""Pieces of data the page loads: inside it while they are small, else script files beside it.

    Chunks.add("rows", …) ─▶ rows-0, rows-1, …          a list of rows each
    Chunks.add("details", …) ─▶ details-0, details-1, …  a list of details each

A page opened from the file system may not fetch files, but it may load scripts: a file is one
call, `gradeboxChunk("rows-0", token, "…JSON…")`. The token says which report a file belongs to:
a page left open while the report is made anew must not show data of other solutions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from eval.input_error import InputError
from eval.report_parts.script_json import script_json

CHUNK_CHARS = 1 << 20
INLINE_CHARS = 4 << 20
_OUR_FILE = re.compile(r"(rows|details)-\d+\.js")


class Chunks:
    """Collects values in named series; holds at most INLINE_CHARS, then writes files.

    folder  where files go once there is too much for one page; files of an earlier report
            in it are removed
    token   the same in the page and in its files
    """

    def __init__(self, folder: Path, token: str, inline_chars: int = INLINE_CHARS) -> None:
        self._folder = folder
        self._token = token
        self._inline_chars = inline_chars
        self._open: dict[str, list[str]] = {}
        self._open_chars: dict[str, int] = {}
        self._done: dict[str, int] = {}
        self._held: dict[str, str] = {}
        self._held_chars = 0
        self._spilled = False
        self._remove_old()

    def add(self, series: str, value: Any) -> tuple[int, int]:
        """Add a value; gives the number of its chunk and its place in it."""
        text = script_json(value)
        if self._open_chars.get(series, 0) + len(text) > CHUNK_CHARS:
            self._close(series)
        values = self._open.setdefault(series, [])
        values.append(text)
        self._open_chars[series] = self._open_chars.get(series, 0) + len(text) + 1
        return self._done.get(series, 0), len(values) - 1

    def finish(self) -> dict[str, int]:
        """Close what is open; gives the number of chunks of each series."""
        for series in list(self._open):
            self._close(series)
        return dict(self._done)

    def inline(self) -> Iterator[tuple[str, str]]:
        """(name, JSON) of what stands in the page itself; empty when files were written."""
        yield from self._held.items()

    @property
    def folder(self) -> Path | None:
        """Where files were written, or None."""
        return self._folder if self._spilled else None

    def _close(self, series: str) -> None:
        values = self._open.pop(series, [])
        self._open_chars[series] = 0
        if not values:
            return
        number = self._done.get(series, 0)
        self._done[series] = number + 1
        name, text = f"{series}-{number}", f"[{','.join(values)}]"
        if self._spilled:
            self._write(name, text)
            return
        self._held[name] = text
        self._held_chars += len(text)
        if self._held_chars > self._inline_chars:
            self._spill()

    def _spill(self) -> None:
        self._spilled = True
        for name, text in self._held.items():
            self._write(name, text)
        self._held.clear()

    def _write(self, name: str, text: str) -> None:
        path = self._folder / f"{name}.js"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            call = ",".join(map(script_json, (name, self._token, text)))
            path.write_text(f"gradeboxChunk({call});\n", "ascii")
        except OSError as error:
            raise InputError(
                f"{path}: can't write: {error.strerror}; choose another place with -o"
            ) from None

    def _remove_old(self) -> None:
        if not self._folder.is_dir():
            return
        for path in self._folder.iterdir():
            if _OUR_FILE.fullmatch(path.name):
                path.unlink()
        if not any(self._folder.iterdir()):
            self._folder.rmdir()
