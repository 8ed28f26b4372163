"""Rewrite notations in a normalised answer into those that the reader knows.

REWRITES has what is replaced wherever it stands, WHOLE what is a whole answer, _PRINTED what
Python and SymPy print. Fonts are taken off, and words and upright units put between marks:
`\\text{cm}`, `5~\\mathrm{N}`, `\\mathrm{m\\,s^{-1}}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.checkers.math.read.tables import (
    COMMANDS,
    FUNCTIONS,
    NUMBER_WORDS,
    TEXT_CLOSE,
    TEXT_OPEN,
    read_number_words,
    strip_marks,
)

Replacement = str | Callable[[re.Match[str]], str]


def _binomial(m: re.Match[str]) -> str:
    """Return `\\binom{10}{3}` for the n and k of a match; `C_3^{10}` has them the other way."""
    n, k = (g for g in m.groups() if g)
    if n.isdigit() and not (k.isdigit() and int(n) >= int(k)):
        n, k = k, n
    return rf"\binom{{{n}}}{{{k}}}"


def _arranged(m: re.Match[str]) -> str:
    """Return `\\frac{7!}{4!}` for the arrangements of 3 of 7 things."""
    n, k = sorted(map(int, m.groups()), reverse=True)
    return rf"\frac{{{n}!}}{{{n - k}!}}"


def _share(m: re.Match[str]) -> str:
    """Return `\\frac{1}{3}` for `1 out of 3`."""
    top, low = (t if t.isdigit() else read_number_words(t) for t in m.groups())
    return rf"\frac{{{top}}}{{{low}}}" if top and low else m[0]


def _in_base(m: re.Match[str]) -> str:
    name = m[2].lower()
    base = str({**NUMBER_WORDS, **_BASES}.get(name, name))
    return str(int(m[1], 16)) if base == "16" else f"{m[1]}_{{{base}}}"


def _facing_inward(m: re.Match[str]) -> str:
    """Return `(1,2)` for `]1,2[`: a bracket that faces outward excludes its end."""
    return f"{'(' if m[1] == ']' else '['}{m[2]}{')' if m[3] == '[' else ']'}"


_OUTWARD = re.compile(r"([\[\]])([^\[\]]{1,60})([\[\]])")
_BASES = {"binary": 2, "ternary": 3, "octal": 8, "hexadecimal": 16, "hex": 16}
_COUNT = r"\{?\s*(\d{1,4}|[a-z])\s*\}?"
REWRITES: tuple[tuple[re.Pattern[str], Replacement], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (  # 3rd, `3\text{rd}`; only the matching suffix, as `2rd` is a product
            r"(?:(?<=1\d)|(?P<one>(?<=1))|(?P<two>(?<=2))|(?P<three>(?<=3))|(?<=[04-9]))"
            rf"\s?\^?\s?\{{?\s?{TEXT_OPEN}?\s?(?(one)st|(?(two)nd|(?(three)rd|th)))"
            rf"\s?{TEXT_CLOSE}?\s?\}}?(?![A-Za-z}}])",
            "",
        ),
        (  # `(1,2)^T`
            r"([(\[][^()\[\]]{1,200},[^()\[\]]{1,200}[)\]])"
            r"\s*\^\s*(?:T|\\top|\{\s*(?:T|\\top)\s*\})",
            r"\1",
        ),
        # `{}_{10}C_3`, `C_{10}^3`, `C^3_{10}`, `C(10,3)`, `12C6`
        (rf"(?:\{{\s*\}}|(?<![\w)}}]))\s*[_^]\s*{_COUNT}\s*C\s*_\s*{_COUNT}", _binomial),
        (r"(?<![\w\\^{.])(\d{1,4})\s?C\s?_?\s?\{?(\d{1,4})\}?(?![\w.])(?!\s?_)", _binomial),
        (  # `A_7^3`, `P_7^3`
            r"(?<![A-Za-z\\])[AP]\s*_\s*\{?\s*(\d{1,4})\s*\}?\s*\^\s*\{?\s*(\d{1,4})\s*\}?",
            _arranged,
        ),
        (rf"(?<![A-Za-z\\])C\s*(?:_\s*{_COUNT}\s*\^|\^\s*{_COUNT}\s*_)\s*{_COUNT}", _binomial),
        (
            r"(?<![A-Za-z\\])(?:nCr|comb|C)\(\s*(\d{1,4}|[a-z])\s*,\s*(\d{1,4}|[a-z])\s*\)",
            _binomial,
        ),
        (  # `37\degree 30'`, `37\degree 30' 15''`
            r"(\d+)\s*\\degree\s*(\d{1,2}(?:\.\d+)?)\s*'(?!')"
            r"(?:\s*(\d{1,2}(?:\.\d+)?)\s*(?:''|\"))?",
            lambda m: rf"({m[1]}+\frac{{{m[2]}}}{{60}}+\frac{{{m[3] or 0}}}{{3600}})\degree",
        ),
        (r"(?<!frac)\\sqrt\s*(\d{2,})|(?<![A-Za-z\\])sqrt\s*(\d+(?:\.\d+)?)", r"\\sqrt{\1\2}"),
        (  # a number in base 16 with a letter
            r"(?<![\\\w])\(?\s*(\d{0,12}[A-F][0-9A-F]{0,12})\s*\)?\s*_\s*(?:\{\s*16\s*\}|16)(?!\d)",
            lambda m: str(int(m[1], 16)),
        ),
        (r"(?<![A-Za-z\\])log(2|10)(?=\s*\()", r"\\log_{\1}"),
        (r"(?<=\d)\s*[xX]\s*(?=10\s*\^)", r"\\times "),  # `4.8 x 10^5`
        (r"(?<=[\d}])\s*\\mu\s*m$", f" {TEXT_OPEN}micrometer{TEXT_CLOSE}"),
        (r"(?<=[\d}])\s*([kM]?)\\Omega$", rf" {TEXT_OPEN}\1ohm{TEXT_CLOSE}"),
        (
            r"(?<=[\d}])\s*\\mu\s*(A|C|F|Hz|J|mol|N|Pa|V|W|T)$",
            rf" {TEXT_OPEN}\\mu \1{TEXT_CLOSE}",
        ),
    )
)
_SIGNED = {
    "positive": r"(0,\infty)", "negative": r"(-\infty,0)", "nonnegative": r"[0,\infty)",
    ">": r"(0,\infty)", "+": r"(0,\infty)", "<": r"(-\infty,0)", "-": r"(-\infty,0)",
    r"\ge": r"[0,\infty)", r"\le": r"(-\infty,0]",
    "nonpositive": r"(-\infty,0]", "nonzero": r"\mathbb{R}\setminus\{0\}",
}  # fmt: skip
WHOLE: tuple[tuple[re.Pattern[str], Replacement], ...] = tuple(
    (re.compile(pattern, re.I), replacement)
    for pattern, replacement in (
        (r"([a-z\d]+)[\s-](?:out\sof|in)(?:[\s-]every)?[\s-]([a-z\d]+)", _share),  # `1-in-3`
        (  # `(1) 12; (2) 5/6`
            r"\(?(?:1|a|i)\)\s+(.+?)[\s,;.]+\(?(?:2|b|ii)\)\s+(.+?)"
            r"(?:[\s,;.]+\(?(?:3|c|iii)\)\s+(.+?))?",
            lambda m: f"({'; '.join(part for part in m.groups() if part)})",
        ),
        (rf"(\d?[\dA-F]+)\s*(?:in\s+)?\(?({'|'.join(_BASES)})\)?", _in_base),
        (r"(?:0x[0-9a-f]{1,40}|0b[01]{1,100})", lambda m: str(int(m[0], 0))),
        (r"(\d+)[\s,]+(?:R|(?:with\s+)?(?:a\s+)?remainder(?:\s+of)?)\s+(\d+)", r"(\1; \2)"),
        (r"([-+]?\d{1,3}(?:\.\d{3})+),(\d+)", lambda m: f"{m[1].replace('.', '')}.{m[2]}"),
        (r"(\d+(?:\.\d+)?)\s*(?:''|\")", rf"\1 {TEXT_OPEN}in{TEXT_CLOSE}"),  # inches
        (  # `f: x \mapsto x^2`
            r"(?:([a-z])\s*:\s*)?([a-z])\s*\\to(?![A-Za-z])\s*(?=.*(?<![A-Za-z\\])\2(?![A-Za-z]))([^,;]+)",
            lambda m: f"{m[1] or 'f'}({m[2]})={m[3]}",
        ),
        (
            r"(\d[\dA-Z]*)\s*(?:in\s+)?\(?\s*base[\s-]\s*(\d{1,2}|[a-z]{3,7})\s*\)?",
            _in_base,
        ),
        (  # `\mathbb{R}_{\ge 0}`, `\mathbb{R}^+`
            r"\\mathbb\{R\}\s*(?:_\s*\{?\s*(\\ge|\\le|>|<)\s*0\s*\}?|\^\s*\{?\s*([+-])\s*\}?)",
            lambda m: _SIGNED[m[1] or m[2]],
        ),
        (  # `all positive real numbers`
            r"(?:all\s+|the\s+)?(positive|negative|non-?negative|non-?positive|non-?zero)\s+reals?(?:\s+numbers?)?",
            lambda m: _SIGNED[m[1].lower().replace("-", "")],
        ),
        (  # `all real numbers except 2`
            r"(?:all|any|every)\s+reals?(?:\s+numbers?)?(?:\s+[a-z])?\s+(?:except|but|other\s+than)"
            r"(?:\s+for)?\s+(?:[a-z]\s*=)?\s*([-\d\\][^=<>]*)",
            lambda m: rf"\mathbb{{R}}\setminus\{{{m[1].replace(' and ', ', ')}\}}",
        ),
    )
)
_VECTOR_FONT = r"\\(?:mathbf|boldsymbol|bm|hat|vec)"
_UNIT_VECTOR = re.compile(
    rf"{_VECTOR_FONT}\s*(?:\{{\s*)?\\?([ijk])(?:math)?(?![A-Za-z])(?:\s*\}})?"
    r"|(?<![A-Za-z\\{])([ijk])(?![A-Za-z])"
)
_COEFFICIENT = re.compile(r"[-+]?\s*(?:[\d.,/{}()\s]|\\[dt]?frac|\\sqrt|\\pi|\\left|\\right)*")


def _matrix(rows: str) -> str:
    return rf"\begin{{pmatrix}}{rows.replace(',', '&')}\end{{pmatrix}}"


_NUMBER = r"([^(),]{1,200})"
_PRINTED: tuple[tuple[re.Pattern[str], Replacement], ...] = tuple(  # by Python and SymPy
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(?<![A-Za-z\\])(?:np|numpy|math|sympy|sp)\.(?=[A-Za-z])", ""),
        (rf"(?<![A-Za-z])Abs\({_NUMBER}\)", r"|\1|"),
        (rf"(?<![A-Za-z])(?:binomial|comb)\({_NUMBER},{_NUMBER}\)", r"\\binom{\1}{\2}"),
        (r"^Eq\((.{1,20}?),\s*(.{1,400})\)$", r"\1 = \2"),
        (rf"(?:Fraction|Rational)\({_NUMBER},{_NUMBER}\)", r"\\frac{\1}{\2}"),
        (rf"Interval\({_NUMBER},{_NUMBER}\)", r"[\1,\2]"),
        (rf"Interval\.open\({_NUMBER},{_NUMBER}\)", r"(\1,\2)"),
        (r"(?<![A-Za-z\\])(?:FiniteSet|set|frozenset)\(\[?([^()\[\]]{0,400})\]?\)", r"\\{\1\\}"),
        (r"^Union\((.{1,400})\)$", lambda m: re.sub(r"(?<=[)\]}]),\s*", r" \\cup ", m[1])),
        (r"(?<![A-Za-z\\{])(?:Matrix|array)\(\[([^()\[\]]{1,900})\]\)", r"(\1)"),
        (
            r"^\[?(?:\{(?:'?[a-z]\w?'?: [^{}:]{1,60}(?:, |(?=\}))){2,6}\}(?:, )?){1,12}\]?$",
            lambda m: m[0].strip("[{}]").replace("'", "").replace("}, {", "; ").replace(":", "="),
        ),
        (
            r"(?<![A-Za-z\\{])(?:Matrix|array)\(\[\s*(\[[^()]{1,900}\])\s*\]\)",
            lambda m: _matrix(re.sub(r"\]\s*,\s*\[", r"\\\\", m[1]).strip("[] ")),
        ),
        (r"^\(?(-?(?:[\d.]+\s?[-+]\s?)?[\d.]+)j\)?$", r"\1i"),
    )
)


def printed(text: str) -> str:
    """Return an answer as LaTeX where it is written as Python or SymPy prints it."""
    if "(" in text or text.endswith(("j", "}", "}]")):
        for pattern, replacement in _PRINTED:
            text = pattern.sub(replacement, text)
    return text


def expand_notation(text: str) -> str:
    """Return a normalised answer with the notations of this module rewritten."""
    text = unit_vectors_to_tuple(text)
    text = _OUTWARD.sub(_facing_inward, text) if text[:1] == "]" or text[-1:] == "[" else text
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    plain = " ".join(strip_marks(text).split())
    for pattern, replacement in WHOLE:
        if m := pattern.fullmatch(plain):
            new = m.expand(replacement) if isinstance(replacement, str) else replacement(m)
            if new != plain:
                return new
    return text


def unit_vectors_to_tuple(text: str) -> str:
    """Return `(2,-3)` for `2\\mathbf{i}-3\\mathbf{j}`, a sum of two or three unit vectors."""
    name, equals, total = text.rpartition("=")
    found = list(_UNIT_VECTOR.finditer(total))
    if not 2 <= len(found) <= 3:
        return text
    components: dict[str, str] = {}
    end = 0
    for m in found:
        part = re.sub(r"\\,|\\cdot$", "", total[end : m.start()].strip(" $*")).strip()
        end = m.end()
        known = _COEFFICIENT.fullmatch(part) or (m[1] and not re.search(r"[,;=<>]", part))
        if not known or (components and part[:1] not in ("+", "-")):
            return text
        components[m[1] or m[2]] = part + "1" if part in ("", "+", "-") else part
    if total[end:].strip(" $.}") or len(components) != len(found):
        return text
    letters = "ijk" if "k" in components else "ij"
    return f"{name}{equals}({','.join(components.get(c, '0') for c in letters)})"


# ---- fonts ----

MAX_NESTED = 8  # fonts
_TEXT_COMMANDS = (
    "text|textbf|textit|textrm|textsf|texttt|textnormal|textup|mbox|hbox|emph|textsc|underline"
)
_FONT_COMMANDS = "mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|mathcal|mathscr|mathfrak|pmb"
TEXT = re.compile(rf"\\(?:{_TEXT_COMMANDS})\s*\{{([^{{}}]*)\}}")
_FONT = re.compile(rf"\\(?:{_FONT_COMMANDS}|operatorname\*?)\s*\{{([^{{}}]*)\}}")
_FONT_LETTER = re.compile(rf"\\(?:{_FONT_COMMANDS})\s+([A-Za-z0-9])")
_FONT_COMMAND = re.compile(rf"\\(?:{_FONT_COMMANDS}|{_TEXT_COMMANDS})(?=\s*\{{)")  # around braces
_UNIT_LETTER = re.compile(  # `5~\mathrm{N}`; a variable has no space before it
    r"((?<=[\d}])\s?(?:~|\\[ ,;:]|\\(?:quad|thinspace)(?![A-Za-z]))\s?|(?<=[\d})])\s(?=\S+$))"
    r"\\mathrm\s?\{\s?([A-DF-HJ-WZacf-hj-wz])\s?\}"
)
_UNIT_CHAIN = re.compile(  # `\mathrm{~lb}-\mathrm{sec} / \mathrm{ft}`
    r"\\mathrm\s?\{[^{}]{0,20}\}(?:\^\{?-?\d\}?)?"
    r"(?:\s?(?:[-/]|\\cdot)?\s?\\mathrm\s?\{[^{}]{0,20}\}(?:\^\{?-?\d\}?)?)*"
)
_UPRIGHT = re.compile(r"\\mathrm\s?\{\s?([^{}]*)\}")

_UNIT_FONT = re.compile(  # `\mathrm{m\,s^{-1}}`
    r"\\(?:mathrm|text)\s?\{((?:[A-Za-z/.\s~]|\\[ ,;]|\\cdot(?![A-Za-z])|\^\{?-?\d\}?){0,60}"
    r"\^(?:[^{}]|\{-?\d\}){0,60})\}"
)
_UNIT_FRACTION = re.compile(  # `\frac{\text{m}}{\text{s}^2}`
    rf"\\[dt]?frac\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*\}}"
    rf"\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*(\^\s*\{{?\d\}}?)?\s*\}}"
)


def mark_units(text: str) -> str:
    """Return a text with `\\text{…}` around upright units."""
    text = _UNIT_LETTER.sub(r"\1\\text{\2}", _UNIT_CHAIN.sub(_marked_chain, text))
    return _UNIT_FONT.sub(lambda m: rf"\text{{{_plain_unit(m[1])}}}", text)


def _plain_unit(text: str) -> str:
    return re.sub(r"[{}]", "", re.sub(r"\\[ ,;]|\\cdot|~", " ", text))


def _marked_chain(m: re.Match[str]) -> str:
    """Return `lb-sec/ft` between marks for upright names after `~` or joined to several."""
    names = _UPRIGHT.findall(m[0])
    marked = names[0].startswith("~") or (len(names) > 1 and len(names[0]) > 1)
    plain = _UPRIGHT.sub(r" \1", m[0]).replace(r"\cdot", " ")
    plain = re.sub(r"[{}]|(?<=[-/])\s+|\s+(?=[-/])", "", plain.replace("~", " "))
    if not marked or len(re.findall("[A-Za-z]", plain)) < 2:
        return m[0]
    return f"{TEXT_OPEN}{' '.join(plain.split())}{TEXT_CLOSE}"


def unwrap_text(text: str) -> str:
    """Put the words of `\\text{…}` between the marks and remove fonts, nested ones too."""
    for _ in range(MAX_NESTED):
        before = text
        text = TEXT.sub(_mark_text, _FONT.sub(_unwrap_font, text))
        if text == before:
            break
    text = _UNIT_FRACTION.sub(rf"{TEXT_OPEN}\1/\2\3{TEXT_CLOSE}", text)
    return _FONT_COMMAND.sub("", _FONT_LETTER.sub(r" \1", text))


def _unwrap_font(match: re.Match[str]) -> str:
    inner = match[1].strip()
    if inner in FUNCTIONS or COMMANDS.get(inner, "")[1:] in FUNCTIONS:
        return f"\\{inner} "
    if len(inner) > 1 and inner.isalpha():
        return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"
    return f" {match[1]} "


def _mark_text(match: re.Match[str]) -> str:
    inner = strip_marks(match[1], "")
    bare = inner.strip(" ,.;")
    if inner.strip() in FUNCTIONS - {"min", "max", "sec"}:
        return f"\\{inner.strip()} "
    if re.fullmatch(r"[-\d.,\s]*\\degree|\((?:i{1,3}|iv|v)\)", bare):
        return f" {bare} "
    if not re.search(r"[A-Za-z]{2}|^[A-Za-z](?:\^-?\d)?(?: [A-Za-z](?:\^-?\d)?)*$", bare):
        return f" {bare} "  # \text{240}, \text{-2}, \text{(B)}: not words
    if counted := re.fullmatch(r"(-?[\d.,/]*\d)\s+([^\d]+)", bare):
        return f" {counted[1]} {TEXT_OPEN}{counted[2]}{TEXT_CLOSE}"
    if joined := re.fullmatch(r"(.*\w)\s+(and|or)", bare):
        return f"{TEXT_OPEN}{joined[1]}{TEXT_CLOSE} {joined[2]} "
    if bare.lower() in ("and", "or", "to"):
        return f" {bare.lower()} "
    return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"
