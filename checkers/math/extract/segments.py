"""Cut a response down to the model's own answer: no thoughts, chat markers, next question.

`… The answer is 18.\\n\\nQuestion: A robe takes …` ─▶ `… The answer is 18.`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.formats import last_turn
from gradebox.checkers.math.extract.markdown import with_short_blanks

MAX_CHARS = 100_000  # of a response, from its end
MAX_QUESTIONS = 16  # tried as the end of the answer
_NEXT_QUESTION = re.compile(  # what a base model writes after its answer
    r"^[#*> \t]*(?:(?:question|q|problem|exercise|human|user|instruction)[* \t]*[:：]"
    r"|follow-?\s?up\s+question\b|(?:problem|question|exercise)\s*\#?\d+\s*[.:)]"
    r"|(?<=#)[ \t]*(?:question|problem"
    r"|instruction)[*: \t]*$|问题\s*[:：]|题目\s*[:：])",
    re.I | re.M,
)
_ANSWERED = re.compile(r"\\boxed\b|answer\s{0,9}\**\s{0,9}(?:is|:|：)|####|答案|</answer>", re.I)
_TRACEBACK = re.compile(  # of a Python program that failed
    r"Traceback \(most recent call last\):\n(?:[ \t]+[^\n]*\n)*[\w.]+(?::[^\n]*)?(?:\n|$)"
)
_DRAWING = re.compile(r"\[asy\].*?\[/asy\]", re.S)  # a program of Asymptote
_SPACED = re.compile(r"(?<=\\mathbf\{)(?:- )?\d[\d ,]*(?=[}\\])")  # `\mathbf{2 0 1 8}`, as scanned
_SYMBOLS = re.compile(  # check marks, ends of proofs, emoji
    "[\u2600-\u26ff\u2705\u2713\u2714\u274c\u25a0\u25a1\u220e\ufe0f\U0001f300-\U0001faff]"
)


def last_segment(response: str) -> str:
    """Return the assistant's text after its thoughts, at most MAX_CHARS."""
    response = last_turn(response)
    if ">>> " in response:
        response = _TYPED.sub("", response)
    if "Traceback (most" in response:
        response = _TRACEBACK.sub("", response)
    if "[asy]" in response:
        response = _DRAWING.sub("", response)
    if r"\mathbf{" in response:
        response = _SPACED.sub(lambda m: re.sub("[ ,]", "", m[0]), response)
    response = with_short_blanks(response[-MAX_CHARS:])
    return (response if response.isascii() else _SYMBOLS.sub("", response)).strip()


_TYPED = re.compile(
    r"^(?:>>>|\.\.\.) [^\n]*\n(?=[^\n])", re.M
)  # in a session: what it prints counts
_CLOSING = re.compile(  # `∎`, `QED`, `This completes the proof.`, `[Source: AIME]`
    r"(?:\s*(?:\$?\s*\\(?:blacksquare|square|qed|Box)\s*\$?|\bQ\.?E\.?D\.?(?!\w)"
    r"|\[Source:[^\]\n]{0,200}\]"
    r"|(?:This|which)\s+(?:completes|concludes)\s+the\s+(?:proof|solution)\.?))+\s*$"
)
_EXPLANATION = re.compile(  # after an answer that comes first
    r"((?:(?![.!?]\s|\n).){1,160}(?:[\w$})\]]|\*\*))[.!]?\s+(?:To\s+see\s+(?:this|why)"
    r"|Here(?:['’]s|\s+is)\s+(?:why|the\s+reason)|Proof\b"
    r"|Explanation\b|Reason(?:ing)?\s*:|Suppose\b|The\s+reason\s+is|This\s+is\s+because)",
    re.S,
)
_PIECE = (
    r"(\$[^$\n]{1,200}\$|\\\([^\n]{1,200}?\\\)|[-−]?[$€£]?\d(?:[\d,./]*\d)?%?|\(?[A-J]\)?(?!\w))"
)
_CORRECTION = re.compile(  # `Wait, it is 13.`, `but it is actually 84`
    rf"(?:\b(?:wait|sorry|oops|hmm|correction)\b[^.!?\n]{{0,60}}?\b(?:it['’]s|it\s+(?:is"
    rf"|must\s+be|should\s+be)|should\s+be)"
    rf"|\b(?:it['’]s|it\s+is)\s+actually|\bactually,?\s+it(?:['’]s|\s+is))\s+{_PIECE}",
    re.I,
)
_CUT_AFTER = re.compile(
    r"(?:^|[.!?]\s+|\n)(?:Then|So|Therefore|Thus|Hence|Now|Next|Let|Suppose)[,:]?$"
)
_CUT = re.compile(  # a response that ends within a sentence
    r"(?:[A-Za-z]{2,},?|[)\]}$])\s+(?:the|an?|of|and|or|that|where|which|with|to|for|is|are|was|gets"
    r"|get|we|then|so|because|if|in|by|each|those"
    r"|these|from|as|at|on|let|have|has)$|\w\s*(?:[-+*/×÷=]|\\(?:times|cdot|frac|sqrt))\s*$"
)
_PROSE_WORD = re.compile(r"(?<![\\\w])[A-Za-z]{3,}(?!\w)")
MIN_CUT_WORDS = 8


def without_closing(text: str) -> str:
    """Return a text without what ends a proof."""
    return _CLOSING.sub("", text)


def before_explanation(text: str) -> str:
    """Return an answer that is given before its explanation; any other text as it is."""
    m = _EXPLANATION.match(text)
    return m[1] if m and not re.match(r"Suppose|Assume|If|Let|Consider", text) else text


def corrected(text: str, start: int) -> str:
    """Return the last correction after `start`: 13 for `The answer is 12. Wait, it is 13.`"""
    found = list(_CORRECTION.finditer(text, start))
    return found[-1][1].strip("$()\\ ") if found else ""


def is_cut(text: str) -> bool:
    """Return whether a text ends in the middle of a sentence, before its answer."""
    if _CUT_AFTER.search(text):
        return True
    if len(text.split()) < MIN_CUT_WORDS or _CUT.search(text) is None:
        return False
    return len(_PROSE_WORD.findall(text)) >= MIN_CUT_WORDS // 2


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
