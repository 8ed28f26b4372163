r"""Find the \boxed{…} answers of a text in one pass, however many braces it has."""

from __future__ import annotations

import re

MOST_READ = 1 << 15  # characters of a response: 15 ms if each is a brace
_BOX = re.compile(r"\\boxed\s*\{|\\.|[{}]", re.DOTALL)
_BOX_WITHOUT_BACKSLASH = re.compile(r"\\?boxed\s*\{|\\.|[{}]", re.DOTALL)


def last_boxed(text: str) -> str | None:
    r"""Return the contents of the last closed \boxed{…}, the inner one of nested boxes."""
    spans = _boxed_spans(_BOX, text)
    return text[slice(*spans[-1])] if spans else None


def all_boxed(text: str) -> list[str]:
    r"""Return the stripped contents of every closed \boxed{…} or boxed{…}, outer ones only."""
    found = []
    outer_end = 0
    for start, end in _boxed_spans(_BOX_WITHOUT_BACKSLASH, text):
        if start >= outer_end:
            found.append(text[start:end].strip())
            outer_end = end
    return found


def _boxed_spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Return the span of the contents of every closed box, in the order of their starts."""
    opened: list[int | None] = []  # start of the contents for a box, None for another brace
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        token = match[0]
        if token == "}":
            start = opened.pop() if opened else None
            if start is not None:
                spans.append((start, match.start()))
        elif token[-1] == "{" and token != "\\{":
            opened.append(match.end() if len(token) > 1 else None)
    return sorted(spans)
