"""Rewrite an answer's text into the one spelling that the reader knows.

Words that LaTeX sets as text (`\\text{…}`) come out between TEXT_OPEN and TEXT_CLOSE, and an
escaped dollar sign as `＄`. Nothing is evaluated.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from gradebox.checkers.math.normalise import tables
from gradebox.checkers.math.normalise.chinese import translate
from gradebox.checkers.math.normalise.notation import expand_notation, unit_vectors_to_tuple
from gradebox.checkers.math.normalise.number_words import NUMBER_WORDS
from gradebox.checkers.math.normalise.programs import program_output
from gradebox.checkers.math.normalise.systems import TEXT, TEXT_COMMANDS, rows_to_lists
from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.normalise.upright_units import mark_unit_fraction, mark_units

MAX_CHARS = 20_000  # longer answers are compared as text only
MAX_LAYERS = 20  # of braces and quotes around an answer
MAX_NESTED_FONTS = 8
# placeholders while braces and text commands are rewritten
_ROW_END = "\ue004"  # of `\\` in a matrix
_LEFT_BRACE, _RIGHT_BRACE = "\ue002", "\ue003"  # of `\{` and `\}`

_FONT_COMMANDS = "mathrm|mathbf|mathit|mathsf|mathtt|boldsymbol|bm|mathcal|mathscr|mathfrak|pmb"
# `\text{cm}`, `\mathrm{cm}`, `\mathbf x`, `\mathbb{R}`
_FONT = re.compile(rf"\\(?:{_FONT_COMMANDS}|operatorname\*?)\s*\{{([^{{}}]*)\}}")
_FONT_LETTER = re.compile(rf"\\(?:{_FONT_COMMANDS})\s+([A-Za-z0-9])")
_SPACE_BEFORE_INDEX = re.compile(r"(?<=[A-Za-z]) (?=[_'])")  # of `\mathbf{u}_1`
_FONT_COMMAND = re.compile(rf"\\(?:{_FONT_COMMANDS}|{TEXT_COMMANDS})(?=\s*\{{)")  # around braces
_LETTER_DIGIT = re.compile(
    rf"(?<=\d){TEXT_OPEN}([A-F]){TEXT_CLOSE}(?=\d*\s*_)"
)  # `3\text{E}7_{16}`
_BASED_WORD = re.compile(rf"{TEXT_OPEN}([0-9A-F]+){TEXT_CLOSE}(?=\s*_)")
_NUMBER_SET = re.compile(
    r"\\(?:mathbb|mathbf|Bbb)\s*\{?\s*([RZNQC])\s*\}?|(?<=\\in)\s*([RZNQC])(?![A-Za-z(_])"
)
_BARE_REALS = re.compile(r"^(?:\\mathbb\{R\}|R)\s*\\\s*(?=\\?[\[({])")  # `R \ {2}`
_SIZES = re.compile(  # commands without a meaning: `\left`, `\displaystyle`
    r"\\(?:left|right|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits|noindent"
    r"|hfill|phantom\{[^{}]*\}|vphantom\{[^{}]*\}|hphantom\{[^{}]*\}|bf|rm|it|sf|centering|strut"
    r"|Large|LARGE|large|huge|Huge|small|normalsize|tiny|protect|allowbreak|nonumber"
    r"|notag)(?![A-Za-z])"
)
_THIN = re.compile(  # white space: `\,`, `\quad`, `~`
    r"\\[!,;:> ]|\\q?quad|\\(?:thinspace|enspace|medspace|hspace\{[^{}]*\})(?![A-Za-z])|~"
)
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:\{,\}\d{3})+(?!\d)")  # `12{,}345{,}678`
_THOUSANDS = re.compile(  # `1{,}000`, `1\,000`
    r"(?<=\d)\s*(?:\{\s*,\s*\}|,\s*\\!|\\,|\\!,|,\\,|\\;|\\!)\s*(?=\d{3}(?!\d))"
)
_DECIMAL_COMMA = re.compile(r"(?<=\d)\{,\}(?=\d{1,2}(?!\d)|\d{4})")  # `2{,}5`
_HTML = re.compile(r"</?(?:b|i|em|strong|u|span|p|br|div|code)(?:\s[^<>]{0,100})?/?>", re.I)
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_RENAMED = {  # command → its replacement
    name: new
    for new, names in (
        (r"\frac", "dfrac tfrac cfrac nicefrac sfrac"), (r"\binom", "dbinom tbinom"),
        (r"\sqrt", "surd"),
        ("<", "lt"), (">", "gt"), (r"\le", "leqslant leqq leq"), (r"\ge", "geqslant geqq geq"),
        (r"\ne", "neq"), (r"\approx", "simeq sim cong approxeq doteq"), ("=", "equiv triangleq"),
        (r"\{", "lbrace"), (r"\}", "rbrace"), ("[", "lbrack"), ("]", "rbrack"), ("(", "lparen"),
        (")", "rparen"), ("|", "lvert rvert vert mid"), (":", "colon"), ("/", "div"),
        (r"\emptyset", "varnothing empty oslash"), (r"\infty", "infin"), (r"\cup", "bigcup"),
        ("T", "top intercal"),
        (r"\setminus", "backslash"), (r"\mathbb{R}", "Reals R reals"), ("i", "imath"),
        (r"\ldots", "dots ldots cdots dotsc dotsb"), (" and ", "land wedge"), (" or ", "lor vee"),
        ("£", "pounds textsterling"), ("€", "euro texteuro"), (r"\epsilon", "varepsilon"),
        (r"\phi", "varphi"), (r"\theta", "vartheta"), (r"\rho", "varrho"), (r"\sigma", "varsigma"),
        (r"\kappa", "varkappa"),
        (r"\vec", "overrightarrow"), (r"\neg", "lnot"),
        (r"\tan", "tg"), (r"\cot", "ctg cotg"), (r"\arctan", "arctg"),
        (r"\sinh", "sh"), (r"\cosh", "ch"), (r"\tanh", "th"), (r"\arccot", "arcctg"),
        (r"\to", "rightarrow longrightarrow longmapsto mapsto"),
    )
    for name in tables.word_list(names)
}  # fmt: skip
_DEGREE = re.compile(  # `^\circ`, `^{o}`, `\degrees`
    r"\^\s*(?:\{\s*\\?circ\s*\}|\\?circ(?![A-Za-z]))|\^\s*\{?\s*o\s*\}(?![A-Za-z])"
    r"|\^?\s*\\degrees?(?![A-Za-z])|\^\s*\{\s*\\circ\s*\}(?=[CF]\b)|\^\s*\{?\s*\\degree\s*\}?"
)
_DEGREE_WORD = re.compile(  # `30 degrees`, not `30 degrees Celsius`
    rf"(?<![A-Za-z\\]){TEXT_OPEN}?\s*(?:degrees?|degs?)(?![A-Za-z])\.?\s*{TEXT_CLOSE}?(?!"
    rf"\s*(?:{TEXT_OPEN})?\s*(?:celsius|fahrenheit|[CF]\b))",
    re.I,
)
_PRIMES = re.compile(r"\^\s*\{?\s*((?:\\prime(?![A-Za-z])\s*)+)\}?")
_PERCENT = re.compile(  # `\%`, `percentage points`
    rf"\\%|{TEXT_OPEN}?\s*(?<![A-Za-z])(?:per\s?cent(?:age)?(?:\s+points?)?"
    rf"|pct)(?![A-Za-z])\.?\s*{TEXT_CLOSE}?",
    re.I,
)
# `\\frac` for `\frac`, `1 000`, `$5` without a second dollar sign
_DOUBLED = re.compile(r"\\\\(?=[A-Za-z(){}\[\]%$!,;])")
_SPACED_THOUSANDS = re.compile(r"(?<![\d.,/]) ?\b\d{1,3}(?: \d{3})+(?![\d/])")
_MATH_MARKS = re.compile(r"\\[()\[\]]|\$\$?")
_LONE_DOLLAR = re.compile(r"\$(?=\s*-?[\d.])")
_SPACES = re.compile(r"\s+")
_SUPERSCRIPTS = re.compile("[" + "".join(tables.SUPERSCRIPT) + "]+")
_SUBSCRIPTS = re.compile("[" + "".join(tables.SUBSCRIPT) + "]+")
_RAISED_FRACTION = re.compile("([⁰¹²³⁴⁵⁶⁷⁸⁹]{1,9})[⁄∕/]([₀₁₂₃₄₅₆₇₈₉]{1,9})")
_CIRCLED = re.compile("[①-⑳](?:[\\s,、，和及与;；]*[①-⑳])*")  # numbered statements
_TEXTCIRCLED = re.compile(r"\\textcircled\s?\{(?:\\[a-z]+\s?)?\{?\s?([1-9])\s?\}?\}")
_COLOR = re.compile(r"\\(?:color|textcolor)\s*\{[^{}]*\}")
# `**5**`, `{5 \choose 2}`, `{1 \over 2}`
_BOLD = re.compile(r"(?<![\w)}\]*])\*\*(?=[^\s*])([^*]{1,200})(?<=\S)\*\*")
_CHOOSE = re.compile(r"\{\s*([^{}]{1,40}?)\s*\\choose\s*([^{}]{1,40}?)\s*\}")
_OVER = re.compile(r"\{\s*([^{}]{1,40}?)\s*\\over(?![A-Za-z])\s*([^{}]{1,40}?)\s*\}")
_BARE_MODULUS = re.compile(r"\s(?:\\b?mod|mod(?:ulo)?)\s*\{?\s*(\d+)\s*\}?$")  # `n \equiv 1 mod 4`
_SIMILAR = re.compile(r"\\(sim|cong)(?![A-Za-z])")  # of triangles
_SIMILAR_WORDS = {"sim": " similar to ", "cong": " congruent to "}
_MARKED_MODULUS = re.compile(  # `\\text{ (mod 13)}`, `\\text{ mod } 13`
    rf"{TEXT_OPEN}\s*\(\s*mod(?:ulo)?\s+(\d+)\s*\)\s*{TEXT_CLOSE}"
    rf"|{TEXT_OPEN}\s*mod(?:ulo)?\s*{TEXT_CLOSE}"
)
_MODULUS = re.compile(  # of a congruence; `5 \bmod 3` is a calculation
    rf"\s?(?:\\p?mod\s?\{{?\s?\d+\s?\}}?"
    rf"|\(\s?[{TEXT_OPEN}]?\s?\\?(?:mod|bmod"
    rf"|modulo)\s?[{TEXT_CLOSE}]?\s?\{{?\d+\}}?\s?[{TEXT_CLOSE}]?\))[\s.]*$"
)
_ELLIPSIS = re.compile(  # `0.333...`, `0.121212...`
    r"(?<!\d)(\d{0,30})\.(\d{0,12}?)(?:(\d)\3{2,}|(\d{2,8})\4{1,})\s*(?:\.{3}|\\ldots)"
)
_PLAIN_MATRIX = re.compile(
    r"\\([pbv]?matrix)\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
)  # `\pmatrix{1&2\cr3&4}`
# `(52)_8`, `52_{\text{eight}}`, `x=1 \quad y=2`
_BASED = re.compile(r"\(\s*([\dA-F][\dA-F]*)\s*\)\s*(?=_\s*\{?\s*\d)")
_BASE_WORD = re.compile(
    rf"(?<=[\dA-Z])(\s?\)?)\s?_\s?\{{\s?{TEXT_OPEN}?\s?([a-z]+)\s?{TEXT_CLOSE}?\s?\}}", re.I
)
_QUAD = re.compile(r"(?<![,;\s])\s*\\q?quad")
_RECURRING = re.compile(  # `0.1\overline{6}`, `0.\dot{1}2\dot{3}`
    r"(?<!\d)(\d{0,30})\.(\d{0,30})(?:\\(?:overline|bar)\s*\{\s*(\d{1,30})\s*\}"
    r"|\\dot\s*\{?(\d)\}?(?:(\d{0,28})\\dot\s*\{?(\d)\}?)?|(?<=[\d.])\((\d{1,12})\)$)"  # 0.1(6)
)
_IN_A_SET = re.compile(r",|^\{\s*[A-Za-z]\s*(?:\||:|\\in(?![A-Za-z]))")  # a list or a condition
_LEADING_SIGNS = re.compile(
    r"^(?:(?:[-=]+>|=|\\(?:approx|therefore|implies|(?:Long)?[Rr]ightarrow)(?![A-Za-z]))\s*)+"
)
_BRACE = re.compile(r"\\.|[{}]", re.S)  # or an escaped character


def unicode_to_latex(text: str) -> str:
    """Return typeset characters (½, ², √, ≤, π, full-width forms) as LaTeX."""
    if text.isascii():
        return text
    text = "".join(
        _frac(*tables.VULGAR_FRACTIONS[c]) if c in tables.VULGAR_FRACTIONS else c for c in text
    )
    text = _RAISED_FRACTION.sub(_raised_fraction, text)
    text = _SUPERSCRIPTS.sub(
        lambda m: "^{" + "".join(tables.SUPERSCRIPT[c] for c in m[0]) + "}", text
    )
    text = _SUBSCRIPTS.sub(lambda m: "_{" + "".join(tables.SUBSCRIPT[c] for c in m[0]) + "}", text)
    text = "".join(tables.UNICODE.get(c, c) for c in text)
    text = "".join(f"\\{tables.GREEK[c]} " if c in tables.GREEK else c for c in text)
    text = "".join(c if c in tables.CURRENCY else unicodedata.normalize("NFKC", c) for c in text)
    text = re.sub(r"\\sqrt (\d+|[A-Za-z]|\\[A-Za-z]+)", r"\\sqrt{\1}", text)
    return text.replace(r"\sqrt (", r"\sqrt(")


def _raised_fraction(m: re.Match[str]) -> str:
    """Return `\\frac{5}{9}` for `⁵⁄₉`."""
    return _frac(
        *(
            "".join(t[c] for c in part)
            for t, part in zip((tables.SUPERSCRIPT, tables.SUBSCRIPT), m.groups(), strict=True)
        )
    )


def _frac(top: object, low: object) -> str:
    return rf"\frac{{{top}}}{{{low}}}"


def unwrap_text(text: str) -> str:
    """Put the words of `\\text{…}` between the marks and remove fonts, nested ones too."""
    for _ in range(MAX_NESTED_FONTS):
        before = text
        text = _FONT.sub(_unwrap_font, text)
        text = TEXT.sub(_mark_text, text)
        if text == before:
            break
    text = _LETTER_DIGIT.sub(r"\1", text)
    text = _BASED_WORD.sub(r"\1", text)  # `\text{BEE}_{16}`
    return _FONT_COMMAND.sub("", _FONT_LETTER.sub(r" \1", text))


def _unwrap_font(match: re.Match[str]) -> str:
    inner = match[1].strip()
    if "operatorname" in match[0] and (
        inner in tables.FUNCTIONS or _RENAMED.get(inner, "")[1:] in tables.FUNCTIONS
    ):
        return f"\\{inner} "
    if inner in tables.FUNCTIONS:
        return f"\\{inner} "
    if len(inner) > 1 and inner.isalpha():
        return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"
    return f" {match[1]} "


def _mark_text(match: re.Match[str]) -> str:
    inner = strip_marks(match[1], "")
    if inner.strip() in tables.FUNCTIONS - {"min", "max", "sec"}:
        return f"\\{inner.strip()} "
    if not inner.strip():
        return " "
    bare = inner.strip(" ,.;")
    if re.fullmatch(r"[-\d.,\s]*\\degree|\((?:i{1,3}|iv|v)\)", bare):
        return f" {bare} "
    if not re.search(r"[A-Za-z]{2}|^[A-Za-z](?:\^-?\d)?(?: [A-Za-z](?:\^-?\d)?)*$", bare):
        return f" {bare} "  # \text{240}, \text{-2}, \text{(B)}: not words
    counted = re.fullmatch(r"(-?[\d.,/]*\d)\s+([^\d]+)", bare)
    if counted:
        return f" {counted[1]} {TEXT_OPEN}{counted[2]}{TEXT_CLOSE}"
    joined = re.fullmatch(r"(.*\w)\s+(and|or)", bare)
    if joined:
        return f"{TEXT_OPEN}{joined[1]}{TEXT_CLOSE} {joined[2]} "
    if bare.lower() in ("and", "or", "to"):
        return f" {bare.lower()} "
    return f"{TEXT_OPEN}{inner}{TEXT_CLOSE}"


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Return an answer in the reader's spelling. The order of the steps matters."""
    text = _HTML.sub("", text) if "</" in text or "<br" in text else text
    if text.strip() in ("{}", r"\{\}"):
        return r"\emptyset"
    text = _TEXTCIRCLED.sub(lambda m: chr(ord("①") + int(m[1]) - 1), text)
    if _CIRCLED.fullmatch(text.strip(" $.。")):
        text = ", ".join(f"({unicodedata.numeric(c):.0f})" for c in text if "①" <= c <= "⑳")
    text = unicode_to_latex(translate(_SPACES.sub(" ", text.strip())))
    text = unit_vectors_to_tuple(program_output(text))
    if "matrix" in text:
        text = _PLAIN_MATRIX.sub(r"\\begin{\1}\2\\end{\1}", text)
    if "\\begin" in text:
        text = rows_to_lists(text)
    if text.count("=") + text.count(r"\equiv") > 1:
        text = re.sub(r"(?<=[\w)}])\$\s+\$(?=\S)", "$, $", text)
        text = _QUAD.sub(", ", text)
    if "\\begin" not in text:
        text = _DOUBLED.sub(lambda _: "\\", text)
        text = re.sub(r"\\\\(?:\s|$)", " ", text)
    else:
        text = text.replace(r"\\", _ROW_END)
    if text.startswith(r"\$") and text.endswith(r"\$"):
        text = text[2:-2]
    text = text.replace(r"\$", "＄")
    text = _NUMBER_SET.sub(lambda m: rf"\mathbb{{{m[1] or m[2]}}}", text)
    text = _BARE_REALS.sub(r"\\mathbb{R}\\setminus ", text)
    if "triangle" in text or "△" in text:
        text = _SIMILAR.sub(lambda m: _SIMILAR_WORDS[m[1]], text)
    text = _COLOR.sub("", text)
    text = _remove_math_delimiters(text)
    text = _GROUPED.sub(lambda m: re.sub(r"\D", "", m[0]), text)
    text = _DECIMAL_COMMA.sub(".", _THOUSANDS.sub(",", text))
    text = _SIZES.sub("", text)
    text = text.replace(r"\{", _LEFT_BRACE).replace(r"\}", _RIGHT_BRACE)
    text = mark_units(text)
    text = re.sub(r"\\(?:text|mathrm)\{(min|max)\}(?=\s*\()", r"\\\1", text)
    text = unwrap_text(text)
    text = mark_unit_fraction(text)
    text = _SPACES.sub(" ", _THIN.sub(" ", text))
    if r"\equiv" in text:
        text = _BARE_MODULUS.sub(r" \\pmod \1", text)
    text = text.replace(r"\sqrt[]", r"\sqrt").replace("! !", "!!").replace("{:}", ":")
    text = _COMMAND.sub(lambda m: _RENAMED.get(m[1], m[0]), text)
    text = text.replace(_LEFT_BRACE, r"\{").replace(_RIGHT_BRACE, r"\}")
    text = _PRIMES.sub(lambda m: "'" * m[1].count("prime"), text)
    text = _SPACE_BEFORE_INDEX.sub("", text)
    text = _DEGREE.sub(lambda _: r"\degree ", text)
    text = _DEGREE_WORD.sub(lambda _: r"\degree ", text)
    text = _PERCENT.sub("%", text)
    text = _SPACED_THOUSANDS.sub(lambda m: m[0].replace(" ", ","), text)
    text = recurring_to_fraction(_CHOOSE.sub(r"\\binom{\1}{\2}", text))
    text = _OVER.sub(r"\\frac{\1}{\2}", text)
    text = _MARKED_MODULUS.sub(lambda m: f"\\pmod {m[1]}" if m[1] else " mod ", text)
    text = _MODULUS.sub(lambda m: " \\pmod " + re.sub(r"\D", "", m[0]), text)
    if "_" in text:
        text = _BASED.sub(r"\1", _BASE_WORD.sub(_base_to_digits, text))
    text = text.replace(_ROW_END, r"\\")
    text = _BOLD.sub(r"\1", text)
    text = re.sub(r"\*\*(?=\s*[\d({A-Za-z+-])(?<=[\w)}\]]\*\*)", "^", text).replace("**", "")
    text = text.replace("!=", r"\ne ").replace("<=", r"\le ").replace(">=", r"\ge ")
    text = text.replace("==", "=").replace("&lt;", "<").replace("&gt;", ">")
    return expand_notation(strip_ends(_SPACES.sub(" ", text)))


