"""Rewrite an answer's text into the one spelling that the reader knows.

Words that LaTeX sets as text (`\\text{…}`) come out between TEXT_OPEN and TEXT_CLOSE, and an
escaped dollar sign as `＄`. Nothing is evaluated.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from gradebox.checkers.math.read.notation import expand_notation, mark_units, rewritten, unwrap_text
from gradebox.checkers.math.read.tables import (
    COMMANDS,
    GREEK,
    MAX_CHARS,
    NUMBER_WORDS,
    SUBSCRIPT,
    SUPERSCRIPT,
    TEXT_CLOSE,
    TEXT_OPEN,
    UNICODE,
    VULGAR_FRACTIONS,
    translate,
)
from gradebox.checkers.math.read.units import MONEY

MAX_LAYERS = 20  # of braces and quotes around an answer
# placeholders while braces and text commands are rewritten
_ROW_END = "\ue004"  # of `\\` in a matrix
_LEFT_BRACE, _RIGHT_BRACE = "\ue002", "\ue003"  # of `\{` and `\}`
_SIGNS = frozenset("＄") | {sign for sign in MONEY if len(sign) == 1 and sign != "$"}
_SPACES = re.compile(r"\s+")
_SUPERSCRIPTS = re.compile("[" + "".join(SUPERSCRIPT) + "]+")
_SUBSCRIPTS = re.compile("[" + "".join(SUBSCRIPT) + "]+")
_TEXTCIRCLED = re.compile(r"\\textcircled\s?\{(?:\\[a-z]+\s?)?\{?\s?([1-9])\s?\}?\}")
_MATH_MARKS = re.compile(r"\\[()\[\]]|\$\$?")
_LONE_DOLLAR = re.compile(r"\$(?=\s*-?[\d.])")
_CODES = sorted((re.escape(s) for s in MONEY if len(s) > 1), key=len, reverse=True)
_MONEY_BEFORE = re.compile(  # `US$60,000`, `CHF 2,000`: the unit is read behind the number
    rf"(?<![A-Za-z\\])(?P<code>{'|'.join(_CODES)})\s?(?P<n>[-+]?\d(?:[\d,.]|\{{,\}})*\d|\d)(?![\w^])"
)
_NUMBER_SET = re.compile(
    r"\\(?:mathbb|mathbf|Bbb)\s*\{?\s*([RZNQC])\s*\}?|(?<=\\in)\s*([RZNQC])(?![A-Za-z(_])"
)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_PRIMES = re.compile(r"\^\s*\{?\s*((?:\\prime(?![A-Za-z])\s*)+)\}?")
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,/]) ?\b\d{1,3}(?: \d{3})+(?![\d/])")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:\{,\}\d{3})+(?!\d)")  # `12{,}345{,}678`
_MODULUS = re.compile(  # of a congruence; `5 \bmod 3` is a calculation
    rf"\s?(?:\\p?mod\s?\{{?\s?\d+\s?\}}?"
    rf"|\(\s?[{TEXT_OPEN}]?\s?\\?(?:mod|bmod"
    rf"|modulo)\s?[{TEXT_CLOSE}]?\s?\{{?\d+\}}?\s?[{TEXT_CLOSE}]?\))[\s.]*$"
)
_BARE_MODULUS = re.compile(r"\s(?:\\b?mod|mod(?:ulo)?)\s*\{?\s*(\d+)\s*\}?$")  # `n \equiv 1 mod 4`
_RECURRING = re.compile(  # `0.1\overline{6}`, `0.\dot{1}2\dot{3}`
    r"(?<!\d)(\d{0,30})\.(\d{0,30})(?:\\(?:overline|bar)\s*\{\s*(\d{1,30})\s*\}"
    r"|\\dot\s*\{?(\d)\}?(?:(\d{0,28})\\dot\s*\{?(\d)\}?)?|(?<=[\d.])\((\d{1,12})\)$)"  # 0.1(6)
)
_ELLIPSIS = re.compile(  # `0.333...`, `0.121212...`
    r"(?<!\d)(\d{0,30}\.\d{0,12}?)(?:(\d)\2{2,}|(\d{2,8})\3{1,})\s*(?:\.{3}|\\ldots)"
)
_BASE_WORD = re.compile(  # `52_{\text{eight}}`
    rf"(?<=[\dA-Z])(\s?\)?)\s?_\s?\{{\s?{TEXT_OPEN}?\s?([a-z]+)\s?{TEXT_CLOSE}?\s?\}}",
    re.I,
)
_BRACE = re.compile(r"\\.|[{}]", re.S)  # or an escaped character
_IN_A_SET = re.compile(r",|^\{\s*[A-Za-z]\s*(?:\||:|\\in(?![A-Za-z]))")  # a list or a condition
_LEADING_SIGNS = re.compile(
    r"^(?:(?:[-=]+>|=|\\(?:approx|therefore|implies|(?:Long)?[Rr]ightarrow)(?![A-Za-z]))\s*)+"
)
_SYSTEM = re.compile(  # `\begin{cases}x=1\\y=2\end{cases}`
    r"(?:\\left\s*\\\{\s*)?\\begin\s*\{(?P<kind>cases|aligned|align\*?|gathered|split|array)\}"
    r"(?:\s*\{[lcr| ]+\})?(?P<body>.*?)\\end\s*\{(?P=kind)\}(?:\s*\\right\s*\.)?",
    re.S,
)
_CASE = re.compile(r"([^&]+)&(?!\s*(?:[-+=<>]|\\[lg]e))(.*)", re.S)  # not `x &= 1`
_IF = re.compile(r"&|\\text\s*\{[\s,]*(?:if|when|for)?\s*\}|\b(?:if|when|for)\b")
_SIMILAR = {"sim": " similar to ", "cong": " congruent to "}  # of triangles


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Return an answer in the reader's spelling. The order of the steps matters."""
    if text.strip() in ("{}", r"\{\}"):
        return r"\emptyset"
    text = _TEXTCIRCLED.sub(lambda m: chr(ord("①") + int(m[1]) - 1), text)
    text = unicode_to_latex(translate(_SPACES.sub(" ", text.strip())))
    if "(" in text or text.endswith(("j", "}", "}]")):
        text = rewritten(text, "printed")  # by Python or SymPy
    congruent = r"\equiv" in text
    if "\\begin" in text:
        text = _SYSTEM.sub(_system_to_list, text)
    if text.count("=") + text.count(r"\equiv") > 1:  # `a=1 \quad b=2`
        text = re.sub(r"(?<![,;\s])\s*\\q?quad", ", ", text)
        text = re.sub(r"(?<=[\w)}])\$\s+\$(?=\S)", "$, $", text)
    if "\\begin" not in text:
        text = re.sub(r"\\\\(?=[A-Za-z(){}\[\]%$!,;])", r"\\", text)  # `\\frac` for `\frac`
        text = re.sub(r"\\\\(?:\s|$)", " ", text)
    else:
        text = text.replace(r"\\", _ROW_END)
    text = _MONEY_BEFORE.sub(_money_behind, re.sub(r"(?<=[A-Z])\s?\\\$(?=\d)", "$", text))
    text = text.replace(r"\$", "＄")
    if "triangle" in text:
        text = re.sub(r"\\(sim|cong)(?![A-Za-z])", lambda m: _SIMILAR[m[1]], text)
    text = _NUMBER_SET.sub(lambda m: rf"\mathbb{{{m[1] or m[2]}}}", text)
    text = _remove_math_delimiters(text)
    text = _GROUPED.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    text = rewritten(text, "early")
    text = text.replace(r"\{", _LEFT_BRACE).replace(r"\}", _RIGHT_BRACE)
    text = re.sub(r"\\(?:text|mathrm)\{(min|max)\}(?=\s*\()", r"\\\1", mark_units(text))
    text = unwrap_text(text)
    text = re.sub(r"\\[!,;:> ]|\\q?quad|\\(?:thin|en|med)space(?![A-Za-z])|~", " ", text)
    text = _SPACES.sub(" ", text)
    text = text.replace(r"\sqrt[]", r"\sqrt").replace("! !", "!!").replace("{:}", ":")
    text = _COMMAND.sub(lambda m: COMMANDS.get(m[1], m[0]), text)
    text = text.replace(_LEFT_BRACE, r"\{").replace(_RIGHT_BRACE, r"\}")
    text = _PRIMES.sub(lambda m: "'" * m[1].count("prime"), text)
    text = rewritten(text, "late")
    text = _SPACED_THOUSANDS.sub(lambda m: m[0].replace(" ", ","), text)
    text = _recurring_to_fraction(text)
    if congruent:
        text = _BARE_MODULUS.sub(r" \\pmod \1", text)
    text = _MODULUS.sub(lambda m: " \\pmod " + re.sub(r"\D", "", m[0]), text)
    if "_" in text:
        text = _BASE_WORD.sub(_base_to_digits, text)
    text = rewritten(text.replace(_ROW_END, r"\\"), "last")
    return expand_notation(strip_ends(_SPACES.sub(" ", text)))


