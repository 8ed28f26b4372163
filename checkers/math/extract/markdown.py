"""Tell bold text from powers: `**4**` is a bold 4, `x**2` a power. Remove programs."""

from __future__ import annotations

import re

_POWER = r"(?<=[\d)}\]])\*\*(?=[\w({\\+-])|(?<=(?<![A-Za-z])[A-Za-z])\*\*(?=[\w({\\+-])"
BOLD_END = re.compile(rf"(?<=\S)(?!{_POWER})\*\*")
_BOLD = re.compile(r"(?<![\w)\]}*])\*\*(?=[^\s*])(.{1,200}?)(?<=[^\s*])\*\*(?![\w(*])")
_UNDERLINED = re.compile(r"(?<![\w_])__([^_\n]{1,200})__(?![\w_])")
_NOT_POWER = re.compile(rf"(?!{_POWER})\*\*")
_QUOTE = re.compile(r"^[ \t]*>[ \t]?(?=\S)", re.M)
_CODE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.S | re.M)
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\w*(?:Error|Exception):", re.M)
_PROGRAM_LANGUAGES = frozenset(
    ["python", "python3", "py", "cpp", "c", "java", "javascript", "js", "r", "matlab", "sage",
     "bash", "sh", "lean", "lean4"]
)  # fmt: skip


def without_bold(text: str) -> str:
    """Return a text without the marks of bold text; `**` of a power stays."""
    if "__" in text:
        text = _UNDERLINED.sub(r"\1", text)
    if "**" not in text:
        return text
    return _NOT_POWER.sub("", _BOLD.sub(r"\1", text))


_STRUCK = re.compile(  # `~~9~~`; in LaTeX `~` is a blank
    r"(?<!\S)~~(?=[^\s~])[^~\n]{1,400}?(?<=[^\s~])~~(?!~)|<del>[^<]{1,400}</del>"
    r"|\\sout\s*\{[^{}]{1,400}\}"
)


def without_struck(text: str) -> str:
    """Return a text without what it strikes through, unless nothing else is left."""
    if "~~" not in text and "<del>" not in text and r"\sout" not in text:
        return text
    kept = _STRUCK.sub(" ", text)
    return kept if kept.strip() else text


_BLANKS = re.compile(r"\s{50,}")


def with_short_blanks(text: str) -> str:
    """Shorten long runs of blanks: where blanks are optional, a pattern would try each of them."""
    return _BLANKS.sub(lambda m: "\n\n" if "\n" in m[0] else " ", text)


def without_quote_marks(text: str) -> str:
    """Return a text without the `>` before quoted lines."""
    return _QUOTE.sub("", text) if text.lstrip().startswith(">") or "\n>" in text else text


_FENCE = re.compile(r"\s*```[ \t]*\w*[^\S\n]*\n(.*?)\n?[ \t]*```", re.S)


def without_fence(text: str) -> str:
    """Return what a code fence at the start of a text encloses; any other text as it is."""
    m = _FENCE.match(text)
    return m[1].strip() if m and m[1].strip() else text


def without_code(text: str) -> str:
    """Return a text without its programs; other fenced blocks, such as outputs, stay."""
    if "```" not in text:
        return text
    return with_short_blanks(_CODE.sub(_fenced, text)).strip()


def _fenced(m: re.Match[str]) -> str:
    """Return an output; "" for a program and for the trace of its error."""
    return "" if m[1].lower() in _PROGRAM_LANGUAGES or _TRACE.search(m[2]) else m[2]
