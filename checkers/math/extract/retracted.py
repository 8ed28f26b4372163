"""What a response takes back: denied, supposed, recalled, rejected or corrected values.

    denied      *it is not 12*, *12 is wrong*           rejected   *x = 6 or x = -2. We reject -2*
    supposed    *suppose it is 12*, *is it 12?*         recalled   *I first thought 12, but*
    corrected   *Wait, it is 13*                        broken off *+2... but it is +1*

Tables are in the notation of phrases.py.
"""

from __future__ import annotations

import re

from gradebox.checkers.math.extract.phrases import VALUE, compiled, phrase

MAX_SENTENCE = 300  # characters of a sentence that rejects

# ---- denied ----

_FILLER = phrase(
    "((be|equals?|to|exactly|simply|just|the|answer|is|a|number|value|solution|that|:) )"
)
_MODAL = r"(?:is|are|was|does|do|can|could|will|would|should)"
DENIED_BEFORE = re.compile(  # `is not 12`, `cannot be 12 but 13`
    rf"(?:,?\s{{1,9}}(?:and\s{{1,9}})?)?(?:\b{_MODAL}\s{{1,9}})?(?:\b(?:definitely|clearly)\s{{1,9}})?"
    r"(?:\b(?:not|never|cannot|neither|no\s+es|close\s+to|nearly|almost|just\s+(?:under|over))"
    rf"|\b\w+n['’]t|而不是)\s{{0,9}}(?<=[\s是]){_FILLER}{{0,8}}\**{VALUE}\**"
    rf"(?:\s{{0,9}},\s{{0,9}}{VALUE}){{0,9}}(?:\s{{0,9}},?\s{{0,9}}(?:nor|or)\s{{1,9}}{VALUE}){{0,9}}"
    r"(?P<but>\s{0,9},?\s{0,9}(?:but|sino)\s{1,9}(?:(?:rather|instead)\s{1,9})?(?=[-$\\\d*A-J]))?",
    re.I,
)
_CLAIM = "( (the|our|a))?( (correct|right|final|valid|possible))?( (answer|solution|value|option))?"
DENIED_AFTER = compiled(  # `12 is wrong`
    r"(?<![\w$^{])",
    f"""
    # (is|was|would be)( (definitely|certainly|clearly))? (not|never){_CLAIM}
    # (isn't|wasn't|cannot be|can't be){_CLAIM}
    # (is|was|would be) (wrong|incorrect|false|impossible|my guess|not enough|(still )?too [a-z]+)
    # (is|was|would be)( (only|just))? an? (lower|upper) bound
    """,
    r"(?=\s{0,9}(?:[.,;:!]|$|\n|because|since|as\b))",
)
_REJECTED = phrase(
    """
    (an? )?(rejected|extraneous|discarded|excluded|inadmissible|invalid|impossible|ruled out)
    not (valid|possible|allowed|admissible)
    """
)
DENIED_MARK = compiled(r"(?:[a-z]\s=\s)?", rf"# \(((is|to be) )?{_REJECTED}\)")  # `5 (rejected)`
ANY_DENIAL = re.compile(
    r"not|no es|不是|n['’]t|never|neither|wrong|incorrect|false|impossible|bound|too"
    r"|close|nearly|almost|just|reject|extraneous|discarded|invalid",
    re.I,
)
NOT_DENIED = re.compile(  # `all reals not equal to 2`, `true or false`
    r"\b(?:all|any|every|each|if\s+and\s+only|such\s+that)\b[^.]{0,60}$", re.I
)
NUMBER = r"[-−]?\d{1,12}(?:[./]\d{1,12})?"
_ONE = rf"(?P<value>\$[^$\n]{{1,60}}\$|\\\([^\n]{{1,60}}?\\\)|(?:[a-z]\s?=\s?)?{NUMBER})"
REJECTED = compiled(  # a value among alternatives
    r"\b(?:reject|discard|exclud|eliminat|ignor|disregard|rule\s+out)(?:e|ing)?(?:\s+[a-z]+){0,3}\s+"
    rf"{_ONE}|{_ONE.replace('value', 'other')}",
    f" (is|must be|can be|gets?)( an?)? {_REJECTED}| (fails|(doesn't|does not) (work|satisfy|fit))",
)

# ---- supposed, recalled, corrected, refused ----

