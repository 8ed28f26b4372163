"""Compare relations of figures, whichever side comes first: `AB \\parallel CD`, `CD \\parallel AB`.

relation := figure sign figure                *AB is parallel to CD*
          | figure "and" figure "are" sign    *AB and CD are parallel*
          | NAME "=" NAME                     `MC = MR`
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.rewrite import unicode_to_latex

MAX_CHARS = 120
_SIGNS = {
    "parallel": r"\\parallel(?![A-Za-z])|\|\||//|\\\||(?:is\s+|are\s+)?parallel(?:\s+(?:to|with))?",
    "perpendicular": r"\\perp(?![A-Za-z])|(?:is\s+|are\s+)?(?:perpendicular|orthogonal"
    r"|normal)(?:\s+to)?",
    "similar": r"\\sim(?![A-Za-z])|~|(?:is\s+|are\s+)?similar(?:\s+to)?",
    "congruent": r"\\cong(?![A-Za-z])|(?:is\s+|are\s+)?congruent(?:\s+to)?",
}
_FIGURE = (
    r"(?:(?:the\s+)?(?:line|segment|side|ray|plane|triangle|vector)s?\s+|\\(?:triangle"
    r"|overline|vec|overrightarrow|mathbf|overleftrightarrow)\s*)*"
    r"\{?\s*(?P<%s>(?:[A-Z]'?(?:_\{?\d\}?)?){2,4}|[a-z](?:_\{?\d\}?)?|\\(?:alpha|beta|gamma))\s*\}?"
)
_FORMS = [
    (sign, re.compile(form))
    for sign, written in _SIGNS.items()
    for form in (
        rf"{_FIGURE % 'a'}\s*(?:{written})\s*{_FIGURE % 'b'}",
        rf"{_FIGURE % 'a'}\s+and\s+{_FIGURE % 'b'}\s+(?:{written})(?:\s+each\s+other)?",
    )
]
_FORMS.append(("equal", re.compile(r"(?P<a>[A-Z]{2,6})\s*=\s*(?P<b>[A-Z]{2,6})")))
_TEXT = re.compile(r"\\(?:text|mathrm)\s*\{([^{}]*)\}|\\[,; ]|\$|\\[()\[\]]")
Pairing = tuple[str, frozenset[object]]


def read_relation(text: str) -> Pairing | None:
    """Return (relation, its two sides in no order); None for a text that is no such relation."""
    if len(text) > MAX_CHARS:
        return None
    text = _TEXT.sub(lambda m: f" {m[1] or ''} ", unicode_to_latex(text))
    text = " ".join(text.split()).strip(" .")
    for sign, form in _FORMS:
        if m := form.fullmatch(text):
            return sign, _sides(sign, m["a"], m["b"])
    return None


def _sides(sign: str, a: str, b: str) -> frozenset[object]:
    if sign in ("similar", "congruent") and len(a) == len(b) and len(a) > 2:
        pairs = (frozenset(zip(a, b, strict=True)), frozenset(zip(b, a, strict=True)))
        return frozenset(pairs)
    return frozenset("".join(sorted(side)) if side.isupper() else side for side in (a, b))
