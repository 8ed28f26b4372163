r"""Where an answer is announced: a box, "final answer is $…$. I hope", "the answer is".

Everything here is linear in the length of the output, whatever stands in it.
"""

from __future__ import annotations

import re
from collections import deque

_BRACES = re.compile(r"\\?boxed\s*\{|\\.|[{}]", re.DOTALL)
# A fraction and a time are one number: 7/9, 8:15.
_NUMBER = re.compile(r"-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:[/:]\d+)?(?![\d])")
_HOPE = re.compile(r"final answer is:?\s*")
_HOPE_END = re.compile(r"I hope (?:it|this) is correct", re.IGNORECASE)
_ANSWER_IS = re.compile(r"\bthe (?:final )?answer is:?|答案[是为][：:]?", re.IGNORECASE)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The last place a pattern fits, found from the left as the pattern is written."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def all_boxed(text: str) -> list[str]:
    r"""What stands in every closed \boxed{…}, outer ones only, in order."""
    opened: list[int | None] = []
    found: list[str] = []
    # The ends of boxes inside boxes: only the outermost is an answer.
    outer = 0
    spans: list[tuple[int, int]] = []
    for match in _BRACES.finditer(text):
        token = match[0]
        if token == "}":
            start = opened.pop() if opened else None
            if start is not None:
                spans.append((start, match.start()))
        elif token[-1] == "{" and token != "\\{":
            opened.append(match.end() if len(token) > 1 else None)
    for start, end in sorted(spans):
        if start >= outer:
            found.append(text[start:end].strip())
            outer = end
    return found


def announced(text: str) -> list[str]:
    """The answer of "final answer is $X$. I hope it is correct", else of "the answer is X"."""
    hoped = hoped_answer(text)
    if hoped is not None:
        return [hoped]
    last = last_match(_ANSWER_IS, text)
    if last is None:
        return []
    line = text[last.end() :].strip().partition("\n")[0]
    return [bare] if (bare := bared(line)) else []


def hoped_answer(text: str) -> str | None:
    """X of "final answer is X. I hope it is correct"; the first one, on one line."""
    start = _HOPE.search(text)
    if start is None:
        return None
    line = text[start.end() :].partition("\n")[0]
    end = _HOPE_END.search(line)
    return bared(line[: end.start()]) if end else None


def bared(text: str) -> str:
    """Without the dollars, full stops and emphasis around it."""
    text = text.strip().strip("*").strip().rstrip(".。").strip().strip("*").strip()
    if len(text) >= 2 and text[0] == text[-1] == "$" and "$" not in text.strip("$"):
        text = text.strip("$").strip()
    return text


def last_number(text: str) -> str | None:
    """The last number, its thousands separators dropped; None without one."""
    last = last_match(_NUMBER, text)
    return last[0].replace(",", "") if last else None


def before(text: str, *marks: str) -> str:
    """The text up to the first of the marks: what a base model goes on to make up is no answer."""
    for mark in marks:
        text = text.partition(mark)[0]
    return text


def after_thinking(text: str) -> str:
    """What follows the model's thoughts; all of it when it does not mark them.

    Thoughts that were cut off before their end have no answer after them.
    """
    _, closed, rest = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        return ""
    return rest
