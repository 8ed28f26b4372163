"""Rewrite notations in a normalised answer into those that the reader knows.

`{}_{10}C_3` → `\\binom{10}{3}`          `3\\text{rd}` → `3`
`\\mathbb{R}_{\\ge 0}` → `[0,\\infty)`      `17 \\bmod 5` → `2`
`2\\mathbf{i}-\\mathbf{j}` → `(2,-1)`     `(1,2)^T` → `(1,2)`
`52 base 8` → `52_{8}`                 `]1,2]` → `(1,2]`
`12C6` → `\\binom{12}{6}`              `37\\degree 30'` → `(37+\\frac{30}{60})\\degree`
`4.8 x 10^5` → `4.8 \\times 10^5`       `USD 5` → `＄5`
"""

from __future__ import annotations

import re
from itertools import permutations

from gradebox.checkers.math.normalise.number_words import NUMBER_WORDS, read_number_words
from gradebox.checkers.math.normalise.programs import split_arguments
from gradebox.checkers.math.normalise.spoken import spoken_math
from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN, strip_marks

MAX_POWER_DIGITS = 6  # of the base, the exponent and the modulus of `2^{10} \bmod 7`
_COUNT = r"\{?\s*(\d{1,4}|[a-z])\s*\}?"
_COMBINATIONS = re.compile(  # `{}_{10}C_3`, `C_{10}^3`, `C^3_{10}`, `C(10,3)`
    rf"(?:\{{\s*\}}|(?<![\w)}}]))\s*[_^]\s*{_COUNT}\s*C\s*_\s*{_COUNT}"
    rf"|(?<![A-Za-z\\])C\s*_\s*{_COUNT}\s*\^\s*{_COUNT}"
    rf"|(?<![A-Za-z\\])C\s*\^\s*{_COUNT}\s*_\s*{_COUNT}"
    r"|(?<![A-Za-z\\])C\(\s*(\d{1,4}|[a-z])\s*,\s*(\d{1,4}|[a-z])\s*\)"
)
_SCIENTIFIC_QUOTIENT = re.compile(  # `3\times10^8/1.6\times10^6`
    r"(\\(?:times|cdot)\s*10\s*\^\s*(?:\{\s*-?\d+\s*\}|\d)\s*/\s*)"
    r"(\d[\d.]*\s*\\(?:times|cdot)\s*10\s*\^\s*(?:\{\s*-?\d+\s*\}|\d))"
)
_ORDINAL = re.compile(  # only the matching suffix: `3rd` is an ordinal, `2rd` a product
    r"(?:(?<=1\d)|(?P<one>(?<=1))|(?P<two>(?<=2))|(?P<three>(?<=3))|(?<=[04-9]))"
    rf"\s?\^?\s?\{{?\s?{TEXT_OPEN}?\s?(?(one)st|(?(two)nd|(?(three)rd|th)))"
    rf"\s?{TEXT_CLOSE}?\s?\}}?(?![A-Za-z}}])"
)
_HALF_LINE = re.compile(
    r"((?:[a-z]\s*\\in\s*)?)\\mathbb\{R\}\s*(?:_\s*\{?\s*(\\ge|\\le|>|<)\s*0\s*\}?|\^\s*\{?\s*([+-])\s*\}?)"
)
_HALF_LINES = {
    r"\ge": r"[0,\infty)", ">": r"(0,\infty)", r"\le": r"(-\infty,0]", "<": r"(-\infty,0)",
    "+": r"(0,\infty)", "-": r"(-\infty,0)",
}  # fmt: skip
_CHOICES = re.compile(  # `\text{(C) and (D)}`
    rf"{TEXT_OPEN}\s*(\(?[A-J]\)?(?:\s*(?:,\s*and|,|and|&)\s*\(?[A-J]\)?)+)\s*{TEXT_CLOSE}"
)
_ROOT = re.compile(r"(?<!frac)\\sqrt\s*(\d{2,})|(?<![A-Za-z\\])sqrt\s*(\d+(?:\.\d+)?)")
_CHOSEN = re.compile(  # `12C6`, `12P2`
    r"(?<![\w\\^{.])(\d{1,4})\s?(?:_\s?)?([CP])\s?_?\s?\{?(\d{1,4})\}?(?![\w.])(?!\s?_)"
)
_MINUTES = re.compile(  # `37\degree 30'`, `37\degree 30' 15''`
    r"(\d+)\s*\\degree\s*(\d{1,2}(?:\.\d+)?)\s*'(?!')(?:\s*(\d{1,2}(?:\.\d+)?)\s*(?:''|\"))?"
)
_TRANSPOSED = re.compile(r"(.*[)\]])\s*\^\s*\{?\s*(?:T|\\top)\s*\}?", re.S)
_TRANSPOSED_TUPLE = re.compile(
    r"([(\[][^()\[\]]{1,200},[^()\[\]]{1,200}[)\]])\s*\^\s*(?:T|\\top|\{\s*(?:T|\\top)\s*\})"
)
_UNION_OVER = re.compile(  # `\\bigcup_{k=-\\infty}^{\\infty}` of intervals
    r"^\\cup\s*_\s*(?:\{[^{}]{0,30}(?:\{[^{}]{0,9}\})?[^{}]{0,9}\}|\w)\s*(?:\^\s*(?:\{[^{}]{0,9}\}|\\infty))?\s*(?=[(\[])"
)
_WITHIN = re.compile(  # `; in [0, 2\\pi): `
    rf";\s*{TEXT_OPEN}?\s*(?:in|on|within)(?:\s+the\s+interval)?\s*{TEXT_CLOSE}?\s*[\[(][^\[\]():]{{1,40}}[\])]\s*:\s*"
)
_FOR_WHOLE_NUMBERS = re.compile(r",?\s*\(?[kmn]\s*\\in\s*\\mathbb\{Z\}\)?(?=\s*;)")
_ORDER_TERM = re.compile(  # `+ O(x^3)`
    r"\+\s*(?:\\mathcal\s*)?[Oo]\s*\(\s*[a-z]\s*\^\s*\{?\s*\d\s*\}?\s*\)$"
)
_INFINITE_END = re.compile(r"(?<=[(\[,])\s*([-+]?)\s*inf(?:inity)?(?=\s*[,)\]])")  # `(-inf, 3)`
_REMAINDER = re.compile(
    r"(\d+)(?:\s*\^\s*\{?\s*(\d+)\s*\}?)?\s*(?:\\bmod|mod(?=[\s\d]))\s*\{?\s*(\d+)\s*\}?"
)
_CURRENCY_CODES = {
    "Rs.": "₹",
    "Rs": "₹",
    "USD": "＄",
    "EUR": "€",
    "GBP": "£",
    "INR": "₹",
    "JPY": "¥",
}
_CURRENCY_CODE = re.compile(rf"\b({'|'.join(map(re.escape, _CURRENCY_CODES))})\s?(?=\d)")
_PROGRAM_BASE = re.compile(r"(?<![\w.])(?:0x[0-9a-fA-F]{1,40}|0b[01]{1,100}|0o[0-7]{1,40})(?!\w)")
_SQUARE_ROOT = re.compile(r"(?:(?<=\d)\s+|square\s+)root(?:\s+of)?\s+(\d+)", re.I)
_FOREIGN_NOUN = re.compile(r"([-+＄€£]?\s?\d[\d.,]*)\s?([^\W\d_的]{2,})")  # `1500 dólares`
_HEXADECIMAL = re.compile(  # starts with a letter; `2A_{16}` is read with the numbers
    r"(?<![\\\w])\(?\s*([A-F][0-9A-F]{1,12})\s*\)?\s*_\s*(?:\{\s*16\s*\}|16)(?!\d)"
)
_UNIT_SYMBOLS = (
    (re.compile(r"(?<=\d)/-$"), ""),  # `Rs 500/-`
    (re.compile(r"(?<=[\d}])\s*([kM]?)\\Omega$"), rf" {TEXT_OPEN}\1ohm{TEXT_CLOSE}"),
    (
        re.compile(r"(?<=[\d}])\s*\\mu\s*(A|C|F|Hz|J|mol|N|Pa|V|W|T)$"),
        rf" {TEXT_OPEN}\\mu \1{TEXT_CLOSE}",
    ),
    (re.compile(r"(?<=[\d}])\s*\\mu\s*s$"), f" {TEXT_OPEN}microsecond{TEXT_CLOSE}"),
    (
        re.compile(r"(?<=[\d}])\s*([LMR])_\{?\s?(?:\\odot|⊙|sun)\s?\}?$"),
        rf" {TEXT_OPEN}solar \1 unit{TEXT_CLOSE}",
    ),
    (re.compile(r"(?<=[\d}])\s*\\mu\s*m$"), f" {TEXT_OPEN}micrometer{TEXT_CLOSE}"),
)
_BASE = re.compile(r"(\d[\dA-Z]*)\s*(?:in\s+)?\(?\s*base[\s-]\s*(\d{1,2}|[a-z]{3,7})\s*\)?", re.I)
_NAMED_BASES = {"binary": 2, "ternary": 3, "octal": 8, "hexadecimal": 16, "hex": 16}
_NAMED_BASE = re.compile(rf"(\d?[\dA-F]+)\s*(?:in\s+)?\(?({'|'.join(_NAMED_BASES)})\)?", re.I)
_REMAINDER_OF = re.compile(  # `14 R 3`, `14 remainder 3`
    rf"(\d+)[\s{TEXT_OPEN},]+(?:R|r|rem\.?|(?:with\s+)?(?:a\s+)?remainder(?:\s+of)?)[\s{TEXT_CLOSE}]+(\d+)"
)
_EUROPEAN = re.compile(r"([-+]?\d{1,3}(?:\.\d{3})+),(\d+)")  # `1.234,5`
_PERMUTATIONS_OF = re.compile(  # `all permutations of (2,4,6)`, `(2,4,6) and its permutations`
    r"(?:all\s+)?(?:the\s+)?(?P<c>cyclic\s+)?permutations\s+of\s+(?P<t>\([^()]+\))"
    r"|(?P<t2>\([^()]+\))\s*,?\s*(?:and\s+)?(?:all\s+)?(?:(?:of\s+)?its\s+|the\s+|their\s+)?(?P<c2>cyclic\s+)?permutations(?:\s+(?:thereof|of\s+it))?"
    r"|(?P<t3>\([^()]+\))\s*,?\s*(?:in\s+any\s+order|up\s+to\s+(?:order|permutation))",
    re.I,
)
_MAX_PERMUTED = 4
_IDENTITY_FUNCTION = re.compile(
    r"(?:f\s+is\s+)?(?:only\s+)?the\s+identity(?:\s+(?:function|map))?", re.I
)
_STANDARD_NORMAL = re.compile(r"(?:the\s+)?standard\s+normal(?:\s+distribution)?", re.I)
_OUT_OF = re.compile(  # `1 out of 3`, `one in three`, `1-in-3`
    r"([a-z\d]+)[\s-](?:out\sof|in)(?:[\s-]every)?[\s-]([a-z\d]+)", re.I
)
_CHOOSE = re.compile(r"(\d{0,4}[a-z]?)\s+choose\s+(\d{1,4}|[a-z])(?![A-Za-z])", re.I)
_NAMED_COUNT = re.compile(  # `nCr(20, 10)`, `C(2n, n)`, `nPr(5, 2)`
    r"(?<![A-Za-z\\])(?P<kind>n[CP]r|comb|perm|C)\s*\(\s*(?P<n>\d{1,4}[a-z]?|[a-z](?:[-+]\d)?)\s*,\s*(?P<k>\d{1,4}|[a-z](?:[-+]\d)?)\s*\)"
)
_LETTERS_CHOSEN = re.compile(r"(?<![A-Za-z\\\d])([a-z])C(\d|[a-z])(?![A-Za-z\d])")  # `nC2`
_PERMUTATIONS = re.compile(  # `{}_{10}P_3`, `{}^{7}P_{3}`, `P_7^3`, `A_7^3`
    r"(?:\{\s*\})?\s*[_^]\s*\{?\s*(\d{1,4})\s*\}?\s*P\s*_\s*\{?\s*(\d{1,4})\s*\}?"
    r"|(?<![A-Za-z\\])[AP]\s*_\s*\{?\s*(\d{1,4})\s*\}?\s*\^\s*\{?\s*(\d{1,4})\s*\}?"
)
_PARTS = re.compile(  # `(1) 12; (2) 5/6`
    r"\(?(?:1|a|i)\)\s+(.+?)[\s,;.]+\(?(?:2|b|ii)\)\s+(.+?)(?:[\s,;.]+\(?(?:3|c|iii)\)\s+(.+?))?"
)
_END = r"([-+]?\d[\d.,/]*\d|[-+]?\d|[-+]?\\[a-z]+[^<>=,;]*)"
_BOUND_WORDS = re.compile(  # `at most 3`, `5 or more`, `between 10 and 20 inclusive`
    rf"^[{TEXT_OPEN}\s]*(?:(?:[a-z]\s+is\s+)?(?P<sign>at\s+most|no\s+more\s+than|not\s+more\s+than|not\s+exceeding|at\s+least|no\s+(?:less|fewer)\s+than|not\s+less\s+than|(?:strictly\s+)?(?:more|greater|less|fewer)\s+than)"
    rf"[{TEXT_CLOSE}\s]+{_END}|{_END}[{TEXT_OPEN}\s]+or\s+(?P<more>more|greater|less|fewer|larger|smaller)[{TEXT_CLOSE}\s]*"
    rf"|(?:from|between)[{TEXT_CLOSE}\s]+{_END}[{TEXT_OPEN}\s]+(?:to|and)[{TEXT_CLOSE}\s]+{_END}[,{TEXT_OPEN}\s]+(?P<how>inclusive|exclusive)[{TEXT_CLOSE}\s]*)$",
    re.I,
)
_BARE_SIGN = re.compile(rf"^(\\[lg]e|[<>])(?![A-Za-z])\s*{_END}$")
_RANKED = re.compile(r"\w+(?:\s*\\to(?![A-Za-z])\s*\w+){2,}")  # `A \to C \to B`
_FOR_EACH = re.compile(
    r"(.+?)\s+for\s+([a-z])\s*\\in\s*\\\{([^{}]+)\\\}"
)  # `(t,t) for t \in \{0,1\}`
_ORIGIN = re.compile(rf"^[{TEXT_OPEN}\s]*(?:at\s+)?the\s+origin[{TEXT_CLOSE}\s]*$", re.I)
_YEAR = re.compile(r"^(?:AD|CE)\s+(\d{1,4})$|^(\d{1,4})\s+(?:AD|CE)$")
_ACCENTED_TUPLE = re.compile(r"^\\(?:vec|overrightarrow|mathbf)\s*\{\s*(\([^()]+\))\s*\}$")
_BRACED_ARGUMENTS = re.compile(r"(?<![A-Za-z])\\?(max|min|gcd|lcm)\s*\\?\{([^{}]*,[^{}]*?)\\?\}")
_FACTORIAL_WORD = re.compile(r"(\d{1,4}|[a-z])\s+factorial", re.I)
_MULTINOMIAL = re.compile(r"\\binom\s*\{\s*(\d{1,3})\s*\}\s*\{\s*(\d{1,3}(?:\s*,\s*\d{1,3})+)\s*\}")
_MATLAB = re.compile(
    r"\[([^\[\];]*(?:;[^\[\];]*)+)\]|\[((?:-?[\d./]+\s+)+-?[\d./]+)\]"
)  # `[1 2; 3 4]`
_LIMIT = re.compile(  # `a_n \to 2 as n \to \infty`, `a_n converges to 2`
    r"(?P<name>(?:\\lim\s*(?:_\s*\{[^{}]*\})?\s*)?[A-Za-z]\w*(?:_\{?\w\}?)?(?:\([a-z]\))?)\s*(?:\\to(?![A-Za-z])|(?:converges|tends|goes)\s+to)\s*"
    r"(?P<value>[^,;]+?)(?:\s*(?:,|as|when)\s*[a-z]\s*\\to.*)?"
)
_LOG_BASE = re.compile(r"(?<![A-Za-z\\])log(2|10)(?=\s*\()")
_CUBE_ROOT = re.compile(r"(?<![A-Za-z\\])cbrt\s*\(([^()]{1,60})\)")
_ASCII_ROOT = re.compile(r"(?<![A-Za-z\\])root\s?\(?(\d)\)?\s?\(([^()]{1,60})\)")  # `root(3)(x)`
_FLOOR_DIVISION = re.compile(r"([a-z]|\d+|\([^()]{1,40}\))\s*//\s*([a-z]|\d+)")
_DIAGONAL = re.compile(r"\s*\\?(?:mathrm\{)?diag\}?\s*\(([^()]{1,200})\)\s*")
_IDENTITY = re.compile(r"(?:the\s+)?(?:(\d)\s*(?:\\times|x|by)\s*\1\s+)?identity\s+matrix", re.I)
_ARTICLE = re.compile(r"the\s+(?=\d+$)")
_FOREIGN_TANGENT = re.compile(r"(?<![A-Za-z\\])(arc)?(c)?tg(?=[\s({])")
_MAP = re.compile(  # `f: x \to x^2`
    r"(?:([A-Za-z])\s*:\s*)?([a-z])\s*\\to(?![A-Za-z])\s*(?=.*(?<![A-Za-z\\])\2(?![A-Za-z]))(.+)"
)
_THOUSANDS_OF_MONEY = re.compile(r"(?<=[＄€£])\s?(\d{1,3})[kK]$")
_MILLIONS_OF_MONEY = re.compile(r"(?<=[＄€£])\s?(\d{1,4}(?:\.\d+)?)\s?(?:M|m|mn)$")
_INCHES = re.compile(r"^(\d+(?:\.\d+)?)\s*(?:''|\")$")
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*\^)")
_OUTWARD = re.compile(r"([\[\]])([^\[\]]{1,60})([\[\]])")
_FONT = r"\\(?:mathbf|boldsymbol|bm|hat|vec|overrightarrow|widehat)"
_UNIT_VECTOR = re.compile(
    rf"{_FONT}\s*(?:\{{\s*)?(?:{_FONT}\s*(?:\{{\s*)?)?\\?([ijk])(?:math)?(?![A-Za-z])(?:\s*\}}){{0,2}}"
    r"|(?<![A-Za-z\\{])([ijk])(?![A-Za-z])"
)
_ANY_COEFFICIENT = re.compile(r"[^,;=<>]*")
_COEFFICIENT = re.compile(r"[-+]?\s*(?:[\d.,/{}()\s]|\\[dt]?frac|\\sqrt|\\pi|\\left|\\right)*")

