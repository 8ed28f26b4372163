"""Recognise what a response supposes, asks, takes back or cannot decide: none of it is its answer.

supposed     `Suppose the answer is 42.`, `First, we try 42`
asked        `Is it 42?`
recalled     `I first thought 42, but it is 43`
taken back   `The answer is 42. That is wrong.`
undecided    `I cannot determine whether it is 42`
"""

from __future__ import annotations

import re

DOUBTED = re.compile(  # before an announcement: `I thought the answer was`, `suppose the answer is`
    r"\b(?:thought|initially|previously|guess(?:ed)?|assumed|would\s+have)\b[^.!?\n]{0,60}$"
    r"|\b(?:suppos(?:e|ing)|assum(?:e|ing)|whether|if|unless|imagine|check|verify|test)\s+(?:that\s+)?(?:the\s+)?$",
    re.I,
)
_SUPPOSED = re.compile(
    r"(?:^|(?<=[.!?\n])\s*)(?:(?:first|next|now|then|so),?\s+)?(?:(?:we|i)\s+(?:can\s+|could\s+)?|let\s+(?:me|us)\s+|let['’]s\s+)?"
    r"(?:(?:any|some)(?:one|body)\s+(?:who|might|may|could|would)|a\s+common\s+(?:mistake|error|slip)|(?:many\s+)?students\s+(?:often|might|may)|one\s+might|a\s+careless"
    r"|suppose|assume|imagine|try|consider|guess|test|if\s+[^.!?\n,]{1,30}\s+(?:were|was)\b)"
    r"(?![^.!?\n]*\b(?:so|then|thus|hence|therefore|gives?|get|yields?)\b)(?:[^.!?\n]|\.(?=\d)){0,300}(?:[.!?\n]|$)",
    re.I,
)
_ASKED = re.compile(
    r"(?:so,?\s+|but,?\s+)?(?:is|are|was|could|can|does|do|would|should|might|what|how|which)\b[^.!?\n]{0,200}\?\s*$",
    re.I,
)
_RECALLED = re.compile(  # up to the word that takes it back
    r"(?:\b(?:i|we|you|one|someone|people"
    r"|students|many)\s+(?:(?:(?:first|initially|originally|might|may|could|would|also|often)\s+)+"
    r"(?:think|guess|assume|expect|believe|get|got|say|said|have\s+said|answer(?:ed)?)"
    r"|(?:[a-z]+\s+)?(?:thought|guessed|assumed|expected|believed|suspected|tempted))\b"
    r"|\b(?:my|our|the|an?)\s+(?:first|initial|naive|original|quick|obvious|tempting|common|wrong"
    r"|incorrect)?\s*(?:guess|thought|answer|estimate|attempt|reaction|intuition)\s+(?:was"
    r"|would\s+be|would\s+have\s+been|might\s+be)\b"
    r"|\b(?:at\s+first(?:\s+(?:glance|sight))?|initially|originally|naively|it\s+(?:seems|looks|appears|is\s+tempting)))"
    r"(?:[^.!?\n]|\.(?=\d)){0,120}?\d(?:[^.!?\n]|\.(?=\d)){0,60}?[,;.]?\s+(?:but|however|yet|though|instead|until)\b,?(?=[^.!?\n]*(?:\d|\$|\\))",
    re.I,
)
_MAYBE = re.compile(
    r"(?:\b(?:maybe|perhaps|possibly|probably|not\s+(?:really\s+|entirely\s+)?(?:sure|certain)|no\s+idea|don['’]t\s+know)\b[^.!?\n]*\?"
    r"|\b(?:not\s+(?:really\s+|entirely\s+)?sure|no\s+idea|do(?:n['’]t|\s+not)\s+know)\b[^.!?\n]*\b(?:maybe|perhaps|possibly)\b[^.!?\n]*[.!?]?)\s*$",
    re.I,
)
_ONLY_MAYBE = re.compile(r"(?:^|[.!?\n]\s*)(?:maybe|perhaps|possibly)\s+\S+[.!?]?\s*$", re.I)
_UNDECIDED = re.compile(
    r"\b(?:can(?:no|['’])t|could\s?n(?:o|['’])t|unable\s+to|not\s+able\s+to|do(?:n['’]t|\s+not)\s+know|not\s+(?:sure|certain))\b"
    r"[^.!?\n]{0,60}\b(?:whether|if)\b",
    re.I,
)
_DOUBTED_NUMBER = re.compile(r"\$?(-?\d[\d.,/]*?)\$?,?\s+(?:but|though|however)\b")
_TAKEN_BACK = re.compile(
    r"(?=.{0,80}\d)(?:[^.!?\n]|\.(?=\d)){0,80}?[.!?]?[\s$)*}]*(?:(?:hmm|wait|no|oh|oops|but|hold\s+on|actually)[,.]?\s+){0,3}"
    r"(?:(?:that|this|it)(?:['’]s|\s+is|\s+was|\s+can(?:no|['’])t\s+be)\s+(?:definitely\s+)?(?:wrong|incorrect|a\s+mistake|an\s+error|not\s+(?:right|correct|possible))"
    r"|(?:that|this|it)\s+(?:fails|does(?:n['’]t|\s+not)\s+work|contradicts)"
    r"|i\s+(?:have\s+)?made\s+an?\s+(?:\w+\s+)?(?:mistake|error))[^.!?\n]{0,80}[.!?:\n]?",
    re.I,
)
ASKED_AFTER = re.compile(r"[\s$)*]*\?")  # `The answer is 3? Let me check`

_BROKEN_OFF = re.compile(  # `+2... but`: the value before it is given up
    r"(?<=[\w$)}\]])(?:\.{3,4}|…)\s*(?=(?:so|but|however|anyway|actually|no)\b(?!\s+on\b)[^…]*\d)",
    re.I,
)


def after_break(text: str) -> str:
    """Return `but the charge at pH 1 is +1` for `It is +2... but the charge at pH 1 is +1`."""
    end = max((m.end() for m in _BROKEN_OFF.finditer(text)), default=0)
    return text[end:]


def without_recalled(text: str) -> str:
    """Return `it is 13` for `I first thought 12, but it is 13`."""
    return _RECALLED.sub(" ", text)


def without_suppositions(text: str) -> str:
    """Return a text without the sentences that only suppose or ask; "" when nothing is left."""
    last = text.rstrip().rpartition("\n")[2][-300:]
    if (
        _ASKED.fullmatch(text)
        or _ONLY_MAYBE.search(text)
        or _UNDECIDED.search(last)
        or _MAYBE.search(last)
    ):
        return ""
    return _SUPPOSED.sub(" ", text).strip()


def fails_later(announced: str, text: str) -> bool:
    """Return whether a text rejects the number announced: `9, but … So $x=9$ fails.`"""
    number = _DOUBTED_NUMBER.match(announced)
    return number is not None and bool(
        re.search(
            rf"(?<![\w.]){re.escape(number[1])}\$?\s+(?:fails|does(?:n['’]t|\s+not)\s+(?:work|satisfy"
            r"|fit)|is\s+(?:not\s+a\s+solution|wrong|incorrect|impossible|extraneous))",
            text,
        )
    )


def taken_back(text: str, end: int) -> int:
    """Return where a text goes on after it takes back the answer that ends at `end`; else 0."""
    m = _TAKEN_BACK.match(text, end)
    return m.end() if m else 0
