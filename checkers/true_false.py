"""Extract TRUE or FALSE from a response by the rules of the Equational Theories judge.

    response without emphasis ─▶ candidates (rank, position, value) ─▶ highest rank, then last

rank 3  \\boxed{…}     rank 2  `VERDICT: …` and other labels     rank 1  first or last line
docs/verdicts.md has the rules, which were published with the benchmark's judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_EMPHASIS = re.compile(r"\*\*\*|\*\*|__|`")
_BOX_START = "\\boxed{"
_BOX_PADDING = " .,;:!?$()[]\n\t\r"
_WRAPPER = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{(.*)\}", re.S)
_MAX_WRAPPERS = 4
_VALUE = re.compile(r"true|false", re.I)
_LABELLED = re.compile(
    r"\bVERDICT\s*[:：]\s*(?P<verdict>TRUE|FALSE)\b"
    r"|\b(?:FINAL\s+ANSWER|ANSWER|RESULT|OUTPUT_RESULT)\s*[:：=\-]\s*(?P<label>TRUE|FALSE)\b"
    r"|\\text\{\s*(?P<text>TRUE|FALSE)\s*\}",
    re.I,
)
_ALTERNATIVE = re.compile(r"[ \t]*(?:or\b|/\s*(?:TRUE|FALSE)\b)", re.I)
_LINE = re.compile(r"(?:FINAL\s+ANSWER\s*[:：]\s*)?(TRUE|FALSE)\s*[.!?]*", re.I)
RANKS = {3: "boxed", 2: "labelled", 1: "line"}


class Verdict(NamedTuple):
    """The verdict of a response.

    value   True, False, or None without a verdict
    reason  the rule that found it ("boxed", "labelled", "line"), or why there is none
    """

    value: bool | None
    reason: str


@dataclass(frozen=True, order=True)
class _Candidate:
    rank: int
    position: int
    value: bool


def extract_verdict(response: str) -> Verdict:
    """Return the verdict of a response and the reason for it."""
    text = _EMPHASIS.sub("", response)
    if not text.strip():
        return Verdict(None, "the response is empty")
    candidates = [*_boxed(text), *_labelled(text), *_lines(text)]
    if not candidates:
        return Verdict(None, "no boxed, labelled or bare TRUE or FALSE")
    best = max(candidates)
    return Verdict(best.value, RANKS[best.rank])


def _is_true(word: str) -> bool:
    return word.lower() == "true"


def _boxed(text: str) -> list[_Candidate]:
    found = []
    closing = _closing_braces(text)
    start = text.find(_BOX_START)
    while start >= 0:
        end, following = closing.get(start + len(_BOX_START) - 1), text.find(_BOX_START, start + 1)
        # A box that contains another one has no bare word. Reading the contents of nested boxes
        # would take quadratic time: 90 s for 4.5 MB.
        if end is not None and not start < following < end:
            contents = _unwrap(text[start + len(_BOX_START) : end])
            if _VALUE.fullmatch(contents):
                found.append(_Candidate(3, start, _is_true(contents)))
        start = following
    return found


def _closing_braces(text: str) -> dict[int, int]:
    """Return the position of the closing brace of each opening brace that has one."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for i, c in enumerate(text):
        if c == "{":
            opened.append(i)
        elif c == "}" and opened:
            closing[opened.pop()] = i
    return closing


def _unwrap(contents: str) -> str:
    contents = contents.strip(_BOX_PADDING)
    for _ in range(_MAX_WRAPPERS):
        match = _WRAPPER.fullmatch(contents)
        if match is None:
            break
        contents = match[1].strip(_BOX_PADDING)
    return contents


def _labelled(text: str) -> list[_Candidate]:
    found = []
    for match in _LABELLED.finditer(text):
        if _ALTERNATIVE.match(text, match.end()):
            continue  # "VERDICT: TRUE or FALSE" is an instruction
        word = match["verdict"] or match["label"] or match["text"]
        found.append(_Candidate(2, match.start(), _is_true(word)))
    return found


def _lines(text: str) -> list[_Candidate]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    matches = [(0, _LINE.fullmatch(lines[0])), (len(text), _LINE.fullmatch(lines[-1]))]
    return [_Candidate(1, position, _is_true(match[1])) for position, match in matches if match]


_PLACEHOLDER = re.compile(r"\{\{(?: equation([12]) |equation([12]))\}\}")


def render_prompt(template: str, equation1: str, equation2: str) -> str:
    """Return `template` with the equations for `{{equation1}}` and `{{ equation2 }}`.

    Other placeholders, and those inside the equations, are not filled in.
    """
    equations = {"1": equation1, "2": equation2}
    return _PLACEHOLDER.sub(lambda match: equations[match[1] or match[2]], template)
