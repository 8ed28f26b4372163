"""Read several named values: `mean 4, median 5`, *3 women and 5 men*, *angle A is 30 degrees, …*

item := name ("is" | "=" | ":" | "of" | "at") value      `center: (1,-2)`, *angle A is 30 degrees*
      | value name                                        *5 men*
      | name value                                        *radius 3*
      | value "is" name                                   *(1,2) is a saddle point*
      | "no" name                                         *no local maximum*: left out
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.checkers.math.normalise.number_words import NUMBER_WORDS
from gradebox.checkers.math.normalise.tables import GREEK, strip_marks, word_list
from gradebox.checkers.math.parse.split import split_top
from gradebox.checkers.math.parse.units import UNITS

MAX_CHARS = 300
MAX_ITEMS = 8
_BETWEEN = re.compile(r"\s*(?:[,;\n]\s*(?:(?:and|while|but)(?![A-Za-z]))?"
                      r"|(?<![A-Za-z])and(?![A-Za-z])|&(?=\s)|\swhile\s)\s*", re.I)  # fmt: skip
_COMMANDS = "|".join(["angle", "triangle", "overline", "bar", "Delta", *sorted(GREEK.values())])
_NAME = (
    rf"(?P<name>(?:(?:\\(?=(?:{_COMMANDS})(?![A-Za-z])))?[A-Za-z][A-Za-z'-]*(?:_\{{?\w+\}}?)?[\s.]*)"
    r"{1,5}(?:\([a-z]\))?)"
)
_NUMBER = rf"(?:[-+]?[＄€£]?\s?\d[\d.,/]*%?|(?:{'|'.join(NUMBER_WORDS)})(?![A-Za-z]))"
_START = (
    rf"(?=[-+\d＄€£$(\[{{√|]|\\(?!angle|triangle|text)"
    rf"|(?:{'|'.join(NUMBER_WORDS)})(?![A-Za-z])|(?:infinity|none|no)(?![A-Za-z]))"
)
_STATED = re.compile(
    rf"{_NAME}\s*(?:=|:|(?<![A-Za-z])(?:is\s+equal\s+to|is|are|has|have|had|gets?|got|wins?|won|earns?|equals?|was|of|at|measures"
    rf"|being)(?![A-Za-z]))\s*:?\s*(?P<value>.+)",
    re.I | re.S,
)
_COUNTED = re.compile(  # `5 men`, `5 oz of the 20% solution`
    rf"(?P<value>{_NUMBER})\s*(?P<name>[A-Za-z][A-Za-z -]*?(?:\sof\s[^=:]+)?)", re.I
)
_IS_A = re.compile(  # `(1,2) is a saddle point`, `x = 0 is neither`
    r"(?:[a-z]\s*=\s*)?(?P<value>[-+\d(\\][^=:]*?)\s+is\s+(?:(?:an?|the)\s+(?P<name>[a-z][a-z ]*)"
    r"|(?P<neither>neither)(?:\s.*)?)",
    re.I,
)
_ABSENT = re.compile(r"(?:there\s+(?:is|are)\s+)?(?:no|neither)\s+[a-z ]+", re.I)
_PLAIN = re.compile(rf"{_NAME}\s*{_START}(?P<value>.+)", re.I | re.S)
_LEAD = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then)[\s,]+)?(?:(?:there\s+(?:are|is|were)"
    r"|we\s+(?:get|have|find)(?:\s+that)?|he\s+has|she\s+has|they\s+have|it\s+has"
    r"|this\s+gives|with)(?![A-Za-z])\s*)?", re.I
)  # fmt: skip
_REST = re.compile(
    r"(?<=[a-z])\s(?:in|on|at|from|who|that|left|altogether|which)\s.*$|\s(?:left"
    r"|altogether|in\s+total)$"
)
_DROPPED = frozenset(
    word_list(
        "the a an value values of angle \\angle number total its their is are measure m then so "
        "at point pt with equal segment side length there exactly local relative"
    )
)
_ONE_NAME = {
    name: row[0]
    for row in map(
        word_list,
        (
            "maximum max maxima maximal largest greatest",
            "minimum min minima minimal smallest least",
            "center centre", "mean average avg expected expectation",
            "standard sd stdev", "vertex vertices",
            "mean \\mu", "standard \\sigma", "focus foci",
             "perimeter circumference", "asymptote asymptotes", "man men",
            "woman women",
            "child children", "probability prob", "intercept intercepts", "eccentricity e",
        ),
    )
    for name in row
}  # fmt: skip
_COMMAND_NAME = re.compile(
    r"\\(max|min)(?![A-Za-z(])|(?<=[a-z])\.(?=\s*\()"
)  # `\max` at 1, `min. (1,2)`
_VARIANCE = re.compile(r"\\sigma\s?\^\s?\{?\s?2\s?\}?(?=\s*=)")
_EXTREMUM = re.compile(
    r"(?:(?:local|global|absolute|relative)\s+)?(?:max|min)(?:im\w+)?\s+(?:at|\()", re.I
)
_INITIALS = {
    "r": "radius",
    "d": "diameter",
    "c": "center",
    "v": "volume",
    "h": "height",
    "i": "interval",
    "p": "perimeter",
}


def read_labels(text: str) -> dict[str, str]:
    """Return name → value for a text of at least two named values; {} for anything else."""
    text = _COMMAND_NAME.sub(r"\1 ", _VARIANCE.sub(" variance ", strip_marks(text)))
    text = " ".join(text.split()).strip(" .")
    if len(text) > MAX_CHARS:
        return {}
    found: dict[str, str] = {}
    parts = [p for p in split_top(_LEAD.sub("", text), _BETWEEN)[0] if p]
    if not 2 - bool(_EXTREMUM.match(text)) <= len(parts) <= MAX_ITEMS:
        return {}
    for part in (p.strip(" .") for p in parts):
        if _ABSENT.fullmatch(part):
            continue
        forms = (_COUNTED, _IS_A, _STATED, _PLAIN)
        m = next((m for form in forms if (m := form.fullmatch(part))), None)
        name = _plain_name(m["name"] or "neither") if m else ""
        if m is None or not name or name in found:
            return {}
        found[name] = m["value"].strip(" .")
    return found


def _plain_name(text: str) -> str:
    """Return a name without articles, in the singular; the case of single letters counts."""
    text = _REST.sub("", text)
    words = [
        w if len(w) == 1 else w.lower()
        for w in re.findall(r"\\?[A-Za-z]\w*(?:\([a-z]\))?|_\{?\w+\}?|\d[\d.]*", text)
    ]
    if len(words) > 1:
        words = [w for w in words if w not in _DROPPED]
    words = [_ONE_NAME.get(w, _ONE_NAME.get(_singular(w), _singular(w))) for w in words]
    return " ".join(sorted(set(words) - {"deviation"}))


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def are_labels(found: dict[str, str]) -> bool:
    """Return whether a reading names things by words: not units, not letters alone."""
    return any(re.search("[a-z]{3}", name) and name not in UNITS for name in found)


def same_labels(
    gold: dict[str, str], answer: dict[str, str], same: Callable[[str, str], bool]
) -> bool | None:
    """Return whether the same names have the same values; None when the names differ."""
    if gold.keys() != answer.keys():
        gold, answer = _with_initials(gold, answer), _with_initials(answer, gold)
    if gold.keys() != answer.keys() or not gold:
        return None
    return all(same(value, answer[name]) for name, value in gold.items())


def _with_initials(one: dict[str, str], other: dict[str, str]) -> dict[str, str]:
    """Return `r = 3` as the radius beside one."""
    return {
        _INITIALS[n.lower()] if _INITIALS.get(n.lower()) in other else n: v for n, v in one.items()
    }
