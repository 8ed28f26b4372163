"""Extract TRUE or FALSE from a response by the rules of the Equational Theories judge.

    response without emphasis ─▶ candidates (rank, position, value) ─▶ highest rank, then last

rank 3  \\boxed{…}     rank 2  `VERDICT: …` and other labels     rank 1  first or last line
docs/verdicts.md has the rules, which were published with the benchmark's judge. They are read from
the last 32 KB of a response, and from its first line.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

MOST_READ = 1 << 15  # characters; a rule looks at each of them, and at each brace: 0.5 µs
_EMPHASIS = re.compile(r"\*\*\*|\*\*|__|`")
_BOX = re.compile(r"(?<!\\)\\+boxed\s*\{", re.I)
_BOX_PADDING = " .,;:!?$()[]\n\t\r"
_WRAPPER = re.compile(r"\\(?:text|mathrm|mathbf|operatorname)\s*\{(.+)\}", re.I | re.S)
_MAX_WRAPPERS = 4
_LABELLED = re.compile(
    r"\bVERDICT\s*[:：]\s*(?P<verdict>TRUE|FALSE)\b"
    r"|\b(?:FINAL\s+ANSWER|ANSWER|RESULT|OUTPUT_RESULT)\s*[:：=\-]\s*(?P<label>TRUE|FALSE)\b"
    r"|\\text\s*\{\s*(?P<text>TRUE|FALSE)\s*\}",
    re.I,
)
_ALTERNATIVE = re.compile(r"[^\S\n]*(?:or(?:\s|\Z)|/[^\S\n]*(?:TRUE|FALSE)\b)", re.I)
_LINE = re.compile(r"\s*(?:FINAL\s+ANSWER\s*[:：=\-]\s*)?(TRUE|FALSE)\s*(?:[.!?]+\s*)?", re.I)
RANKS = {3: "boxed", 2: "labelled", 1: "line"}
_JUDGES_NAMES = {3: "boxed", 2: "labeled", 1: "line"}  # of the ranks in the judge's reasons


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
    """Return the verdict of a response and the rule that found it."""
    candidates = _candidates(response)
    if candidates:
        best = max(candidates)
        return Verdict(best.value, RANKS[best.rank])
    if len(response) <= MOST_READ and not _EMPHASIS.sub("", response).strip():
        return Verdict(None, "the response is empty")
    return Verdict(None, "no boxed, labelled or bare TRUE or FALSE")


def judge_response(response: str, expected: bool) -> tuple[bool | None, str]:
    """Return (correct, reason) in the words of the judge; `correct` is None without a verdict.

    The reason says when markers contradict each other and which kind of marker decided.
    """
    candidates = _candidates(response)
    if not candidates:
        return None, "No VERDICT found in response"
    best = max(candidates)
    correct = best.value is expected
    reason = f"Answered {str(best.value).upper()}"
    if not correct:
        reason += f", expected {str(expected).upper()}"
    if len({c.value for c in candidates}) > 1:
        reason += f" (conflict resolved by final {_JUDGES_NAMES[best.rank]} marker)"
    return correct, reason


def _candidates(response: str) -> list[_Candidate]:
    text = _EMPHASIS.sub("", response[-MOST_READ:])
    first = text if len(response) <= MOST_READ else _EMPHASIS.sub("", response[:MOST_READ])
    return [*_boxed(text), *_labelled(text), *_lines(first, text)]


def _truth(word: str) -> bool | None:
    """Return the value of a word; None for a word that is not TRUE or FALSE in any case."""
    return {"TRUE": True, "FALSE": False}.get(word.upper())


def _boxed(text: str) -> list[_Candidate]:
    found = []
    boxes = [(m.start(), m.end()) for m in _BOX.finditer(text)]
    closing = _closing_braces(text) if boxes else {}
    for i, (start, inside) in enumerate(boxes):
        end = closing.get(inside - 1)
        # A box that contains another one has no bare word. Reading the contents of nested boxes
        # would take quadratic time: 90 s for 4.5 MB.
        if end is None or (i + 1 < len(boxes) and boxes[i + 1][0] < end):
            continue
        value = _truth(_unwrap(text[inside:end]))
        if value is not None:
            found.append(_Candidate(3, start, value))
    return found


def _closing_braces(text: str) -> dict[int, int]:
    """Return the position of the closing brace of each opening brace that has one."""
    opened: list[int] = []
    closing: dict[int, int] = {}
    for m in re.finditer("[{}]", text):
        if m[0] == "{":
            opened.append(m.start())
        elif opened:
            closing[opened.pop()] = m.start()
    return closing


def _unwrap(contents: str) -> str:
    contents = contents.strip().strip(_BOX_PADDING)
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
        value = _truth(match["verdict"] or match["label"] or match["text"])
        if value is not None:
            found.append(_Candidate(2, match.start(), value))
    return found


def _lines(first: str, last: str) -> list[_Candidate]:
    """Return the verdicts of the first line of one text and of the last line of another."""
    ends = (0, first.lstrip().splitlines()[:1]), (len(last), last.rstrip().splitlines()[-1:])
    matches = [(position, _LINE.fullmatch(line)) for position, lines in ends for line in lines]
    values = [(position, _truth(match[1])) for position, match in matches if match]
    return [_Candidate(1, position, value) for position, value in values if value is not None]


_PLACEHOLDER = re.compile(r"\{\{(?: equation([12]) |equation([12]))\}\}")


def render_prompt(template: str, equation1: str, equation2: str) -> str:
    """Return `template` with the equations for `{{equation1}}` and `{{ equation2 }}`.

    Other placeholders, and those inside the equations, are not filled in.
    """
    equations = {"1": equation1, "2": equation2}
    return _PLACEHOLDER.sub(lambda match: equations[match[1] or match[2]], template)
