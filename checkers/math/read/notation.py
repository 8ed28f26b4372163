"""Rewrite notations in a normalised answer into those that the reader knows.

REWRITES has what is replaced wherever it stands, WHOLE what is a whole answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradebox.checkers.math.read.number_words import NUMBER_WORDS, read_number_words
from gradebox.checkers.math.read.tables import TEXT_CLOSE, TEXT_OPEN, strip_marks

MAX_POWER_DIGITS = 6  # of the base, the exponent and the modulus of `2^{10} \bmod 7`
Replacement = str | Callable[[re.Match[str]], str]


def _binomial(m: re.Match[str]) -> str:
    """Return `\\binom{10}{3}` for the n and k of a match; `C_3^{10}` has them the other way."""
    n, k = (g for g in m.groups() if g)
    if n.isdigit() and not (k.isdigit() and int(n) >= int(k)):
        n, k = k, n
    return rf"\binom{{{n}}}{{{k}}}"


def _arranged(m: re.Match[str]) -> str:
    """Return `\\frac{7!}{4!}` for the arrangements of 3 of 7 things."""
    n, k = sorted((int(g) for g in m.groups() if g), reverse=True)
    return rf"\frac{{{n}!}}{{{n - k}!}}"


def _bound(m: re.Match[str]) -> str:
    """Return `(-\\infty,3]` for `at most 3`."""
    words, end = (m["sign"] or m["more"]).lower(), m["end"] or m["end2"]
    low = re.search(r"least|no (?:less|fewer)|not less|^(?:strictly )?(?:more|greater)", words)
    strict = words.endswith("than") and not words.startswith(("no ", "not "))
    if low:
        return f"{'(' if strict else '['}{end},\\infty)"
    return f"(-\\infty,{end}{')' if strict else ']'}"


def _share(m: re.Match[str]) -> str:
    """Return `\\frac{1}{3}` for `1 out of 3`."""
    top, low = (t if t.isdigit() else read_number_words(t) for t in m.groups())
    return rf"\frac{{{top}}}{{{low}}}" if top and low else m[0]


def _facing_inward(m: re.Match[str]) -> str:
    """Return `(1,2)` for `]1,2[`: a bracket that faces outward excludes its end."""
    return f"{'(' if m[1] == ']' else '['}{m[2]}{')' if m[3] == '[' else ']'}"


def _in_base(m: re.Match[str]) -> str:
    name = m[2].lower()
    base = str({**NUMBER_WORDS, **_BASES}.get(name, name))
    return str(int(m[1], 16)) if base == "16" else f"{m[1]}_{{{base}}}"


def _modular_power(m: re.Match[str]) -> str:
    """Return `2` for `17 \\bmod 5`."""
    if not all(len(g or "") <= MAX_POWER_DIGITS for g in m.groups()) or not int(m[3]):
        return m[0]
    return str(pow(int(m[1]), int(m[2] or 1), int(m[3])))


_BASES = {"binary": 2, "ternary": 3, "octal": 8, "hexadecimal": 16, "hex": 16}
_HALF_LINES = {
    r"\ge": r"[0,\infty)", ">": r"(0,\infty)", r"\le": r"(-\infty,0]", "<": r"(-\infty,0)",
    "+": r"(0,\infty)", "-": r"(-\infty,0)",
}  # fmt: skip
_COUNT = r"\{?\s*(\d{1,4}|[a-z])\s*\}?"
_DIGITS = r"\{?\s*(\d{1,4})\s*\}?"
_END = r"[-+]?\d[\d.,/]*\d|[-+]?\d|[-+]?\\[a-z]+[^<>=,;]*"

REWRITES: tuple[tuple[re.Pattern[str], Replacement], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (  # 3rd, `3\text{rd}`; only the matching suffix, as `2rd` is a product
            r"(?:(?<=1\d)|(?P<one>(?<=1))|(?P<two>(?<=2))|(?P<three>(?<=3))|(?<=[04-9]))"
            rf"\s?\^?\s?\{{?\s?{TEXT_OPEN}?\s?(?(one)st|(?(two)nd|(?(three)rd|th)))"
            rf"\s?{TEXT_CLOSE}?\s?\}}?(?![A-Za-z}}])",
            "",
        ),
        (r"(?<=[(\[,])\s*([-+]?)\s*inf(?:inity)?(?=\s*[,)\]])", r"\1\\infty"),  # `(-inf, 3)`
        (  # `(1,2)^T`
            r"([(\[][^()\[\]]{1,200},[^()\[\]]{1,200}[)\]])"
            r"\s*\^\s*(?:T|\\top|\{\s*(?:T|\\top)\s*\})",
            r"\1",
        ),
        # `{}_{10}C_3`, `C_{10}^3`, `C^3_{10}`, `C(10,3)`, `12C6`, `5 choose 2`
        (rf"(?:\{{\s*\}}|(?<![\w)}}]))\s*[_^]\s*{_COUNT}\s*C\s*_\s*{_COUNT}", _binomial),
        (rf"(?<![A-Za-z\\])C\s*(?:_\s*{_COUNT}\s*\^|\^\s*{_COUNT}\s*_)\s*{_COUNT}", _binomial),
        (
            r"(?<![A-Za-z\\])(?:nCr|comb|C)\(\s*(\d{1,4}|[a-z])\s*,\s*(\d{1,4}|[a-z])\s*\)",
            _binomial,
        ),
        (r"(?<![\w\\^{.])(\d{1,4})\s?C\s?_?\s?\{?(\d{1,4})\}?(?![\w.])(?!\s?_)", _binomial),
        (r"(?<!\d)(\d{1,4}|[a-z])\s+choose\s+(\d{1,4}|[a-z])(?![A-Za-z])", r"\\binom{\1}{\2}"),
        # `{}_{10}P_3`, `P_7^3`, `A_7^3`
        (rf"(?:\{{\s*\}})?\s*[_^]\s*{_DIGITS}\s*P\s*_\s*{_DIGITS}", _arranged),
        (rf"(?<![A-Za-z\\])[AP]\s*_\s*{_DIGITS}\s*\^\s*{_DIGITS}", _arranged),
        (r"(?<![\w\\^{.])(\d{1,4})\s?P\s?_?\s?\{?(\d{1,4})\}?(?![\w.])", _arranged),
        (  # `37\degree 30'`, `37\degree 30' 15''`
            r"(\d+)\s*\\degree\s*(\d{1,2}(?:\.\d+)?)\s*'(?!')"
            r"(?:\s*(\d{1,2}(?:\.\d+)?)\s*(?:''|\"))?",
            lambda m: rf"({m[1]}+\frac{{{m[2]}}}{{60}}+\frac{{{m[3] or 0}}}{{3600}})\degree",
        ),
        (  # `3\times10^8/1.6\times10^6`
            r"(\\(?:times|cdot)\s*10\s*\^\s*(?:\{\s*-?\d+\s*\}|\d)\s*/\s*)"
            r"(\d[\d.]*\s*\\(?:times|cdot)\s*10\s*\^\s*(?:\{\s*-?\d+\s*\}|\d))",
            r"\1(\2)",
        ),
        (r"(?<!frac)\\sqrt\s*(\d{2,})|(?<![A-Za-z\\])sqrt\s*(\d+(?:\.\d+)?)", r"\\sqrt{\1\2}"),
        (  # a number in base 16 with a letter
            r"(?<![\\\w])\(?\s*(\d{0,12}[A-F][0-9A-F]{0,12})\s*\)?\s*_\s*(?:\{\s*16\s*\}|16)(?!\d)",
            lambda m: str(int(m[1], 16)),
        ),
        (r"(?<![A-Za-z\\])log(2|10)(?=\s*\()", r"\\log_{\1}"),
        (r"(?<![A-Za-z\\])cbrt\s*\(([^()]{1,60})\)", r"\\sqrt[3]{\1}"),
        (r"(?<=\d)\s*[xX]\s*(?=10\s*\^)", r"\\times "),  # `4.8 x 10^5`
        (r"(?<=[\d}])\s*([kM]?)\\Omega$", rf" {TEXT_OPEN}\1ohm{TEXT_CLOSE}"),
        (
            r"(?<=[\d}])\s*\\mu\s*(A|C|F|Hz|J|mol|N|Pa|V|W|T)$",
            rf" {TEXT_OPEN}\\mu \1{TEXT_CLOSE}",
        ),
        (r"(?<=[\d}])\s*\\mu\s*s$", f" {TEXT_OPEN}microsecond{TEXT_CLOSE}"),
        (r"(?<=[\d}])\s*\\mu\s*m$", f" {TEXT_OPEN}micrometer{TEXT_CLOSE}"),
        (r"(?<=[＄€£])\s?(\d{1,3})[kK]$", r"\g<1>000"),
        (r"(?<=[＄€£])\s?(\d{1,4}(?:\.\d+)?)\s?(?:M|m|mn)$", r"\1 million"),
    )
)
WHOLE: tuple[tuple[re.Pattern[str], Replacement], ...] = tuple(
    (re.compile(pattern, re.I), replacement)
    for pattern, replacement in (
        (r"([a-z\d]+)[\s-](?:out\sof|in)(?:[\s-]every)?[\s-]([a-z\d]+)", _share),  # `1-in-3`
        (  # `14 R 3`, `14 remainder 3`
            r"(\d+)[\s,]+(?:R|rem\.?|(?:with\s+)?(?:a\s+)?remainder(?:\s+of)?)\s+(\d+)",
            r"(\1; \2)",
        ),
        (r"([-+]?\d{1,3}(?:\.\d{3})+),(\d+)", lambda m: f"{m[1].replace('.', '')}.{m[2]}"),
        (  # `(1) 12; (2) 5/6`
            r"\(?(?:1|a|i)\)\s+(.+?)[\s,;.]+\(?(?:2|b|ii)\)\s+(.+?)"
            r"(?:[\s,;.]+\(?(?:3|c|iii)\)\s+(.+?))?",
            lambda m: f"({'; '.join(part for part in m.groups() if part)})",
        ),
        (  # `at most 3`, `5 or more`
            r"(?:[a-z]\s+is\s+)?(?P<sign>at\s+most|no(?:t)?\s+more\s+than|not\s+exceeding"
            r"|at\s+least|no\s+(?:less|fewer)\s+than|not\s+less\s+than"
            rf"|(?:strictly\s+)?(?:more|greater|less|fewer)\s+than)\s+(?P<end>{_END})"
            rf"|(?P<end2>{_END})\s+or\s+(?P<more>more|greater|less|fewer)",
            _bound,
        ),
        (r"\\ge(?![A-Za-z])\s*([-+]?\d[\d.,/]*)", r"[\1,\\infty)"),  # a bound without an unknown
        (r"\\le(?![A-Za-z])\s*([-+]?\d[\d.,/]*)", r"(-\\infty,\1]"),
        (r">\s*([-+]?\d[\d.,/]*)", r"(\1,\\infty)"),
        (r"<\s*([-+]?\d[\d.,/]*)", r"(-\\infty,\1)"),
        (r"(?:at\s+)?the\s+origin", "(0,0)"),
        (  # `f: x \mapsto x^2`
            r"(?:([a-z])\s*:\s*)?([a-z])\s*\\to(?![A-Za-z])\s*"
            r"(?=.*(?<![A-Za-z\\])\2(?![A-Za-z]))([^,;]+)",
            lambda m: f"{m[1] or 'f'}({m[2]})={m[3]}",
        ),
        (r"\\(?:vec|mathbf)\s*\{\s*(\([^()]+\))\s*\}", r"\1"),
        (  # `\mathbb{R}_{\ge 0}`
            r"((?:[a-z]\s*\\in\s*)?)\\mathbb\{R\}\s*"
            r"(?:_\s*\{?\s*(\\ge|\\le|>|<)\s*0\s*\}?|\^\s*\{?\s*([+-])\s*\}?)",
            lambda m: m[1] + _HALF_LINES[m[2] or m[3]],
        ),
        (rf"(\d?[\dA-F]+)\s*(?:in\s+)?\(?({'|'.join(_BASES)})\)?", _in_base),
        (
            r"(\d[\dA-Z]*)\s*(?:in\s+)?\(?\s*base[\s-]\s*(\d{1,2}|[a-z]{3,7})\s*\)?",
            _in_base,
        ),
        (r"(?:0x[0-9a-f]{1,40}|0b[01]{1,100}|0o[0-7]{1,40})", lambda m: str(int(m[0], 0))),
        (
            r"(\d+)(?:\s*\^\s*\{?\s*(\d+)\s*\}?)?\s*(?:\\bmod|mod(?=[\s\d]))\s*\{?\s*(\d+)\s*\}?",
            _modular_power,
        ),
        (r"(\d+(?:\.\d+)?)\s*(?:''|\")", rf"\1 {TEXT_OPEN}in{TEXT_CLOSE}"),  # inches
    )
)
_OUTWARD = re.compile(r"([\[\]])([^\[\]]{1,60})([\[\]])")
_FOREIGN_NOUN = re.compile(r"([-+＄€£]?\s?\d[\d.,]*)\s?([^\W\d_的]{2,})")  # `1500 dólares`
_FONT = r"\\(?:mathbf|boldsymbol|bm|hat|vec)"
_UNIT_VECTOR = re.compile(
    rf"{_FONT}\s*(?:\{{\s*)?\\?([ijk])(?:math)?(?![A-Za-z])(?:\s*\}})?"
    r"|(?<![A-Za-z\\{])([ijk])(?![A-Za-z])"
)
_COEFFICIENT = re.compile(r"[-+]?\s*(?:[\d.,/{}()\s]|\\[dt]?frac|\\sqrt|\\pi|\\left|\\right)*")


def expand_notation(text: str) -> str:
    """Return a normalised answer with the notations of this module rewritten."""
    text = unit_vectors_to_tuple(text)
    if text.startswith("]") or text.endswith("["):
        text = _OUTWARD.sub(_facing_inward, text)
    for pattern, replacement in REWRITES:
        text = pattern.sub(replacement, text)
    plain = " ".join(strip_marks(text).split())
    for pattern, replacement in WHOLE:
        if m := pattern.fullmatch(plain):
            new = m.expand(replacement) if isinstance(replacement, str) else replacement(m)
            if new != plain:
                return new
    counted = None if text.isascii() else _FOREIGN_NOUN.fullmatch(text)
    return counted[1] if counted and not counted[2].isascii() else text


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
