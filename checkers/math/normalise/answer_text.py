"""The text of an answer in one spelling, as dart-math's EvaluatorMath returns it."""

from __future__ import annotations

import re

from gradebox.checkers.math.normalise.rewrite import MAX_CHARS, strip_ends, unicode_to_latex

_SPACING = re.compile(
    r"\\(?:left|right|noindent|displaystyle|quad|qquad|big|Big)(?![A-Za-z])|\\[!,;: ]|~"
)


def norm_answer(text: str) -> str:
    """Return what `extract_ans` returns: an answer in one spelling, words kept readable."""
    text = text.strip().strip("$").strip()
    if len(text) > MAX_CHARS:
        return text
    if "\\begin" in text:
        return _norm_array(text)
    if re.search(r"[A-Za-z]{2,}\s+[A-Za-z]{2,}", text) and "\\" not in text:
        return strip_ends(text)
    return norm_math_str(text)


def norm_math_str(string: str) -> str:
    """Return an answer's text in one spelling: no white space, size commands or final dots."""
    s = unicode_to_latex(str(string)).strip()
    if len(s) > MAX_CHARS:
        return s
    if "\\begin" in s:
        return _norm_array(s)
    s = re.sub(r"\\\\(?:\s|$)", " ", s)
    s = re.sub(r"\\[dtc]frac", r"\\frac", _SPACING.sub("", s))
    s = s.replace(r"\%", "%").replace(r"\$", "").replace("$", "").replace("{,}", ",")
    s = re.sub(r"(\\[A-Za-z]+)\s+(?=[A-Za-z])", "\\1\ue000", s)
    s = re.sub(r"\s+", "", s).replace("\ue000", " ")
    return fix_a_slash_b(strip_ends(s))


def _norm_array(s: str) -> str:
    """Return a matrix as an `array` without white space; `\\\\ \\frac` becomes `\\\\frac`."""
    s = re.sub(r"\\(begin|end)\s*\{[pbvBV]?(?:small)?matrix\}", r"\\\1{array}", s)
    s = re.sub(r"(\\begin\{array\})\s*\{[lcr| ]+\}", r"\1", s)
    s = re.sub(r"\\[dtc]frac", r"\\frac", _SPACING.sub("", s.replace("$", "")))
    s = re.sub(r"\s+", "", s)
    return re.sub(r"\\\\\\(?=[A-Za-z])(?!\\?end)", lambda _: "\\\\", s)


def fix_a_slash_b(s: str) -> str:
    """Return `3/4` as `\\frac{3}{4}` wherever two plain numbers are divided."""
    return re.sub(r"(?<![\w.}])(\d{1,50})\s*/\s*(\d{1,50})(?![\w.])", r"\\frac{\1}{\2}", s)
