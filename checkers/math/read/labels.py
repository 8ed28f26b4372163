"""Read several named values: `mean 4, median 5`, *3 women and 5 men*, *angle A is 30 degrees, …*

item := name ("is" | "=" | ":" | "of" | "at" | …) value     `center: (1,-2)`
      | value name                                            *5 men*
      | name value                                            *radius 3*
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.checkers.math.read.number_words import NUMBER_WORDS
from gradebox.checkers.math.read.split import split_top
from gradebox.checkers.math.read.tables import GREEK, WORDS, strip_marks, word_list
from gradebox.checkers.math.read.units import UNITS

MAX_CHARS = 300
MAX_ITEMS = 8
_BETWEEN = re.compile(
    r"\s*(?:[,;\n]\s*(?:(?:and|while|but)(?![A-Za-z]))?|(?<![A-Za-z])and(?![A-Za-z])|&(?=\s))\s*",
    re.I,
)
_COMMANDS = "|".join(["angle", "triangle", "overline", "bar", "Delta", *sorted(GREEK.values())])
_NAME = (
    rf"(?P<name>(?:(?:\\(?=(?:{_COMMANDS})(?![A-Za-z])))?[A-Za-z][A-Za-z'-]*(?:_\{{?\w+\}}?)?[\s.]*)"
    r"{1,5}(?:\([a-z]\))?)"
)
_NUMBER = rf"(?:[-+]?[＄€£]?\s?\d[\d.,/]*%?|(?:{'|'.join(NUMBER_WORDS)})(?![A-Za-z]))"
_FORMS = tuple(
    re.compile(form, re.I | re.S)
    for form in (
        rf"(?P<value>{_NUMBER})\s*(?P<name>[A-Za-z][A-Za-z -]*?(?:\sof\s[^=:]+)?)",
        rf"{_NAME}\s*(?:=|:|(?<![A-Za-z])(?:is\s+equal\s+to|is|are|has|have|gets?|got|wins?|equals?"
        r"|was|of|at|measures)(?![A-Za-z]))\s*:?\s*(?P<value>.+)",
        rf"{_NAME}\s*(?=[-+\d＄€£$(\[{{√|]|\\(?!angle|triangle|text))(?P<value>.+)",
    )
)
_LEAD = re.compile(
    r"^(?:(?:so|thus|hence|therefore|then)[\s,]+)?(?:(?:there\s+(?:are|is|were)"
    r"|we\s+(?:get|have|find)(?:\s+that)?|(?:s?he|it)\s+has|they\s+have|with)(?![A-Za-z])\s*)?",
    re.I,
)
_DROPPED = frozenset(
    word_list(
        "the a an value values of angle \\angle number total its their is are measure m then so "
        "at point with equal segment side length there exactly local relative deviation"
    )
)
_ONE_NAME = {
    name: row.split()[0]
    for row in (
        "maximum max maxima maximal largest greatest", "minimum min minima minimal smallest least",
        "center centre", "mean average avg expected expectation \\mu", "standard sd \\sigma",
        "vertex vertices", "focus foci", "asymptote asymptotes", "intercept intercepts",
    )
    for name in row.split()
} | WORDS  # fmt: skip


def read_labels(text: str) -> dict[str, str]:
    """Return name → value for a text of at least two named values; {} for anything else."""
    text = " ".join(strip_marks(text).split()).strip(" .")
    if len(text) > MAX_CHARS:
        return {}
    found: dict[str, str] = {}
    parts = [p for p in split_top(_LEAD.sub("", text), _BETWEEN)[0] if p]
    if not 2 <= len(parts) <= MAX_ITEMS:
        return {}
    for part in (p.strip(" .") for p in parts):
        m = next((m for form in _FORMS if (m := form.fullmatch(part))), None)
        name = _plain_name(m["name"]) if m else ""
        if m is None or not name or name in found:
            return {}
        found[name] = m["value"].strip(" .")
    return found


def _plain_name(text: str) -> str:
    """Return a name without articles, in the singular; the case of single letters counts."""
    text = re.sub(r"(?<=[a-z])\s(?:in|on|at|from|who|that|left|which)(?:\s.*)?$", "", text)
    words = [
        w if len(w) == 1 else w.lower()
        for w in re.findall(r"\\?[A-Za-z]\w*(?:\([a-z]\))?|_\{?\w+\}?|\d[\d.]*", text)
    ]
    if len(words) > 1:
        words = [w for w in words if w not in _DROPPED]
    singular = (re.sub(r"(?<=[a-z]{3})(?<!s)s$", "", w) for w in words)
    return " ".join(sorted({_ONE_NAME.get(w, w) for w in singular}))


def are_labels(found: dict[str, str]) -> bool:
    """Return whether a reading names things by words: not units, not letters alone."""
    return any(re.search("[a-z]{3}", name) and name not in UNITS for name in found)


def same_labels(
    gold: dict[str, str], answer: dict[str, str], same: Callable[[str, str], bool]
) -> bool | None:
    """Return whether the same names have the same values; None when the names differ."""
    if gold.keys() != answer.keys() or not gold:
        return None
    return all(same(value, answer[name]) for name, value in gold.items())