_SCALED_SUM = re.compile(  # `\\frac12(\\mathbf{i}+\\mathbf{j})`
    r"(-?\s*(?:\\[dt]?frac\s*(?:\d\s*\d|\{[^{}]*\}\s*\{[^{}]*\})|\d[\d./]*))\s*(?:\\left)?\(([^()]*)\)"
)


def expand_notation(text: str) -> str:
    """Return a normalised answer with the notations of this module rewritten."""
    text = spoken_math(text)
    text = _ARTICLE.sub("", _CHOICES.sub(r"\1", _ORDINAL.sub("", text)))
    if share := _OUT_OF.fullmatch(text):
        top, low = (t if t.isdigit() else read_number_words(t) for t in share.groups())
        if top and low:
            return rf"\frac{{{top}}}{{{low}}}"
    if r"\to" in text and (ranked := _RANKED.fullmatch(text)):
        return ranked[0].replace(r"\to", ",")
    if r"\to" in text and (mapped := _MAP.fullmatch(text)):
        text = f"{mapped[1] or 'f'}({mapped[2]})={mapped[3]}"
    if limit := _LIMIT.fullmatch(text) if r"\to" in text or " to " in text else None:
        return f"{limit['name']}={limit['value']}"
    words = strip_marks(text).strip()
    if permuted := _PERMUTATIONS_OF.fullmatch(words):
        return _permuted(permuted) or text
    if _IDENTITY_FUNCTION.fullmatch(words):
        return "f(x)=x"
    if _STANDARD_NORMAL.fullmatch(words):
        return "N(0,1)"
    if divided := _REMAINDER_OF.fullmatch(text):
        return f"({divided[1]}; {divided[2]})"
    if european := _EUROPEAN.fullmatch(text):
        return f"{european[1].replace('.', '')}.{european[2]}"
    if parts := _PARTS.fullmatch(text):
        return f"({'; '.join(p for p in parts.groups() if p)})"
    text = _BARE_SIGN.sub(lambda m: _half_line(m[1], m[2]), _BOUND_WORDS.sub(_bound, text))
    if r"\in" in text and (each := _FOR_EACH.fullmatch(strip_marks(text).strip())):
        letter = rf"(?<![A-Za-z\\]){each[2]}(?![A-Za-z])"
        text = ", ".join(re.sub(letter, f"({v.strip()})", each[1]) for v in each[3].split(","))
    text = _ACCENTED_TUPLE.sub(r"\1", _YEAR.sub(r"\1\2", _ORIGIN.sub("(0,0)", text)))
    text = _BRACED_ARGUMENTS.sub(r"\1(\2)", text)
    text = _ORDER_TERM.sub(r"+\\ldots", _UNION_OVER.sub("", text))
    if ";" in text:
        text = _FOR_WHOLE_NUMBERS.sub("", _WITHIN.sub("; ", text))
    text = _INFINITE_END.sub(r"\1\\infty", text)
    text = _TRANSPOSED_TUPLE.sub(r"\1", text)
    text = _FACTORIAL_WORD.sub(r"\1!", text)
    if "[" in text and (table := _MATLAB.fullmatch(text)):
        return _matrix(table[1] or table[2])
    if "binom" in text:
        text = _MULTINOMIAL.sub(_multinomial, text)
    text = _CHOOSE.sub(r"\\binom{\1}{\2}", _CUBE_ROOT.sub(r"\\sqrt[3]{\1}", text))
    text = _SCIENTIFIC_QUOTIENT.sub(r"\1(\2)", text)
    text = _ASCII_ROOT.sub(r"\\sqrt[\1]{\2}", text)
    text = _LOG_BASE.sub(r"\\log_{\1}", text)
    text = _FLOOR_DIVISION.sub(r"\\lfloor \1/\2 \\rfloor", text)
    if identity := _IDENTITY.fullmatch(strip_marks(text).strip()):
        return f"I_{identity[1]}" if identity[1] else "I"
    if diagonal := _DIAGONAL.fullmatch(strip_marks(text, "")):
        return _diagonal(split_arguments(diagonal[1]))
    text = _FOREIGN_TANGENT.sub(lambda m: f"{m[1] or ''}{'cot' if m[2] else 'tan'}", text)
    if "\\degree" in text:
        text = _MINUTES.sub(
            lambda m: rf"({m[1]}+\frac{{{m[2]}}}{{60}}+\frac{{{m[3] or 0}}}{{3600}})\degree", text
        )
    text = _ROOT.sub(lambda m: rf"\sqrt{{{m[1] or m[2]}}}", text)
    if re.search("[ACP]", text):
        text = _PERMUTATIONS.sub(lambda m: _arranged(m[1] or m[3], m[2] or m[4]) or m[0], text)
        text = _CHOSEN.sub(_chosen, _COMBINATIONS.sub(_binomial, text))
        text = _LETTERS_CHOSEN.sub(r"\\binom{\1}{\2}", _NAMED_COUNT.sub(_named_count, text))
    if half := _HALF_LINE.fullmatch(text):
        return half[1] + _HALF_LINES[half[2] or half[3]]
    if named := _NAMED_BASE.fullmatch(strip_marks(text).strip()):
        return f"{named[1]}_{{{_NAMED_BASES[named[2].lower()]}}}"
    if based := _BASE.fullmatch(strip_marks(text).strip()):
        base = NUMBER_WORDS.get(based[2].lower(), based[2])
        return f"{based[1]}_{{{base}}}"
    if text.startswith("]") or text.endswith("["):
        return _OUTWARD.sub(_open_bracket, text)
    counted = None if text.isascii() else _FOREIGN_NOUN.fullmatch(text)
    if counted and not counted[2].isascii():
        return counted[1]
    text = _PROGRAM_BASE.sub(lambda m: str(int(m[0], 0)), text)
    text = _SQUARE_ROOT.sub(r"\\sqrt{\1}", text)
    text = _HEXADECIMAL.sub(lambda m: str(int(m[1], 16)), text)
    for symbol, unit in _UNIT_SYMBOLS:
        text = symbol.sub(unit, text)
    text = _CURRENCY_CODE.sub(lambda m: _CURRENCY_CODES[m[1]], text)
    text = _THOUSANDS_OF_MONEY.sub(r"\g<1>000", text)
    text = _MILLIONS_OF_MONEY.sub(r"\1 million", text)
    text = _INCHES.sub(rf"\1 {TEXT_OPEN}in{TEXT_CLOSE}", text)
    text = _TIMES_TEN.sub(r"\\times ", text)
    transposed = _TRANSPOSED.fullmatch(text)
    if transposed and _is_vector(transposed[1]):
        return transposed[1]
    m = _REMAINDER.fullmatch(text)
    if m and all(len(g or "") <= MAX_POWER_DIGITS for g in m.groups()) and int(m[3]):
        return str(pow(int(m[1]), int(m[2] or 1), int(m[3])))
    return text


