"""Tokens and lines of large outputs, in windows of 64 KiB: memory stays flat, and a window's
tokens stay in the processor's cache (whole-file `split` takes twice the time, 10 MB measured).

    data ──Tokens.take──▶ ([token, …], clean) ──lockstep──▶ (first index, [a…], clean, [b…], clean)

`clean` says that a whole window passed a quick test of the caller's (say: only integers).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

WINDOW_BYTES = 1 << 16

# C's isspace: what bytes.split() without an argument cuts at.
C_SPACE = re.compile(rb"[ \t\r\n\v\f]")
# testlib's blanks: vertical tabs and form feeds belong to tokens.
TESTLIB_BLANK = re.compile(rb"[ \t\r\n]")
_TESTLIB_WORD = re.compile(rb"[^ \t\r\n]+")

Test = Callable[[bytes], bool]


def always(_window: bytes) -> bool:
    """The quick test that every window passes."""
    return True


class Tokens:
    """Reads the tokens of `data` window by window, in order.

    blank    C_SPACE or TESTLIB_BLANK
    test     a quick test of a window's text, handed on with its tokens
    """

    def __init__(
        self, data: bytes, *, blank: re.Pattern[bytes] = C_SPACE, test: Test = always
    ) -> None:
        self._data = data
        self._at = 0
        self._blank = blank
        self._test = test
        self._plain_split = blank is C_SPACE or not (b"\v" in data or b"\f" in data)

    def take(self) -> tuple[list[bytes], bool]:
        """The next window's tokens, at least one, and what its test said; ([], True) at the end."""
        while self._at < len(self._data):
            window = self._window()
            found = window.split() if self._plain_split else _TESTLIB_WORD.findall(window)
            if found:
                return found, self._test(window)
        return [], True

    def _window(self) -> bytes:
        """The next bytes, ending where a token ends."""
        start, end = self._at, self._at + WINDOW_BYTES
        if end < len(self._data):
            cut = self._blank.search(self._data, end)
            end = cut.start() if cut else len(self._data)
        self._at = end
        return self._data[start:end]

    def __iter__(self) -> Iterator[bytes]:
        while True:
            found, _ = self.take()
            if not found:
                return
            yield from found


class Lines:
    """Reads the lines of `data` window by window; LF ends a line, the last may lack it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._end = len(data) - data.endswith(b"\n")

    def cut(self, window: bytes) -> list[bytes]:
        """The lines of a window; a subclass may leave some out."""
        return window.split(b"\n")

    def take(self) -> tuple[list[bytes], bool]:
        """The next window's lines, at least one; ([], True) at the end."""
        while self._at < len(self._data):
            end = self._data.find(b"\n", self._at + WINDOW_BYTES)
            end = self._end if end < 0 else end
            found = self.cut(self._data[self._at : end])
            self._at = end + 1
            if found:
                return found, True
        return [], True


class Windows(Protocol):
    """What `Lockstep` reads: lists of tokens or lines, none empty but the last."""

    def take(self) -> tuple[list[bytes], bool]: ...


@dataclass
class Lockstep:
    """Two streams of tokens or lines side by side.

    After the loop over it has ended, `count` tokens were paired and `rest_a` and `rest_b`
    say whether tokens are left on either side (`left_a`, `left_b`: with their clean flag).
    """

    a: Windows
    b: Windows
    count: int = 0

    def __post_init__(self) -> None:
        self.left_a: tuple[list[bytes], bool] = ([], True)
        self.left_b: tuple[list[bytes], bool] = ([], True)

    def __iter__(self) -> Iterator[tuple[int, list[bytes], bool, list[bytes], bool]]:
        while True:
            if not self.left_a[0]:
                self.left_a = self.a.take()
            if not self.left_b[0]:
                self.left_b = self.b.take()
            (a, clean_a), (b, clean_b) = self.left_a, self.left_b
            if not a or not b:
                return
            size = min(len(a), len(b))
            head_a = a if len(a) == size else a[:size]
            head_b = b if len(b) == size else b[:size]
            yield self.count, head_a, clean_a, head_b, clean_b
            self.count += size
            self.left_a, self.left_b = (a[size:], clean_a), (b[size:], clean_b)

    @property
    def rest_a(self) -> bool:
        return bool(self.left_a[0])

    @property
    def rest_b(self) -> bool:
        return bool(self.left_b[0])

    def drain_a(self) -> Iterator[tuple[list[bytes], bool]]:
        """What is left of `a`, window by window."""
        yield from _drain(self.left_a, self.a)

    def drain_b(self) -> Iterator[tuple[list[bytes], bool]]:
        """What is left of `b`, window by window."""
        yield from _drain(self.left_b, self.b)


def _drain(left: tuple[list[bytes], bool], more: Windows) -> Iterator[tuple[list[bytes], bool]]:
    while left[0]:
        yield left
        left = more.take()


def first_unequal(a: list[bytes], b: list[bytes]) -> int:
    """Index of the first place where two lists of one length differ; -1 when they don't."""
    if a == b:
        return -1
    return next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)


_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}


def shown(data: bytes, limit: int = 40) -> str:
    """At most `limit` bytes of untrusted `data` for a message: printable ASCII, the rest escaped.

    Longer data keeps its head and its tail, since numbers differ at the end as often as not.
    """
    if len(data) <= limit:
        return _escaped(data)
    head, tail = data[: limit * 2 // 3], data[-(limit // 3) :]
    return f"{_escaped(head)}…{_escaped(tail)} ({len(data)} bytes)"


def _escaped(data: bytes) -> str:
    return "".join(_ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else f"\\x{c:02x}") for c in data)
