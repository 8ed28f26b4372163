r"""Find announced answers: "final answer is $…$. I hope", "the answer is", the last number.

Every function takes time linear in the length of the output, which is at most MOST_READ.
"""

from __future__ import annotations

import re
from collections import deque

from gradebox.eval.models.answers.boxed import MOST_READ

# A fraction and a time of day are one number: 7/9, 8:15.
_NUMBER = re.compile(r"-?(?:\d+(?:,\d{3})*(?:\.\d+)?|\.\d+)(?:[/:]\d+)?(?![\d])")
_FINAL_ANSWER_IS = re.compile(r"final answer is:?\s*")
_I_HOPE = re.compile(r"I hope (?:it|this) is correct", re.IGNORECASE)
_ANSWER_IS = re.compile(r"\bthe (?:final )?answer is:?|答案[是为][：:]?", re.IGNORECASE)


def last_match(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the last match of a left-to-right search."""
    found = deque(pattern.finditer(text), maxlen=1)
    return found[0] if found else None


def announced_answer(text: str) -> list[str]:
    """Return X of "final answer is X. I hope it is correct", else of the last "the answer is X".

    The list is empty when there is no such phrase.
    """
    final = final_answer(text)
    if final is not None:
        return [final]
    match = last_match(_ANSWER_IS, text)
    if match is None:
        return []
    answer = strip_decoration(text[match.end() :].strip().partition("\n")[0])
    return [answer] if answer else []


def final_answer(text: str) -> str | None:
    """Return X of the first "final answer is X. I hope it is correct", if it is on one line."""
    start = _FINAL_ANSWER_IS.search(text)
    if start is None:
        return None
    line = text[start.end() :].partition("\n")[0]
    end = _I_HOPE.search(line)
    return strip_decoration(line[: end.start()]) if end else None


def strip_decoration(text: str) -> str:
    """Remove surrounding dollar signs, full stops and emphasis."""
    text = text.strip().strip("*").strip().rstrip(".。").strip().strip("*").strip()
    if len(text) >= 2 and text[0] == text[-1] == "$" and "$" not in text.strip("$"):
        text = text.strip("$").strip()
    return text


def last_number(text: str) -> str | None:
    """Return the last number without thousands separators; None without a number."""
    match = last_match(_NUMBER, text)
    return match[0].replace(",", "") if match else None


def before(text: str, *markers: str) -> str:
    """Return the text up to the first marker, after which a base model invents a new question."""
    for marker in markers:
        text = text.partition(marker)[0]
    return text


def shortened(text: str) -> str:
    """Return a text whose extraction is cheap: of a long one, the ends of what follows </think>."""
    if len(text) <= MOST_READ:
        return text
    _, closed, rest = text.rpartition("</think>")
    if len(rest) > MOST_READ:
        rest = f"{rest[: MOST_READ // 2]}\n{rest[-MOST_READ // 2 :]}"
    return f"{closed}{rest}"


def after_thinking(text: str) -> str:
    """Return the text after </think>; all of it without such tags, "" when thinking never ended."""
    _, closed, rest = text.rpartition("</think>")
    if not closed and text.lstrip().startswith("<think>"):
        return ""
    return rest