def _permuted(m: re.Match[str]) -> str:
    """Return the list of the permutations of a tuple; "" for a long one."""
    items = split_arguments((m["t"] or m["t2"] or m["t3"])[1:-1])
    if not 2 <= len(items) <= _MAX_PERMUTED:
        return ""
    turned = [tuple(items[i:] + items[:i]) for i in range(len(items))]
    found = turned if m["c"] or m["c2"] else permutations(items)
    return ", ".join(f"({', '.join(t)})" for t in dict.fromkeys(found))


def _diagonal(entries: list[str]) -> str:
    rows = [
        "&".join(e if i == j else "0" for j in range(len(entries))) for i, e in enumerate(entries)
    ]
    body = r"\\".join(rows)
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


def _open_bracket(m: re.Match[str]) -> str:
    """Return `(1,2)` for `]1,2[`: a bracket that faces outward excludes its end."""
    return f"{'(' if m[1] == ']' else '['}{m[2]}{')' if m[3] == '[' else ']'}"


def _binomial(m: re.Match[str]) -> str:
    subscript_first, superscript_first = (m[1] or m[7], m[2] or m[8]), (m[3] or m[6], m[4] or m[5])
    n, k = subscript_first if subscript_first[0] else superscript_first
    known = n.isdigit() and k.isdigit()
    if not known and n.isdigit():
        n, k = k, n  # C^2_n: the letter is the larger
    return rf"\binom{{{n}}}{{{k}}}" if not known or int(n) >= int(k) else m[0]


