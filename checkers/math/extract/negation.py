"""Remove what a response says is not the answer: `It is not 12`, `12 is wrong`.

before    "not", "cannot be", "does not equal", …, then a number, math or a choice letter
after     a number, math or a letter, then "is not the answer", "is wrong", …
"""

from __future__ import annotations

import re

_PIECE = (
    r"(?:\$(?:(?!\\boxed)[^$]){1,200}\$|\\\((?:(?!\\boxed).){1,200}?\\\)"
    r"|[-−]?[$€£]?\d(?:[\d,./]*\d)?%?(?![\w^])|(?-i:\(?\b[A-HJ]\b\)?)(?!['’]))"
)
_FILLER = (
    r"(?:be|equal|equals|to|exactly|necessarily|simply|just|the|answer|is|a|number|value|actually"
    r"|possibly|really|definitely|likely|solution|option|choice|think|believe|that|:)"
)
_BEFORE = re.compile(
    rf"(?:,?\s+(?:and\s+)?)?(?:\b(?:is|are|was|does|do|can|could|will|would"
    rf"|should)\s+)?(?:\b(?:definitely|certainly|clearly)\s+)?"
    rf"(?:\b(?:not|never|cannot|neither|no\s+es|close\s+to|nearly|almost|just\s+(?:under"
    rf"|over|below|above))|\b\w+n['’]t|而不是)\s*(?<=[\s是])(?:{_FILLER}\s+)*\**{_PIECE}\**"
    rf"(?:\s*,\s*{_PIECE})*(?:\s*,?\s*(?:nor|or)\s+{_PIECE})*(?P<but>\s*,?\s*(?:but"
    rf"|sino)\s+(?:rather\s+|instead\s+)?(?=[-$\\\d*A-J]))?",
    re.I,
)
_AFTER = re.compile(
    rf"(?<![\w$^{{]){_PIECE}\s+(?:(?:is|was|would\s+be)\s+(?:definitely\s+|certainly\s+"
    rf"|clearly\s+)?"
    r"(?:not|never)|isn['’]t|wasn['’]t|cannot\s+be|can['’]t\s+be)\s+"
    r"(?:(?:the|our|a)\s+)?(?:(?:correct|right|final|valid|possible)\b\s*)?(?:answer"
    r"|solution|value|option)?(?=\s*(?:[.,;:!]|$|\n|because|since|as\b))"
    rf"|(?<![\w$^{{]){_PIECE}\s+(?:is|was|would\s+be)\s+(?:wrong|incorrect|false"
    rf"|impossible|(?:only\s+|just\s+|merely\s+)?an?\s+(?:lower|upper)\s+bound"
    rf"|(?:still\s+)?too\s+(?:small|large|big|low|high|many|few)|not\s+enough"
    rf"|my\s+guess)(?=\s*(?:[.,;:!]|$|\n|because|since|as\b))",
    re.I,
)
_MARKED = re.compile(  # `x = 5 (rejected)`
    rf"(?:[a-z]\s*=\s*)?{_PIECE}\s*\((?:(?:is|to\s+be)\s+)?(?:reject(?:ed)?|extraneous|discarded|invalid"
    r"|impossible|not\s+(?:valid|possible|allowed|admissible))\)",
    re.I,
)
_ANY = re.compile(
    r"not|no es|不是|n['’]t|never|neither|wrong|incorrect|false|impossible|bound|too|enough"
    r"|close|nearly|almost|just|reject|extraneous|discarded|invalid",
    re.I,
)
_EMPTY = re.compile(
    r"(?<=[\d$)}]) [(\[]\s*(?:so|and|but|or)?\s*[)\]]"
)  # what is left of `24 (not 42)`
_KEPT = re.compile(  # `all reals not equal to 2`, `true or false`
    r"\b(?:all|any|every|each|if\s+and\s+only|such\s+that)\b[^.]{0,60}$", re.I
)


def without_negated(text: str) -> str:
    """Return a text without the numbers, math and choices that it denies."""
    if _ANY.search(text) is None:
        return text
    text = _MARKED.sub(" ", text)
    return _EMPTY.sub("", _AFTER.sub(_cut, _BEFORE.sub(_cut, text)))


def _cut(m: re.Match[str]) -> str:
    if _KEPT.search(m.string[max(0, m.start() - 80) : m.start()]):
        return m[0]
    if m.re is _BEFORE and m["but"]:
        return " is "
    return " "