SUPPOSED = compiled(
    r"(?:^|(?<=[.!?\n])\s{0,9})",
    r"""
    ((first|next|now|then|so),? )?((we|i|let us|let me|let's) )?(can )?
    + (suppose|assume|imagine|try|consider|guess|test)
    ((any|some)(one|body) (who|might)|one might|a careless|students (often|might|may))
    a common (mistake|error|slip)
    if [^.!?\n,]{1,30} (were|was)\b
    """,
    r"(?![^.!?\n]{0,300}\b(?:so|then|thus|hence|therefore|gives?|get|yields?)\b)"
    r"(?:[^.!?\n]|\.(?=\d)){0,300}(?:[.!?\n]|$)",
)
ASKED = re.compile(  # the whole text
    r"(?:(?:so|but),?\s+)?(?:is|are|was|could|can|does|do|would|should|might|what|how|which)\b"
    r"[^.!?\n]{0,200}\?\s*$",
    re.I,
)
RECALLED = compiled(  # up to the word that takes it back
    "",
    r"""
    \b(i|we|you|one|someone|people|students|many)( [a-z]+){0,2}
    +  (think|guess|assume|expect|believe|say|tempted)\b
    \b(i|we|you|one|someone|people|students|many)( [a-z]+){0,2}
    +  (thought|guessed|assumed|expected|believed|suspected|said|answered)\b
    \b(my|our|the|an?)( [a-z]+)? (guess|thought|answer|estimate|attempt|reaction|intuition)
    +  (was|(would|might) (be|have been))\b
    \b(at first|initially|originally|naively|it (seems|looks|appears|is tempting))
    """,
    r"(?:[^.!?\n]|\.(?=\d)){0,120}?\d(?:[^.!?\n]|\.(?=\d)){0,60}?[,;.]?\s{1,9}"
    r"(?:but|however|yet|though|instead|until)\b,?(?=[^.!?\n]{0,300}(?:\d|\$|\\))",
)
MAYBE = compiled(  # at the end
    "",
    r"""
    \b(maybe|perhaps|possibly|probably|not( (really|entirely))? (sure|certain)|no idea)\b
    + [^.!?\n]{0,300}\?
    \b(not( (really|entirely))? sure|no idea|don't know|do not know)\b[^.!?\n]{0,300}
    + \b(maybe|perhaps|possibly)\b[^.!?\n]{0,300}[.!?]?
    (^|[.!?\n]\s{0,9})(maybe|perhaps|possibly) \S+[.!?]?
    """,
    r"\s{0,9}$",
)

DOUBTED = compiled(  # before an announcement
    "",
    r"""
    \b(thought|initially|previously|guess(ed)?|assumed|would have)\b...$
    \b(suppos(e|ing)|assum(e|ing)|whether|if|unless|imagine|check|verify|test)( that)?( the)? $
    """,
)
_CANNOT = phrase(
    "(can't|cannot|couldn't|could not|unable to|not able to|won't|(impossible|not possible) to)"
)
UNDECIDED = compiled(
    rf"\b(?:{_CANNOT}|",
    "(do not|don't) know|not (sure|certain)",
    r")\b[^.!?\n]{0,60}\b(?:whether|if)\b",
)
CORRECTION = compiled(  # `Wait, it is 13.`, `but it is actually 84`
    "",
    r"""
    \b(wait|sorry|oops|hmm|correction)\b...\b(it's|it is|it (must|should) be|should be)
    \b(it's|it is) actually
    \bactually,? (it's|it is)
    """,
    rf"\s{{1,9}}(?P<value>{VALUE}(?!\w))",
)
ASKED_AFTER = re.compile(r"[\s$)*]*\?")  # `The answer is 3? Let me check`
BROKEN_OFF = re.compile(  # `+2... but`: the value before it is given up
    r"(?<=[\w$)}\]])(?:\.{3,4}|…)\s{0,9}"
    r"(?=(?:so|but|however|anyway|actually|no)\b(?!\s+on\b)[^…]{0,300}\d)",
    re.I,
)

_EMPTY = re.compile(r"(?<=[\d$)}]) [(\[]\s*(?:so|and|but|or)?\s*[)\]]")  # left of `24 (not 42)`


def without_denied(text: str) -> str:
    """Return a text without the numbers, math and choices that it denies."""
    if ANY_DENIAL.search(text) is None:
        return text

    def cut(m: re.Match[str]) -> str:
        if NOT_DENIED.search(text[max(0, m.start() - 80) : m.start()]):
            return m[0]
        return " is " if m.re is DENIED_BEFORE and m["but"] else " "

    for pattern in (DENIED_MARK, DENIED_BEFORE, DENIED_AFTER):
        text = pattern.sub(cut, text)
    return _EMPTY.sub("", text)


def without_rejected(text: str) -> str:
    """Return `x = 6` for *x = 6 or x = -2. We reject -2*, where no number follows."""
    found = max(REJECTED.finditer(text), key=re.Match.end, default=None)
    if found is None or re.search(r"\d|[.!?]\s+\S", text[found.end() :]):
        return text
    number = re.search(NUMBER, found["value"] or found["other"])
    value = rf"\$?(?:[a-z]\s*=\s*)?{re.escape(number[0]) if number else '(?!)'}\$?"
    joint = r"\s*(?:,\s*)?(?:\bor\b|\band\b|,)\s*"
    before = re.sub(r"\b[Ee]ither\s", "", text[: found.start()])
    return re.sub(rf"{joint}{value}(?![\w.]\w)|{value}{joint}", " ", before)


def without_supposed(text: str) -> str:
    """Return a text without the sentences that only suppose."""
    return SUPPOSED.sub(" ", text).strip()


def is_only_supposed(text: str) -> bool:
    """Return whether a text only asks, or ends with a guess or undecided."""
    last = text.rstrip().rpartition("\n")[2][-300:]
    return bool(ASKED.fullmatch(text) or UNDECIDED.search(last) or MAYBE.search(last))


def after_break(text: str) -> str:
    """Return what follows the value that a text breaks off: `+2... but it is +1`."""
    breaks = list(BROKEN_OFF.finditer(text))
    return text[breaks[-1].end() :] if breaks else text