def unicode_to_latex(text: str) -> str:
    """Return typeset characters (½, ², √, ≤, π, full-width forms) as LaTeX."""
    if text.isascii():
        return text
    text = "".join(
        r"\frac{{{}}}{{{}}}".format(*VULGAR_FRACTIONS[c]) if c in VULGAR_FRACTIONS else c
        for c in text
    )
    for pattern, table, sign in ((_SUPERSCRIPTS, SUPERSCRIPT, "^"), (_SUBSCRIPTS, SUBSCRIPT, "_")):
        text = pattern.sub(
            lambda m, t=table, s=sign: f"{s}{{{''.join(t[c] for c in m[0])}}}",  # type: ignore[misc]
            text,
        )
    text = "".join(UNICODE.get(c, c) for c in text)
    text = "".join(f"\\{GREEK[c]} " if c in GREEK else c for c in text)
    text = "".join(c if c in _SIGNS else unicodedata.normalize("NFKC", c) for c in text)
    text = re.sub(r"\\sqrt (\d+|[A-Za-z]|\\[A-Za-z]+)", r"\\sqrt{\1}", text)
    return text.replace(r"\sqrt (", r"\sqrt(")


def _money_behind(m: re.Match[str]) -> str:
    """Return `60,000 CHF` for `CHF 60,000`, the code as a word."""
    return f"{m['n']} {TEXT_OPEN}{MONEY[m['code']]}{TEXT_CLOSE}"