def _bound(m: re.Match[str]) -> str:
    """Return `(-\\infty,3]` for `at most 3`."""
    ends = [m[i] for i in (2, 3, 5, 6) if m[i]]
    if m["how"]:
        return (
            f"[{ends[0]},{ends[1]}]"
            if m["how"].lower() == "inclusive"
            else f"({ends[0]},{ends[1]})"
        )
    words = (m["sign"] or m["more"]).lower()
    low = re.search(
        r"least|no (?:less|fewer)|not less|^(?:strictly )?(?:more|greater)|larger", words
    )
    strict = words.endswith("than") and not words.startswith(("no ", "not "))
    return _half_line((">" if low else "<") if strict else (r"\ge" if low else r"\le"), ends[0])


def _half_line(sign: str, end: str) -> str:
    """Return `[5,\\infty)` for `\\ge 5`, a bound without an unknown."""
    if sign in (r"\ge", ">"):
        return f"{'[' if sign != '>' else '('}{end},\\infty)"
    return f"(-\\infty,{end}{']' if sign != '<' else ')'}"


def _named_count(m: re.Match[str]) -> str:
    if m["kind"] in ("nPr", "perm"):
        return _arranged(m["n"], m["k"]) or m[0]
    return rf"\binom{{{m['n']}}}{{{m['k']}}}"


