"""The part of a response that is its own: no thoughts, no chat marks, no next question, no code.

`… The answer is 18.\\n\\nQuestion: A robe takes …` ─▶ `… The answer is 18.`
"""

from __future__ import annotations

import re

THOUGHT, THOUGHT_END = "<think>", "</think>"
ANSWER, ANSWER_END = "<answer>", "</answer>"
LONGEST = 100_000  # characters looked at, from the end
MOST_TURNS = 16  # next questions tried
_CHAT_END = re.compile(
    r"<\|(?:im_start|im_end|eot_id|end|endoftext|assistant|user)\|?>?|</s>|<eos>"
)
_NEXT = re.compile(  # what a base model writes after its answer
    r"^[#*> \t]*(?:(?:question|q|problem|exercise|human|user|instruction)[* \t]*[:：]"
    r"|(?<=#)[ \t]*(?:question|problem|instruction)[*: \t]*$|问题\s*[:：]|题目\s*[:：])",
    re.I | re.M,
)
_GIVEN = re.compile(r"\\boxed\b|answer\s{0,9}\**\s{0,9}(?:is|:|：)|####|答案|</answer>", re.I)
_CODE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.S | re.M)
_BLANKS = re.compile(r"\s{50,}")  # a pattern that allows blanks would try each of them
_MARKS = re.compile(  # check marks, ends of proofs, emoji
    "[\u2600-\u26ff\u2705\u2713\u2714\u274c\u25a0\u25a1\u220e\ufe0f\U0001f300-\U0001faff]"
)
_PROGRAMS = frozenset(
    ["python", "python3", "py", "cpp", "c", "java", "javascript", "js", "r", "matlab", "sage",
     "bash", "sh", "lean", "lean4"]
)  # fmt: skip


def trim(response: str) -> str:
    """The part of a response that can hold its answer."""
    at = response.rfind(THOUGHT_END)
    if at >= 0 and response[at + len(THOUGHT_END) :].strip():
        response = response[at + len(THOUGHT_END) :]
    found = _CHAT_END.search(response, 1)
    if found and response[: found.start()].strip():
        response = response[: found.start()]
    response = _BLANKS.sub(lambda m: "\n\n" if "\n" in m[0] else " ", response[-LONGEST:])
    return (response if response.isascii() else _MARKS.sub("", response)).strip()


def is_unfinished(text: str) -> bool:
    """A response cut within its thoughts: what it says last is no answer."""
    return text.startswith(THOUGHT) and THOUGHT_END not in text


def tagged(text: str) -> str:
    """What stands in the last `<answer>…</answer>`; "" without one."""
    opened = text.rfind(ANSWER)
    closed = text.find(ANSWER_END, opened)
    return text[opened + len(ANSWER) : closed].strip() if closed > opened >= 0 else ""


def first_turns(text: str) -> list[str]:
    """The text up to each question that comes after something that looks like an answer."""
    given = _GIVEN.search(text)
    if given is None:
        return []
    found = _NEXT.finditer(text, given.end())
    return [text[: m.start()].strip() for m, _ in zip(found, range(MOST_TURNS), strict=False)]


def said_once(text: str) -> str:
    """A text of equal lines as one of them."""
    lines = {line.strip() for line in text.splitlines()} - {""}
    return lines.pop() if len(lines) == 1 else text


def without_code(text: str) -> str:
    """A text without its programs; what other fences hold, such as an output, stays."""
    if "```" not in text:
        return text
    text = _CODE.sub(lambda m: "" if m[1].lower() in _PROGRAMS else m[2], text)
    return text.strip()
