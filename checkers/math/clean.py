"""Answer text → the one spelling the reader knows. Text in, text out; nothing is evaluated.

Text that was set as words (`\\text{…}`) comes out between the marks TEXT_OPEN and
TEXT_CLOSE, so that a unit can be told from a variable; an escaped dollar sign is `＄`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from checkers.math import tables
from checkers.math.notation import plain_notation, unit_vectors

TEXT_OPEN, TEXT_CLOSE = "\ue000", "\ue001"
_ROW = "\ue004"
LONGEST = 20_000  # characters; longer answers are compared as text only

_TEXT_COMMANDS = (
    "text|textbf|textit|textrm|textsf|texttt|textnormal|textup|mbox|hbox|emph|textsc|underline"
)
_FONT_COMMANDS = "mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|mathcal|mathscr|mathfrak|pmb"
_TEXT = re.compile(rf"\\(?:{_TEXT_COMMANDS})\s*\{{([^{{}}]*)\}}")
_FONT = re.compile(rf"\\(?:{_FONT_COMMANDS}|operatorname\*?)\s*\{{([^{{}}]*)\}}")
_FONT_LETTER = re.compile(rf"\\(?:{_FONT_COMMANDS})\s+([A-Za-z0-9])")
_NUMBER_SET = re.compile(r"\\(?:mathbb|mathbf|Bbb)\s*\{?\s*([RZNQC])\s*\}?")
_SIZES = re.compile(
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|noindent"
    r"|hfill|phantom\{[^{}]*\}|vphantom\{[^{}]*\}|hphantom\{[^{}]*\}|bf|rm|it|sf|centering|strut"
    r"|protect|allowbreak|nonumber|notag)(?![A-Za-z])"
)
_THIN = re.compile(
    r"\\[!,;:> ]|\\q?quad|\\(?:thinspace|enspace|medspace|hspace\{[^{}]*\})(?![A-Za-z])|~"
)
_THOUSANDS = re.compile(
    r"(?<=\d)\s*(?:\{\s*,\s*\}|,\s*\\!|\\,|\\!,|,\\,|\\;|\\!)\s*(?=\d{3}(?!\d))"
)
_RENAMED: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern + r"(?![A-Za-z])"), new)
    for pattern, new in (
        (r"\\[dtc]frac", r"\\frac"),
        (r"\\[dt]binom", r"\\binom"),
        (r"\\lt", "<"),
        (r"\\gt", ">"),
        (r"\\(?:leqslant|leqq|leq)", r"\\le"),
        (r"\\(?:geqslant|geqq|geq)", r"\\ge"),
        (r"\\neq", r"\\ne"),
        (r"\\(?:simeq|sim|cong|approxeq|doteq)", r"\\approx"),
        (r"\\(?:equiv|triangleq)", "="),
        (r"\\(?:lbrace)", r"\\{"),
        (r"\\(?:rbrace)", r"\\}"),
        (r"\\(?:lbrack)", "["),
        (r"\\(?:rbrack)", "]"),
        (r"\\(?:lparen)", "("),
        (r"\\(?:rparen)", ")"),
        (r"\\(?:lvert|rvert|vert|mid)", "|"),
        (r"\\(?:varnothing|empty)", r"\\emptyset"),
        (r"\\(?:infin)", r"\\infty"),
        (r"\\(?:colon)", ":"),
        (r"\\(?:div)", "/"),
        (r"\\(?:pounds|textsterling)", "£"),
        (r"\\(?:euro|texteuro)", "€"),
        (r"\\(?:vee)", r"\\lor"),
        (r"\\(?:wedge)", r"\\land"),
        (r"\\(?:bigcup)", r"\\cup"),
        (r"\\(?:Reals|R|reals)", r"\\mathbb{R}"),
        (r"\\(?:backslash)", r"\\setminus"),
        (r"\\(?:imath)", "i"),
        (r"\\(?:dots|ldots|cdots|dotsc|dotsb)", r"\\ldots"),
        (r"\\(?:land)", " and "),
        (r"\\(?:lor)", " or "),
    )
)
_DEGREE = re.compile(
    r"\^\s*\{?\s*\\?circ\s*\}?(?![A-Za-z])|\^\s*\{?\s*o\s*\}(?![A-Za-z])|\^?\s*\\degrees?(?![A-Za-z])|\^\s*\{?\s*\\degree\s*\}?"
)
_DEGREE_WORD = re.compile(
    rf"(?<![A-Za-z\\]){TEXT_OPEN}?\s*(?:degrees?|degs?)(?![A-Za-z])\.?\s*{TEXT_CLOSE}?(?!\s*(?:{TEXT_OPEN})?\s*(?:celsius|fahrenheit|[CF]\b))",
    re.I,
)
_PERCENT = re.compile(
    rf"\\%|{TEXT_OPEN}?\s*(?<![A-Za-z])(?:per\s?cent(?:age)?(?:\s+points?)?|pct)(?![A-Za-z])\.?\s*{TEXT_CLOSE}?",
    re.I,
)
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z(){}\[\]%$!,;])")
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,/]) ?\b\d{1,3}(?: \d{3})+(?![\d/])")
_MATH_MARKS = re.compile(r"\\[()\[\]]|\$\$?")
_LONE_DOLLAR = re.compile(r"\$(?=\s*-?[\d.])")
_SPACES = re.compile(r"\s+")
_SUPER = re.compile("[" + "".join(tables.SUPERSCRIPT) + "]+")
_SUB = re.compile("[" + "".join(tables.SUBSCRIPT) + "]+")
_COLOR = re.compile(r"\\(?:color|textcolor)\s*\{[^{}]*\}")


def spell_unicode(text: str) -> str:
    """Typeset characters (½, ², √, ≤, π, full width) in LaTeX."""
    if text.isascii():
        return text
    text = "".join(_vulgar(text))
    text = _SUPER.sub(lambda m: "^{" + "".join(tables.SUPERSCRIPT[c] for c in m[0]) + "}", text)
    text = _SUB.sub(lambda m: "_{" + "".join(tables.SUBSCRIPT[c] for c in m[0]) + "}", text)
    text = "".join(
        tables.UNICODE.get(c) or (f"\\{tables.GREEK[c]} " if c in tables.GREEK else c)
        if c not in tables.UNICODE or tables.UNICODE[c]
        else ""
        for c in text
    )
    kept = "".join(c if c in tables.CURRENCY else unicodedata.normalize("NFKC", c) for c in text)
    return re.sub(r"\\sqrt (\d+|[A-Za-z]|\\[A-Za-z]+)", r"\\sqrt{\1}", kept).replace(
        r"\sqrt (", r"\sqrt("
    )


def _vulgar(text: str) -> list[str]:
    return [_frac(*tables.VULGAR[c]) if c in tables.VULGAR else c for c in text]


def _frac(top: int, low: int) -> str:
    return rf"\frac{{{top}}}{{{low}}}"


def unwrap_text(text: str) -> str:
    """`\\text{…}` between marks; fonts removed; nested ones too (8 levels)."""
    for _ in range(8):
        before = text
        text = _FONT.sub(_unfont, text)
        text = _TEXT.sub(_mark, text)
        if text == before:
            break
    return _FONT_LETTER.sub(r" \1", text)


def _unfont(match: re.Match[str]) -> str:
    inner = match[1].strip()
    if "operatorname" in match[0] and inner in tables.FUNCTIONS:
        return f"\\{inner} "
    if len(inner) > 1 and inner.isalpha() and inner not in tables.FUNCTIONS:
        return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"
    return f" {match[1]} "


def _mark(match: re.Match[str]) -> str:
    inner = match[1].replace(TEXT_OPEN, "").replace(TEXT_CLOSE, "")
    if not inner.strip():
        return " "
    bare = inner.strip(" ,.;")
    if re.fullmatch(r"[-\d.,\s]*\\degree", bare):
        return f" {bare} "
    if not re.search(r"[A-Za-z]{2}|^[A-Za-z](?:\^-?\d)?(?: [A-Za-z](?:\^-?\d)?)*$", bare):
        return f" {bare} "  # \text{240}, \text{-2}, \text{(B)}: not words
    counted = re.fullmatch(r"(-?[\d.,/]*\d)\s+([^\d]+)", bare)
    if counted:
        return f" {counted[1]} {TEXT_OPEN}{counted[2]}{TEXT_CLOSE}"
    if bare.lower() in ("and", "or", "to"):
        return f" {bare.lower()} "
    return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"


@lru_cache(maxsize=4096)
def clean(text: str) -> str:
    """The reader's spelling of an answer (see the module)."""
    text = unit_vectors(spell_unicode(_SPACES.sub(" ", text.strip())))
    if "\\begin" in text:
        text = _SYSTEM.sub(_system, text)
    if text.count("=") > 1:
        text = _QUAD.sub(", ", text)
    if "\\begin" not in text:
        text = _DOUBLED.sub(lambda _: "\\", text)
        text = re.sub(r"\\\\(?:\s|$)", " ", text)
    else:
        text = text.replace(r"\\", _ROW)
    text = text.replace(r"\$", "＄")
    text = _NUMBER_SET.sub(r"\\mathbb{\1}", text)
    text = _COLOR.sub("", text)
    text = _dollars(text)
    text = _THOUSANDS.sub(",", text)
    text = _UNIT_LETTER.sub(r"\1\\text{\2}", text)
    text = _SIZES.sub("", text)
    text = text.replace(r"\{", "\ue002").replace(r"\}", "\ue003")
    text = unwrap_text(_UNIT_FONT.sub(_unit_font, text))
    text = _UNIT_FRACTION.sub(rf"{TEXT_OPEN}\1/\2{TEXT_CLOSE}", text)
    text = _SPACES.sub(" ", _THIN.sub(" ", text))
    for pattern, new in _RENAMED:
        text = pattern.sub(new, text)
    text = text.replace("\ue002", r"\{").replace("\ue003", r"\}")
    text = _DEGREE.sub(lambda _: r"\degree ", text)
    text = _DEGREE_WORD.sub(lambda _: r"\degree ", text)
    text = _PERCENT.sub("%", text)
    text = _SPACED_THOUSANDS.sub(lambda m: m[0].replace(" ", ","), text)
    text = recurring(_CHOOSE.sub(r"\\binom{\1}{\2}", text))
    text = _OVER.sub(r"\\frac{\1}{\2}", text) if r"\over" in text else text
    text = _MODULUS.sub("", text)
    if "_" in text:
        text = _BASED.sub(r"\1", _BASE_WORD.sub(_base_word, text))
    text = text.replace(_ROW, r"\\")
    text = _BOLD.sub(r"\1", text)
    text = re.sub(r"\*\*(?=\s*[\d({A-Za-z+-])(?<=[\w)}\]]\*\*)", "^", text).replace("**", "")
    text = text.replace("!=", r"\ne ").replace("<=", r"\le ").replace(">=", r"\ge ")
    text = text.replace("==", "=").replace("&lt;", "<").replace("&gt;", ">")
    return plain_notation(strip_ends(_SPACES.sub(" ", text)))