def _arranged(n: str, k: str) -> str:
    """Return `\\frac{7!}{4!}` for the arrangements of 3 of 7 things; "" for letters."""
    if not (n.isdigit() and k.isdigit() and int(n) >= int(k)):
        return ""
    return rf"\frac{{{n}!}}{{{int(n) - int(k)}!}}"


def _multinomial(m: re.Match[str]) -> str:
    parts = [p.strip() for p in m[2].split(",")]
    return (
        rf"\frac{{{m[1]}!}}{{{' '.join(f'{p}!' for p in parts)}}}"
        if sum(map(int, parts)) == int(m[1])
        else m[0]
    )


def _matrix(table: str) -> str:
    """Return `[1 2; 3 4]`, as MATLAB writes it, as a matrix."""
    rows = [re.split(r"\s*,\s*|\s+", row.strip()) for row in table.split(";")]
    body = r"\\".join("&".join(row) for row in rows if row != [""])
    return rf"\begin{{pmatrix}}{body}\end{{pmatrix}}"


def _chosen(m: re.Match[str]) -> str:
    n, k = int(m[1]), int(m[3])
    if n < k:
        return m[0]
    return rf"\binom{{{n}}}{{{k}}}" if m[2] == "C" else rf"\frac{{{n}!}}{{{n - k}!}}"