def _system_to_list(m: re.Match[str]) -> str:
    """Return the rows of a system of equations as a list, cases as a set; other arrays stay."""
    if m["kind"] == "array" and not re.search(r"[=<>]|\\[lg]eq?(?![A-Za-z])", m["body"]):
        return m[0]
    rows = [r.strip() for r in re.split(r"\\\\(?:\[[^\]]*\])?", m["body"]) if r.strip()]
    plain = [r.replace("&", " ").strip(" ,;.") for r in rows]
    if len(rows) > 1 and all(r.startswith("=") for r in plain[1:]):
        return " ".join(plain)  # a calculation
    named = [re.match(r"\s*\\?[A-Za-z]\w*\s*=", r) for r in plain]
    if m["kind"].startswith("align") and named[-1] and not all(named):
        return plain[-1]  # a derivation
    if len(cases := [c for r in rows if (c := _CASE.fullmatch(r))]) == len(rows) > 1:
        pairs = (f"({c[1].strip(' ,')}; {_IF.sub(' ', c[2]).strip(' ,.;')})" for c in cases)
        return rf"\{{{', '.join(pairs)}\}}"
    return ", ".join(plain)


def _base_to_digits(m: re.Match[str]) -> str:
    """Return `_{6}` for `_{\\text{six}}`."""
    value = NUMBER_WORDS.get(m[2].lower())
    return m[0] if value is None else f"{m[1]}_{{{value}}}"


def _recurring_to_fraction(text: str) -> str:
    """Return `0.1\\overline{6}` and `0.\\dot{3}` as fractions."""

    def fraction(m: re.Match[str]) -> str:
        period = m[3] or m[7] or (m[4] + (m[5] or "") + (m[6] or ""))
        low = 10 ** len(m[2]) * (10 ** len(period) - 1)
        top = int(m[1] + m[2] + period) - int(m[1] + m[2] or 0)
        return rf"(\frac{{{top}}}{{{low}}})"

    text = _ELLIPSIS.sub(lambda m: rf"{m[1]}\overline{{{m[2] or m[3]}}}", text)
    return _RECURRING.sub(fraction, text)


def _remove_math_delimiters(text: str) -> str:
    """Remove `$`, `\\(` and `\\[`; an unpaired dollar sign before a number is money."""
    if text.count("$") % 2:
        text = _LONE_DOLLAR.sub("＄", text, count=1)
    return _SPACES.sub(" ", _MATH_MARKS.sub(" ", text)).strip()


def strip_ends(text: str) -> str:
    """Remove closing punctuation, stray backslashes, and braces or quotes around the whole."""
    for _ in range(MAX_LAYERS):
        before = text
        text = text.rstrip(" .,;:\\") if not text.endswith((r"\{", r"\}")) else text
        text = text.strip().lstrip(",;: ").strip()
        text = _LEADING_SIGNS.sub("", text.strip("`"))
        enclosed = len(text) > 1 and text[0] == "{" and closing_brace(text, 0) == len(text) - 1
        if enclosed and not _IN_A_SET.search(text):
            text = text[1:-1]
        quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "\"`'"
        if quoted and text[0] not in text[1:-1]:
            text = text[1:-1]
        if text == before:
            break
    return text


def closing_brace(text: str, start: int) -> int:
    """Return the index of the brace that closes the one at `start`; -1 without one."""
    depth = 0
    for m in _BRACE.finditer(text, start, start + MAX_CHARS):
        if m[0] == "{":
            depth += 1
        elif m[0] == "}":
            depth -= 1
            if depth == 0:
                return m.start()
    return -1


# -- the spelling of dart-math's EvaluatorMath ------------------------------------------

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
