"""Tables of characters, function names and synonyms, and the marks around words."""

from __future__ import annotations

import unicodedata

# normalise() puts `\text{...}` between these two marks, so that `\text{m}` stays a unit and
# `m` a variable.
TEXT_OPEN, TEXT_CLOSE = "\ue000", "\ue001"


def strip_marks(text: str, replacement: str = " ") -> str:
    """Return `text` with each TEXT_OPEN and TEXT_CLOSE replaced."""
    return text.replace(TEXT_OPEN, replacement).replace(TEXT_CLOSE, replacement)


# regular expression of a letter with an optional index: `x`, `x_1`, `x_{12}`
LETTER = r"[A-Za-z](?:_\{?\w+\}?)?"


def word_list(text: str) -> list[str]:
    """Return the words of a table row."""
    return text.split()


# character → LaTeX
UNICODE: dict[str, str] = {
    "×": r"\times ", "⨯": r"\times ", "✕": r"\times ", "⋅": r"\cdot ", "·": r"\cdot ",
    "∙": r"\cdot ", "•": r"\cdot ", "∗": "*", "÷": "/", "⁄": "/", "∕": "/",
    "−": "-", "–": "-", "—": "-", "‐": "-", "‑": "-", "－": "-", "﹣": "-",
    "≤": r"\le ", "⩽": r"\le ", "≦": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≧": r"\ge ",
    "≠": r"\ne ", "≈": r"\approx ", "≅": r"\cong ", "∞": r"\infty ", "∪": r"\cup ",
    "∩": r"\cap ", "∈": r"\in ", "∅": r"\emptyset ", "⌀": r"\emptyset ", "±": r"\pm ",
    "∓": r"\mp ", "°": r"\degree ", "º": r"\degree ", "˚": r"\degree ", "√": r"\sqrt ",
    "∛": r"\sqrt[3] ", "∜": r"\sqrt[4] ", "⟨": r"\langle ", "⟩": r"\rangle ",
    "〈": r"\langle ", "〉": r"\rangle ", "⌊": r"\lfloor ", "⌋": r"\rfloor ",
    "⌈": r"\lceil ", "⌉": r"\rceil ", "∣": "|", "′": "'", "’": "'", "‘": "'",
    "“": '"', "”": '"', "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}",
    "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}", "∖": r"\setminus ", "∧": r"\land ",
    "∨": r"\lor ", "→": r"\to ", "…": r"\ldots ", "∑": r"\sum ", "∫": r"\int ",
    "∏": r"\prod ", "∂": r"\partial ", "∠": r"\angle ", "⊥": r"\perp ", "‰": r"\permil ",
    "△": r"\triangle ", "∆": r"\Delta ", "″": "''", "∴": r"\therefore ", "⇒": r"\Rightarrow ",
    "∶": ":", "∽": r"\sim ", "∼": r"\sim ", "¬": r"\neg ", "∀": r"\forall ", "∃": r"\exists ",
    "∥": r"\parallel ", "≡": r"\equiv ", "≢": r"\not\equiv ",
    "⊂": r"\subset ", "⊆": r"\subseteq ", "∉": r"\notin ",
    "‖": r"\|", "ℓ": r"\ell ", "Å": " angstrom ", "\u212b": " angstrom ",
    "\u00a0": " ", "\u2009": " ", "\u202f": " ", "\u200b": "", "\ufeff": "", "\u2061": "",
    "\u2062": "", "：": ":", "，": ",", "、": ",", "。": ".", "；": ";", "（": "(",
    "）": ")", "＝": "=", "％": "%", "＋": "+", "＜": "<", "＞": ">",
    "或": " or ", "和": " and ",
}  # fmt: skip
GREEK: dict[str, str] = dict(
    zip(
        "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩϕϵ",
        word_list(
            "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho "
            "sigma tau upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi "
            "Omega varphi varepsilon"
        ),
        strict=True,
    )
)
VULGAR_FRACTIONS: dict[str, list[str]] = {  # "½" → ["1", "2"]
    c: unicodedata.normalize("NFKC", c).split("⁄") for c in "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
}
SUPERSCRIPT = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿˣ", "0123456789+-()nx", strict=True))
SUBSCRIPT = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₙₓ", "0123456789+-()nx", strict=True))

CURRENCY: dict[str, str] = {
    "＄": "dollar", "€": "euro", "£": "pound_money", "¥": "yen", "₹": "rupee", "₽": "ruble",
    "₩": "won", "¢": "cent",
}  # fmt: skip

# each row lists synonyms; the first replaces the others
_SYNONYMS: tuple[tuple[str, ...], ...] = (
    ("true", "yes"),
    ("false", "no"),
    ("undefined", "not defined", "is undefined", "indeterminate"),
    ("dne", "does not exist", "doesn't exist", "do not exist", "nonexistent", "non-existent"),
    (
        "no solution", "no solutions", "no real solution", "no real solutions", "emptyset",
        "empty set", "the empty set", "null set", "varnothing", "none exist", "no such number",
        "{}",
    ),
    ("infinity", "infinite", "infinitely many", "inf", "unbounded",
     "infinitely many solutions"),
    ("all real numbers", "all reals", "all real x", "any real number", "mathbb{r}",
     "every real number", "all of r", "the real numbers", "reals"),
)  # fmt: skip
SYNONYMS: dict[str, str] = {word: row[0] for row in _SYNONYMS for word in row}

FUNCTIONS = frozenset(
    word_list(
        "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh "
        "coth asin acos atan log ln lg exp sqrt max min gcd lcm det abs floor ceil "
        "arcsinh arccosh arctanh arsinh arcosh artanh cis sign sgn"
    )
)
LEADING_ARTICLES = ("there is ", "there are ", "the ", "a ", "an ")