_BOLD = re.compile(r"(?<![\w)}\]*])\*\*(?=[^\s*])([^*]{1,200})(?<=\S)\*\*")
_CHOOSE = re.compile(r"\{\s*([^{}]{1,40}?)\s*\\choose\s*([^{}]{1,40}?)\s*\}")
_OVER = re.compile(r"\{\s*([^{}]{1,40}?)\s*\\over(?![A-Za-z])\s*([^{}]{1,40}?)\s*\}")
_MODULUS = re.compile(  # of a congruence; `5 \\bmod 3` is a calculation
    rf"\s?(?:\\p?mod\s?\{{?\s?\d+\s?\}}?"
    rf"|\(\s?[{TEXT_OPEN}]?\s?\\?(?:mod|bmod|modulo)\s?[{TEXT_CLOSE}]?\s?\{{?\d+\}}?\s?[{TEXT_CLOSE}]?\))$"
)
_ELLIPSIS = re.compile(
    r"(?<!\d)(\d{0,30})\.(\d{0,12}?)(?:(\d)\3{2,}|(\d{2,8})\4{1,})\s*(?:\.{3}|\\ldots)"
)
_SYSTEM = re.compile(
    r"(?:\\left\s*\\\{\s*)?\\begin\s*\{(?P<kind>cases|aligned|align\*?|gathered|split|array)\}"
    r"(?:\s*\{[lcr| ]+\})?(?P<body>.*?)\\end\s*\{(?P=kind)\}(?:\s*\\right\s*\.)?",
    re.S,
)
_UNIT_LETTER = re.compile(  # `5~\mathrm{N}`; a variable has no space before it
    r"((?<=[\d}])\s?(?:~|\\[ ,;:]|\\(?:quad|thinspace)(?![A-Za-z]))\s?)"
    r"\\mathrm\s?\{\s?([A-DF-HJ-WZacf-hj-wz])\s?\}"
)
_UNIT_FONT = re.compile(  # `\mathrm{m\,s^{-1}}`
    r"\\(?:mathrm|text)\s?\{((?:[A-Za-z/.\s~]|\\[ ,;]|\\cdot(?![A-Za-z])|\^\{?-?\d\}?){0,60}"
    r"\^(?:[^{}]|\{-?\d\}){0,60})\}"
)
_BASED = re.compile(r"\(\s*(\d[\dA-Z]*)\s*\)\s*(?=_\s*\{?\s*\d)")
_BASE_WORD = re.compile(
    rf"(?<=[\dA-Z])(\s?\)?)\s?_\s?\{{\s?{TEXT_OPEN}?\s?([a-z]+)\s?{TEXT_CLOSE}?\s?\}}", re.I
)
_QUAD = re.compile(r"(?<![,;\s])\s*\\q?quad")
_UNIT_FRACTION = re.compile(
    rf"\\[dt]?frac\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*\}}"
    rf"\s*\{{\s*{TEXT_OPEN}([^{TEXT_CLOSE}]*){TEXT_CLOSE}\s*\}}"
)
_RECURRING = re.compile(
    r"(?<!\d)(\d{0,30})\.(\d{0,30})(?:\\(?:overline|bar)\s*\{\s*(\d{1,30})\s*\}"
    r"|\\dot\s*\{?(\d)\}?(?:(\d{0,28})\\dot\s*\{?(\d)\}?)?)"
)


