"""Cut a response down to the model's own answer: no thoughts, chat markers, next question, code.

`… The answer is 18.\\n\\nQuestion: A robe takes …` ─▶ `… The answer is 18.`
"""

from __future__ import annotations

import re

THOUGHT, THOUGHT_END = "<think>", "</think>"
ANSWER, ANSWER_END = "<answer>", "</answer>"
MAX_CHARS = 100_000  # of a response, from its end
MAX_QUESTIONS = 16  # tried as the end of the answer
_CHAT_END = re.compile(
    r"<\|(?:im_start|im_end|eot_id|end|endoftext|assistant|user)\|?>?|</s>|<eos>"
)
_NEXT_QUESTION = re.compile(  # what a base model writes after its answer
    r"^[#*> \t]*(?:(?:question|q|problem|exercise|human|user|instruction)[* \t]*[:：]"
    r"|(?<=#)[ \t]*(?:question|problem|instruction)[*: \t]*$|问题\s*[:：]|题目\s*[:：])",
    re.I | re.M,
)
_ANSWERED = re.compile(r"\\boxed\b|answer\s{0,9}\**\s{0,9}(?:is|:|：)|####|答案|</answer>", re.I)
_CODE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.S | re.M)
_BLANKS = re.compile(r"\s{50,}")  # shortened: optional blanks in patterns would try each of them
_SYMBOLS = re.compile(  # check marks, ends of proofs, emoji
    "[\u2600-\u26ff\u2705\u2713\u2714\u274c\u25a0\u25a1\u220e\ufe0f\U0001f300-\U0001faff]"
)
_PROGRAM_LANGUAGES = frozenset(
    ["python", "python3", "py", "cpp", "c", "java", "javascript", "js", "r", "matlab", "sage",
     "bash", "sh", "lean", "lean4"]
)  # fmt: skip


def last_segment(response: str) -> str:
    """Return the part after `</think>` and before a chat marker, at most MAX_CHARS."""
    at = response.rfind(THOUGHT_END)
    if at >= 0 and response[at + len(THOUGHT_END) :].strip():
        response = response[at + len(THOUGHT_END) :]
    end = _CHAT_END.search(response, 1)
    if end and response[: end.start()].strip():
        response = response[: end.start()]
    response = _BLANKS.sub(lambda m: "\n\n" if "\n" in m[0] else " ", response[-MAX_CHARS:])
    return (response if response.isascii() else _SYMBOLS.sub("", response)).strip()


def is_unfinished(text: str) -> bool:
    """Return whether a response ends within its thoughts, where prose gives no answer."""
    return text.startswith(THOUGHT) and THOUGHT_END not in text


def tagged_answer(text: str) -> str:
    """Return the contents of the last `<answer>…</answer>`; "" without one."""
    start = text.rfind(ANSWER)
    end = text.find(ANSWER_END, start)
    return text[start + len(ANSWER) : end].strip() if end > start >= 0 else ""


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


def without_code(text: str) -> str:
    """Return a text without its programs; other fenced blocks, such as outputs, stay."""
    if "```" not in text:
        return text
    return _CODE.sub(lambda m: "" if m[1].lower() in _PROGRAM_LANGUAGES else m[2], text).strip()
