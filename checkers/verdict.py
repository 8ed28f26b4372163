"""TRUE or FALSE out of a model's response, by the Equational Theories judge's rules.

    clean ─▶ candidates (rank, position, value) ─▶ the highest rank, then the last

rank 3  \\boxed{…}     rank 2  `VERDICT: …` and other labels     rank 1  first or last line
docs/verdicts.md states the rules; they were published with the benchmark's judge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

_DELETED = re.compile(r"\*\*\*|\*\*|__|`")
_BOXED = "\\boxed{"
_BOX_STRIP = " .,;:!?$()[]\n\t\r"
_WRAPPER = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{(.*)\}", re.S)
_WRAPPERS = 4
_VALUE = re.compile(r"true|false", re.I)
_LABELLED = re.compile(
    r"\bVERDICT\s*[:：]\s*(?P<verdict>TRUE|FALSE)\b"
    r"|\b(?:FINAL\s+ANSWER|ANSWER|RESULT|OUTPUT_RESULT)\s*[:：=\-]\s*(?P<label>TRUE|FALSE)\b"
    r"|\\text\{\s*(?P<text>TRUE|FALSE)\s*\}",
    re.I,
)
_INSTRUCTION = re.compile(r"[ \t]*(?:or\b|/\s*(?:TRUE|FALSE)\b)", re.I)
_LINE = re.compile(r"(?:FINAL\s+ANSWER\s*[:：]\s*)?(TRUE|FALSE)\s*[.!?]*", re.I)
RANKS = {3: "boxed", 2: "labelled", 1: "line"}


class Verdict(NamedTuple):
    """value: True, False, or None for no verdict; reason: where it stood, or why there is none."""

    value: bool | None
    reason: str


@dataclass(frozen=True, order=True)
class _Candidate:
    rank: int
    at: int
    value: bool


def extract_verdict(response: str) -> Verdict:
    """(True | False | None, reason) of a response, as a named tuple."""
    text = _DELETED.sub("", response)
    if not text.strip():
        return Verdict(None, "the response is empty")
    found = [*_boxed(text), *_labelled(text), *_lines(text)]
    if not found:
        return Verdict(None, "no boxed, labelled or bare TRUE or FALSE")
    best = max(found)
    return Verdict(best.value, RANKS[best.rank])


def _is_true(word: str) -> bool:
    return word.lower() == "true"


def _boxed(text: str) -> list[_Candidate]:
    found = []
    closes = _closing_braces(text)
    at = text.find(_BOXED)
    while at >= 0:
        end, after = closes.get(at + len(_BOXED) - 1), text.find(_BOXED, at + 1)
        # A box with another one in it holds no bare word. To read each of many nested ones
        # would take the square of their number: 90 s for 4.5 MB.
        if end is not None and not at < after < end:
            inner = _unwrap(text[at + len(_BOXED) : end])
            if _VALUE.fullmatch(inner):
                found.append(_Candidate(3, at, _is_true(inner)))
        at = after
    return found


def _closing_braces(text: str) -> dict[int, int]:
    """Position of every opening brace that closes → where it closes; one pass."""
    open_at: list[int] = []
    closes: dict[int, int] = {}
    for i, c in enumerate(text):
        if c == "{":
            open_at.append(i)
        elif c == "}" and open_at:
            closes[open_at.pop()] = i
    return closes


def _unwrap(inner: str) -> str:
    inner = inner.strip(_BOX_STRIP)
    for _ in range(_WRAPPERS):
        m = _WRAPPER.fullmatch(inner)
        if m is None:
            break
        inner = m[1].strip(_BOX_STRIP)
    return inner


def _labelled(text: str) -> list[_Candidate]:
    found = []
    for m in _LABELLED.finditer(text):
        if _INSTRUCTION.match(text, m.end()):
            continue
        word = m["verdict"] or m["label"] or m["text"]
        found.append(_Candidate(2, m.start(), _is_true(word)))
    return found


def _lines(text: str) -> list[_Candidate]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    ends = [(0, lines[0])] if len(lines) == 1 else [(0, lines[0]), (len(text), lines[-1])]
    matches = [(at, _LINE.fullmatch(line)) for at, line in ends]
    return [_Candidate(1, at, _is_true(m[1])) for at, m in matches if m]


_PLACEHOLDER = re.compile(r"\{\{(?: equation([12]) |equation([12]))\}\}")


def render_prompt(template: str, equation1: str, equation2: str) -> str:
    """`template` with the two equations put in for `{{equation1}}` and `{{ equation2 }}`.

    Nothing else is substituted, and what is put in is not looked at again.
    """
    values = {"1": equation1, "2": equation2}
    return _PLACEHOLDER.sub(lambda m: values[m[1] or m[2]], template)
