"""Cut a response down to the model's own answer: no thoughts, chat markers, next question.

`… The answer is 18.\\n\\nQuestion: A robe takes …` ─▶ `… The answer is 18.`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.formats import last_turn

MAX_CHARS = 100_000  # of a response, from its end
MAX_QUESTIONS = 16  # tried as the end of the answer
_NEXT_QUESTION = re.compile(  # what a base model writes after its answer
    r"^[#*> \t]*(?:(?:question|q|problem|exercise|human|user|instruction)[* \t]*[:：]"
    r"|(?<=#)[ \t]*(?:question|problem|instruction)[*: \t]*$|问题\s*[:：]|题目\s*[:：])",
    re.I | re.M,
)
_ANSWERED = re.compile(r"\\boxed\b|answer\s{0,9}\**\s{0,9}(?:is|:|：)|####|答案|</answer>", re.I)
_BLANKS = re.compile(r"\s{50,}")  # shortened: optional blanks in patterns would try each of them
_SYMBOLS = re.compile(  # check marks, ends of proofs, emoji
    "[\u2600-\u26ff\u2705\u2713\u2714\u274c\u25a0\u25a1\u220e\ufe0f\U0001f300-\U0001faff]"
)


def last_segment(response: str) -> str:
    """Return the assistant's text after its thoughts, at most MAX_CHARS."""
    response = last_turn(response)
    response = _BLANKS.sub(lambda m: "\n\n" if "\n" in m[0] else " ", response[-MAX_CHARS:])
    return (response if response.isascii() else _SYMBOLS.sub("", response)).strip()


def segments_before_questions(text: str) -> list[str]:
    """Return the text up to each question that follows something like an answer."""
    answered = _ANSWERED.search(text)
    if answered is None:
        return []
    found = _NEXT_QUESTION.finditer(text, answered.end())
    return [text[: m.start()].strip() for m, _ in zip(found, range(MAX_QUESTIONS), strict=False)]


def without_repeated_lines(text: str) -> str:
    """Return one line of a text whose lines are all equal; any other text as it is."""
    lines = {line.strip() for line in text.splitlines()} - {""}
    return lines.pop() if len(lines) == 1 else text