def _base_to_digits(m: re.Match[str]) -> str:
    """Return `_{6}` for `_{\\text{six}}`."""
    value = NUMBER_WORDS.get(m[2].lower())
    return m[0] if value is None else f"{m[1]}_{{{value}}}"


def recurring_to_fraction(text: str) -> str:
    """Return `0.1\\overline{6}`, `0.\\dot{3}` and `0.333…` as fractions."""

    def fraction(m: re.Match[str]) -> str:
        period = m[3] or m[7] or (m[4] + (m[5] or "") + (m[6] or ""))
        low = 10 ** len(m[2]) * (10 ** len(period) - 1)
        top = int(m[1] + m[2] + period) - int(m[1] + m[2] or 0)
        return f"({_frac(top, low)})"

    text = _ELLIPSIS.sub(lambda m: rf"{m[1]}.{m[2]}\overline{{{m[3] or m[4]}}}", text)
    return _RECURRING.sub(fraction, text)


def _remove_math_delimiters(text: str) -> str:
    """Remove `$`, `\\(` and `\\[`; an unpaired dollar sign before a number is money."""
    if text.count("$") % 2:
        text = _LONE_DOLLAR.sub("＄", text, count=1)
    if text.startswith("$ ＄"):
        text = text[2:]
    return _SPACES.sub(" ", _MATH_MARKS.sub(" ", text)).strip()


def strip_ends(text: str) -> str:
    """Remove closing punctuation, stray backslashes, and braces or quotes around the whole."""
    for _ in range(MAX_LAYERS):
        before = text
        text = text.rstrip(" .,;:\\") if not text.endswith((r"\{", r"\}")) else text
        text = text.strip().lstrip(",;: ").strip()
        text = _LEADING_SIGNS.sub("", text.strip("`"))
        if (
            len(text) > 1
            and text[0] == "{"
            and closing_brace(text, 0) == len(text) - 1
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


def plain_words(text: str) -> str:
    """Return the lower-case words of a text answer, without punctuation, synonyms unified."""
    text = re.sub(r"[\\\"“”`*]", "", strip_marks(text).lower())
    text = _SPACES.sub(" ", text).strip(" .,;:!?()[]'")
    for article in tables.LEADING_ARTICLES:
        if text.startswith(article) and len(text) > len(article) + 1:
            text = text[len(article) :]
    return tables.SYNONYMS.get(text, text)
