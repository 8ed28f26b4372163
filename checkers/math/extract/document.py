"""Read the text of a response once into a document: formulas, boxes, sentences.

    text ─▶ cleaned ─▶ Document(text, formulas, boxes, breaks)

    formula   `$…$`, `\\(…\\)`, `\\[…\\]`, `\\begin{…}…\\end{…}`       never split
    box       `\\boxed{…}` with balanced braces, `\\fbox{…}`, `\\boxed 5`
    break     the end of a sentence, of a line, `;`, the end of bold text: not within a formula

`**` is bold unless it is a power: `**4**` is a bold 4, `x**2` a power.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

from gradebox.checkers.math.extract.formats import MAX_CHARS, last_turn, with_short_blanks
from gradebox.checkers.math.read.normalise import closing_brace

MAX_BOXES = 64  # considered, from the end
MAX_PROSE = 4000  # characters after an announcement, or at the end of prose
_MATH = (
    r"\$\$.{1,4000}?\$\$|\\\[.{1,4000}?\\\]|\\\(.{1,4000}?\\\)"
    # `$400 + $60` is money
    r"|(?<!\\)\$(?!\d[^$]{0,200}(?:\s\$|\$\d))(?:\\.|[^$\\]){1,4000}?\$"
)
_ENVIRONMENT = (
    r"\\begin\{(?P<name>[pbvBV]?matrix|array|align\*?|aligned|gather\*?|equation\*?|cases)\}"
    r".{0,4000}?\\end\{(?P=name)\}"
)
MATH = re.compile(_MATH, re.S)
FORMULA = re.compile(rf"{_MATH}|{_ENVIRONMENT}", re.S)
ENVIRONMENT = re.compile(_ENVIRONMENT, re.S)
_POWER = r"(?<=[\d)}\]])\*\*(?=[\w({\\+-])|(?<=(?<![A-Za-z])[A-Za-z])\*\*(?=[\w({\\+-])"
_BOLD_END = rf"(?<=\S)(?!{_POWER})\*\*"
_ABBREVIATED = r"(?<!\bi\.e)(?<!\be\.g)(?<!\bM[rs])(?<!\b[MD]rs)(?<!\bDr)(?<!\bSt)"
_BREAK = re.compile(  # not the factorial of `(n-1)!`
    rf"(?P<line>\n)|(?P<stop>{_ABBREVIATED}(?:[.?]|(?<![)\]}}])(?<!\b[a-z])!)(?=\s|$)|。)"
    rf"|(?P<part>;(?=\s)|；)|(?P<bold>{_BOLD_END})"
)
_BOX = re.compile(
    r"\\(?:boxed|fbox|framebox)\s{0,50}(\{|[A-Za-z0-9]|\\[dt]?frac\s*\{[^{}]{0,99}\}\s*\{[^{}]{0,99}\}"
    r"|\\sqrt\s*\{[^{}]{0,99}\}|\\pi)"
)
_OPEN_BOX = re.compile(  # `$\\boxed{12$` at the end: the math is closed, the answer is not cut
    r"([^$\n]{1,200}?)(?<!\\)(?:\${1,2}|\\[)\]])[\s.]*$"
)
_EMPTY_BOX = re.compile(r"[\s?_.…]+|\\(?:l?dots|quad|square)")  # `\boxed{?}` of the question
_BOLD = re.compile(r"(?<![\w)\]}*])\*\*(?=[^\s*])(.{1,200}?)(?<=[^\s*])\*\*(?![\w(*])")
_NOT_POWER = re.compile(rf"(?!{_POWER})\*\*")
_STRUCK = re.compile(  # `~~9~~`; in LaTeX `~` is a blank
    r"(?<!\S)~~(?=[^\s~])[^~\n]{1,400}?(?<=[^\s~])~~(?!~)|<del>[^<]{1,400}</del>"
    r"|\\sout\s*\{[^{}]{1,400}\}"
)
_NOISE = re.compile(  # typed in a session, a quotation mark, a Python trace, a drawing
    r"^(?:>>>|\.\.\.) [^\n]*\n(?=[^\n])|^[ \t]{0,20}>[ \t]?(?=\S)"
    r"|Traceback \(most recent call last\):\n(?:[ \t]+[^\n]*\n)*[^\n]*\n?"
    r"|\[asy\](?:(?!\[asy\])[\s\S]){0,9000}?\[/asy\]",
    re.M,
)
_SYMBOLS = re.compile(  # check marks, ends of proofs, emoji
    "[\u2600-\u26ff\u2705\u2713\u2714\u274c\u25a0\u25a1\u220e\ufe0f\U0001f300-\U0001faff]"
)
_FENCE = re.compile(r"\s*```[ \t]*\w*[^\S\n]*\n(.*?)\n?[ \t]*```", re.S)
_CODE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.S | re.M)
_TRACE = re.compile(r"Traceback \(most recent call last\)|^\w*(?:Error|Exception):", re.M)
_PROGRAM_LANGUAGES = frozenset(
    ["python", "python3", "py", "cpp", "c", "java", "javascript", "js", "r", "matlab", "sage",
     "bash", "sh", "lean", "lean4"]
)  # fmt: skip


@dataclass(frozen=True)
class Box:
    """A closed box: where it is in the text, and its contents."""

    start: int
    end: int
    contents: str


@dataclass(frozen=True)
class Document:
    """A text with its formulas and breaks as (start, end), and its boxes, in order."""

    text: str
    formulas: tuple[tuple[int, int], ...]
    boxes: tuple[Box, ...]
    breaks: tuple[tuple[int, str], ...]  # (where, kind), outside formulas

    def until_break(self, start: int) -> str:
        """Return the text from `start` to the next break."""
        at = bisect_left(self.breaks, (start, ""))
        end = self.breaks[at][0] if at < len(self.breaks) else len(self.text)
        return self.text[start:end]


def read(text: str) -> Document:
    """Return the document of a cleaned text."""
    formulas = tuple(m.span() for m in FORMULA.finditer(text))
    breaks, at = [], 0
    for m in _BREAK.finditer(text):
        while at < len(formulas) and formulas[at][1] <= m.start():
            at += 1
        if at == len(formulas) or m.start() < formulas[at][0]:
            breaks.append((m.start(), str(m.lastgroup)))
    return Document(text, formulas, tuple(boxes(text)), tuple(breaks))


def boxes(text: str) -> list[Box]:
    """Return the closed boxes that are not within another and not empty."""
    out: list[Box] = []
    at = 0
    for m in list(_BOX.finditer(text))[-MAX_BOXES:]:
        if m.start() < at:
            continue
        if m[1] != "{":
            out.append(Box(m.start(), m.end(), m[1]))
            at = m.end()
            continue
        end = closing_brace(text, m.end() - 1)
        if end < 0:
            open_box = _OPEN_BOX.match(text, m.end())
            if open_box and open_box[1].count("{") == open_box[1].count("}"):
                out.append(Box(m.start(), open_box.end(), open_box[1]))
            continue
        out.append(Box(m.start(), end + 1, text[m.end() : end]))
        at = end + 1
    return [box for box in out if not _EMPTY_BOX.fullmatch(box.contents)]


def math_contents(formula: str) -> str:
    """Return what is between the delimiters of a formula; an environment as it is."""
    for mark in ("$$", "$"):
        if formula.startswith(mark) and formula.endswith(mark) and len(formula) > 2 * len(mark):
            return formula[len(mark) : -len(mark)]
    return formula[2:-2] if formula[:2] in (r"\(", r"\[") else formula


# ---- what is left out before ----


def model_text(response: str) -> str:
    """Return the assistant's text after its thoughts, without traces and drawings."""
    response = with_short_blanks(_NOISE.sub("", last_turn(response)[-MAX_CHARS:]))
    return (response if response.isascii() else _SYMBOLS.sub("", response)).strip()


def without_struck(text: str) -> str:
    """Return a text without what it strikes through."""
    kept = _STRUCK.sub(" ", text)
    return kept if kept.strip() else text


def without_bold(text: str) -> str:
    """Return a text without the marks of bold text; `**` of a power stays."""
    return _NOT_POWER.sub("", _BOLD.sub(r"\1", text)) if "**" in text else text


def without_fence(text: str) -> str:
    """Return what a code fence at the start of a text encloses; any other text as it is."""
    m = _FENCE.match(text)
    return m[1].strip() if m and m[1].strip() else text


def without_code(text: str) -> str:
    """Return a text without its programs; other fenced blocks, such as outputs, stay."""
    if "```" not in text:
        return text
    return with_short_blanks(_CODE.sub(_output, text)).strip()


def _output(m: re.Match[str]) -> str:
    """Return an output; "" for a program and for the trace of its error."""
    return "" if m[1].lower() in _PROGRAM_LANGUAGES or _TRACE.search(m[2]) else m[2]