def _unit_font(m: re.Match[str]) -> str:
    inner = re.sub(r"\\[ ,;]|\\cdot|~", " ", m[1])
    return rf"\text{{{re.sub(r'[{}]', '', inner)}}}"


def _base_word(m: re.Match[str]) -> str:
    """`_{\\text{six}}` is `_{6}`."""
    value = tables.NUMBER_WORDS.get(m[2].lower())
    return m[0] if value is None else f"{m[1]}_{{{value}}}"


def _system(m: re.Match[str]) -> str:
    """The rows of a system of equations as a list; an array without relations stays."""
    if m["kind"] == "array" and not re.search(r"[=<>]|\\[lg]eq?(?![A-Za-z])", m["body"]):
        return m[0]
    rows = [r.replace("&", " ").strip(" ,;.") for r in re.split(r"\\\\(?:\[[^\]]*\])?", m["body"])]
    return ", ".join(r for r in rows if r)


def recurring(text: str) -> str:
    """`0.1\\overline{6}`, `0.\\dot{3}` and `0.333…` as fractions."""

    def fraction(m: re.Match[str]) -> str:
        period = m[3] or (m[4] + (m[5] or "") + (m[6] or ""))
        low = 10 ** len(m[2]) * (10 ** len(period) - 1)
        top = int(m[1] + m[2] + period) - int(m[1] + m[2] or 0)
        return f"({_frac(top, low)})"

    text = _ELLIPSIS.sub(lambda m: rf"{m[1]}.{m[2]}\overline{{{m[3] or m[4]}}}", text)
    return _RECURRING.sub(fraction, text)