def _is_vector(text: str) -> bool:
    """Return whether a matrix has one row or one column: other matrices differ when transposed."""
    if r"\begin" not in text:
        return text[0] in "([" and not re.search(r"[(\[]", text[1:])
    return "&" not in text or r"\\" not in text


def unit_vectors_to_tuple(text: str) -> str:
    """Return `(2,-3)` for `2\\mathbf{i}-3\\mathbf{j}`, a sum of two or three unit vectors."""
    name, equals, total = text.rpartition("=")
    if scaled := _SCALED_SUM.fullmatch(total.strip(" $.")):
        inner = unit_vectors_to_tuple(scaled[2])
        return text if inner == scaled[2] else f"{name}{equals}{scaled[1]}{inner}"
    found = list(_UNIT_VECTOR.finditer(total))
    if not 2 <= len(found) <= 3:
        return text
    components: dict[str, str] = {}
    end = 0
    for m in found:
        part = (
            total[end : m.start()]
            .strip(" $*")
            .removesuffix("\\,")
            .strip()
            .removesuffix(r"\cdot")
            .strip()
        )
        end = m.end()
        signed = part.startswith(("+", "-"))
        known = _COEFFICIENT if m[2] else _ANY_COEFFICIENT  # `2x \hat{i}`
        if not known.fullmatch(part) or (components and not signed):
            return text
        components[m[1] or m[2]] = part + "1" if part in ("", "+", "-") else part
    if total[end:].strip(" $.}") or len(components) != len(found):
        return text
    letters = "ijk" if "k" in components else "ij"
    return f"{name}{equals}({','.join(components.get(c, '0') for c in letters)})"
