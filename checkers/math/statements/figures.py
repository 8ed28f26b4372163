"""Read a figure named by its points: `\\overline{AC}` = *segment CA*, `\\angle ABC` = *angle CBA*.

figure := kind points | "midpoint of" figure
"""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.rewrite import unicode_to_latex

MAX_CHARS = 80
_POINT = r"[A-Z]'?(?:_\{?\d\}?)?"
_KINDS = {
    "segment": r"\\overline\s*\{?|(?:line\s+)?segment\s|side\s|edge\s|chord\s",
    "triangle": r"\\triangle\s*|triangle\s",
    "angle": r"\\angle\s*|angle\s",
    "line": r"\\overleftrightarrow\s*\{?|line\s",
    "bare": "",
}
_COUNTS = {"segment": (2,), "triangle": (3,), "angle": (1, 3), "line": (2,), "bare": (2,)}
_FORMS = [
    (kind, re.compile(rf"(?P<middle>mid-?\s?point\s+of\s+)?(?:the\s+)?(?:{written})\s*"
                      rf"(?P<points>(?:{_POINT}\s*){{1,3}})\}}?"))
    for kind, written in _KINDS.items()
]  # fmt: skip
_TEXT = re.compile(r"\\(?:text|mathrm)\s*\{([^{}]*)\}|\\[,; ]|\$|\\[()\[\]]")
Figure = tuple[str, bool, tuple[str, ...]]


def read_figure(text: str) -> Figure | None:
    """Return (kind, whether its midpoint is meant, its points in one order); else None.

    Two letters alone are of the kind "bare": a segment beside a segment.
    """
    if len(text) > MAX_CHARS:
        return None
    text = _TEXT.sub(lambda m: f" {m[1] or ''} ", unicode_to_latex(text))
    text = re.sub(r"^(?:the|its|at)\s+", "", " ".join(text.split()).strip(" ."), flags=re.I)
    for kind, form in _FORMS:
        m = form.fullmatch(text[:1].lower() + text[1:] if text[1:2].islower() else text)
        points = re.findall(_POINT, m["points"]) if m else []
        if m and len(points) in _COUNTS[kind] and len(set(points)) == len(points):
            return kind, bool(m["middle"]), _in_one_order(kind, points)
    return None


def same_figure(gold: str, answer: str) -> bool:
    """Return whether both answers name one figure, at least one of them by its kind."""
    left, right = read_figure(gold), read_figure(answer)
    if left is None or right is None or left[1:] != right[1:]:
        return False
    kinds = {left[0], right[0]}
    if left[1]:
        return kinds <= {"segment", "bare"}
    return kinds == {"segment", "bare"} or (len(kinds) == 1 and kinds != {"bare"})


def _in_one_order(kind: str, points: list[str]) -> tuple[str, ...]:
    """Return the points so that CBA is the angle ABC and any order the triangle ABC."""
    return tuple(min(points, points[::-1]) if kind == "angle" else sorted(points))
