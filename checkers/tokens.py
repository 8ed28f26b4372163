"""Read tokens and lines of large outputs in windows of 64 KiB, two streams side by side.

    data ──Tokens.take──▶ ([token, …], clean) ──Lockstep──▶ (first index, [a…], clean, [b…], clean)

Memory stays flat, and a window's tokens stay in the processor's cache: splitting a whole file
takes twice the time (measured with 10 MB). `clean` reports that the whole window passed a quick
test of the caller's, for example that it holds only integers.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Protocol

WINDOW_BYTES = 1 << 16

# C's isspace: where bytes.split() without an argument splits.
C_SPACE = re.compile(rb"[ \t\r\n\v\f]")
# testlib's blanks: vertical tabs and form feeds belong to tokens.
TESTLIB_BLANK = re.compile(rb"[ \t\r\n]")
_TESTLIB_WORD = re.compile(rb"[^ \t\r\n]+")

Test = Callable[[bytes], bool]
Window = tuple[list[bytes], bool]
_END: Window = ([], True)


def always(_window: bytes) -> bool:
    """Pass every window."""
    return True


class Windows(Protocol):
    """A stream of tokens or lines."""

    def take(self) -> Window:
        """Return the next window, at least one token or line; ([], True) at the end."""
        ...


class Tokens:
    """Reads the tokens of `data` window by window, in order.

    blank    C_SPACE or TESTLIB_BLANK
    test     a quick test of a window's text; the result is returned with its tokens
    """

    def __init__(
        self, data: bytes, *, blank: re.Pattern[bytes] = C_SPACE, test: Test = always
    ) -> None:
        self._data = data
        self._at = 0
        self._blank = blank
        self._test = test
        self._plain_split = blank is C_SPACE or not (b"\v" in data or b"\f" in data)

    def take(self) -> Window:
        while self._at < len(self._data):
            window = self._window()
            found = window.split() if self._plain_split else _TESTLIB_WORD.findall(window)
            if found:
                return found, self._test(window)
        return _END

    def _window(self) -> bytes:
        """Return the next bytes, ending where a token ends."""
        start, end = self._at, self._at + WINDOW_BYTES
        if end < len(self._data):
            cut = self._blank.search(self._data, end)
            end = cut.start() if cut else len(self._data)
        self._at = end
        return self._data[start:end]

    def __iter__(self) -> Iterator[bytes]:
        while found := self.take()[0]:
            yield from found


class Lines:
    """Reads the lines of `data` window by window; LF ends a line, the last may lack it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._end = len(data) - data.endswith(b"\n")

    def cut(self, window: bytes) -> list[bytes]:
        """Return the lines of a window; a subclass may leave some out."""
        return window.split(b"\n")

    def take(self) -> Window:
        while self._at < len(self._data):
            end = self._data.find(b"\n", self._at + WINDOW_BYTES)
            end = self._end if end < 0 else end
            found = self.cut(self._data[self._at : end])
            self._at = end + 1
            if found:
                return found, True
        return _END


class TokenStream:
    """One stream of a `Lockstep`, with the part of its window that is not paired yet."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows
        self._left: Window = _END

    def peek(self) -> Window:
        if not self._left[0]:
            self._left = self._windows.take()
        return self._left

    def skip(self, count: int) -> list[bytes]:
        """Remove and return the first tokens of the window."""
        tokens, clean = self._left
        self._left = tokens[count:], clean
        return tokens[:count] if count < len(tokens) else tokens

    @property
    def rest(self) -> bool:
        """Whether tokens are left after the loop over the Lockstep."""
        return bool(self._left[0])

    @property
    def next(self) -> bytes | None:
        """The first of them."""
        return self._left[0][0] if self._left[0] else None

    def drain(self) -> Iterator[Window]:
        """Yield the rest window by window."""
        while self.peek()[0]:
            yield self._left
            self._left = _END


class Lockstep:
    """Reads two streams of tokens or lines side by side.

    Iterating yields (index of the first pair, tokens of a, clean, as many tokens of b, clean).
    Afterwards `count` tokens were paired, and `a.rest` or `b.rest` is true where more are left.
    """

    def __init__(self, a: Windows, b: Windows) -> None:
        self.a = TokenStream(a)
        self.b = TokenStream(b)
        self.count = 0

    def __iter__(self) -> Iterator[tuple[int, list[bytes], bool, list[bytes], bool]]:
        while True:
            (a, clean_a), (b, clean_b) = self.a.peek(), self.b.peek()
            size = min(len(a), len(b))
            if not size:
                return
            yield self.count, self.a.skip(size), clean_a, self.b.skip(size), clean_b
            self.count += size


def first_unequal(a: list[bytes], b: list[bytes]) -> int:
    """Return the index where two lists of one length first differ; -1 when they are equal."""
    if a == b:
        return -1
    return next(i for i, (x, y) in enumerate(zip(a, b, strict=True)) if x != y)


_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 92: "\\\\"}


def shown(data: bytes, limit: int = 40) -> str:
    """Return at most `limit` bytes of untrusted data as printable ASCII, the rest escaped.

    Longer data keeps its head and its tail, since numbers often differ at the end.
    """
    if len(data) <= limit:
        return _escaped(data)
    head, tail = data[: limit * 2 // 3], data[-(limit // 3) :]
    return f"{_escaped(head)}…{_escaped(tail)} ({len(data)} bytes)"


def _escaped(data: bytes) -> str:
    return "".join(_ESCAPES.get(c) or (chr(c) if 32 <= c < 127 else f"\\x{c:02x}") for c in data)