def _dollars(text: str) -> str:
    """Removes math marks; a dollar sign that opens nothing is money."""
    if text.count("$") % 2:
        text = _LONE_DOLLAR.sub("＄", text, count=1)
    if text.startswith("$ ＄"):
        text = text[2:]
    return _SPACES.sub(" ", _MATH_MARKS.sub(" ", text))


_IN_A_SET = re.compile(r",|^\{\s*[A-Za-z]\s*(?:\||:|\\in(?![A-Za-z]))")  # a list or a condition
LAYERS = 20  # of braces and quotes around an answer
_LEADING_SIGNS = re.compile(
    r"^(?:(?:=|\\(?:approx|therefore|implies|(?:Long)?[Rr]ightarrow)(?![A-Za-z]))\s*)+"
)


def strip_ends(text: str) -> str:
    """Without closing punctuation, stray backslashes and braces around the whole."""
    for _ in range(LAYERS):
        before = text
        text = text.rstrip(" .,;:\\") if not text.endswith((r"\{", r"\}")) else text
        text = text.strip().lstrip(",;: ").strip()
        text = _LEADING_SIGNS.sub("", text.strip("`"))
        if (
            len(text) > 1
            and text[0] == "{"
            and matching(text, 0) == len(text) - 1
            and not _IN_A_SET.search(text)
        ):
            text = text[1:-1]
        if (
            len(text) > 2
            and text[0] == text[-1]
            and text[0] in "\"`'"
            and text[0] not in text[1:-1]
        ):
            text = text[1:-1]
        if text == before:
            break
    return text


def matching(text: str, start: int) -> int:
    """Index of the brace that closes the one at `start`; -1 when none does within LONGEST."""
    depth = 0
    i = start
    while i < min(len(text), start + LONGEST):
        c = text[i]
        if c == "\\":
            i += 2
            continue
        if c == "{":
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return -1


def words(text: str) -> str:
    """Plain lower-case words of a text answer: no marks, quotes, brackets or punctuation."""
    text = text.replace(TEXT_OPEN, " ").replace(TEXT_CLOSE, " ").lower()
    text = re.sub(r"[\\\"“”`*]", "", text)
    text = _SPACES.sub(" ", text).strip(" .,;:!?()[]'")
    for article in tables.LEADING_ARTICLES:
        if text.startswith(article) and len(text) > len(article) + 1:
            text = text[len(article) :]
    return tables.MEANING.get(text, text)
