"""Find the pieces of a text that may be answers: math, matrices, tuples, times, numbers."""

from __future__ import annotations

import re
from itertools import pairwise

from gradebox.checkers.math.extract.formula_tokens import formulas
from gradebox.checkers.math.read.dates import MONTH
from gradebox.checkers.math.read.kinds import fits, kind_of, names_value
from gradebox.checkers.math.read.tables import word_list
from gradebox.checkers.math.read.units import UNITS

CLOSING_PHRASE = re.compile(r"\.?\s{0,9}I hope (?:it|this) is correct\.?.*$", re.I | re.S)
MATH = re.compile(
    r"\$\$(?P<a>.{1,4000}?)\$\$|\\\[(?P<b>.{1,4000}?)\\\]|\\\((?P<c>.{1,4000}?)\\\)"
    # `$400 + $60` is money
    r"|(?<!\\)\$(?!\d[^$]{0,200}(?:\s\$|\$\d))(?P<d>(?:\\.|[^$\\]){1,4000}?)\$",
    re.S,
)
ENVIRONMENT = re.compile(
    r"\\begin\{([pbvBV]?matrix|array|align\*?|aligned|gather\*?|equation\*?|cases)\}.{0,4000}?\\end\{\1\}",
    re.S,
)
_NUMBER = re.compile(  # `-1,234.5`, `$45`, `3/4`, `12%`
    r"(?<![A-Za-z0-9_.])[-−]?(?:[$€£]\s?)?(?:\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)|\d+)?(?:\.\d+|(?<=\d))(?:[eE][-+]?\d+)?"
    r"(?:\s?/\s?\d+)?(?:\s?\\?%)?(?!-[a-z]{2})"
)
_TUPLE = re.compile(r"[(\[]\s*[^()\[\]\n,]{1,40}(?:,[^()\[\]\n,]{1,40}){1,6}[)\]]")
_CLOCK = re.compile(  # a time or a ratio
    r"(?<![\w:.])\d{1,3}:\d{1,3}(?![\w:])(?:\s?[ap]\.?m\b\.?|\s+in\s+the\s+(?:morning|afternoon|evening))?",
    re.I,
)
_DATE = re.compile(  # `30 June`, `June 30th, 2024`
    rf"\b\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{MONTH}\b(?:,?\s+\d{{4}})?"
    rf"|\b{MONTH}\.?\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,?\s+\d{{4}})?"
)
_UNIT_AFTER = re.compile(  # `1.5 seconds`, `96 cm²`
    r"\s*\$?\s*((?:(?:square|cubic|sq\.?)\s+)?([A-Za-z]{2,}|[a-z](?=/[a-z]))(?:[²³]|\^\{?[23]\}?)?(?:\s*(?:/|per)\s*([A-Za-z]+))?)(?![A-Za-z\d])"
)
_SCALE_AFTER = re.compile(r"\s+(thousand|million|billion|trillion|dozen)\b", re.I)
_NOT_UNITS = frozenset(
    word_list("in a to bar won cup min sec second seconds dozen u am units unit")
)
FOR_ALL = re.compile(  # also `$x\in\mathbb R$`  # `$f(x)=0$ for all $x$ and $f(x)=x$ for all $x$`
    r"(?<=\$)\s+for\s+(?:all|every)\s+(?:real\s+|positive\s+)?(?:numbers?\s+|integers?\s+)?\$[a-z](?:\s*\\in\s*\\mathbb\s*\{?\s*[A-Z]\s*\}?[^$]{0,6})?\$(?=\s+(?:and|or)\s|,|\.?$)"
)
_BULLETS = re.compile(  # `The solutions are:` and a list, at the end
    r"\b(?:solutions|answers|pairs|triples|values|roots|functions)\b[^\n:]{0,60}:?\**[ \t]*"
    r"((?:\n\s*(?:[-*•]|\d{1,2}[.)])[ \t]+(?=\S)[^\n]{1,120}){2,20})\s*$",
    re.I,
)
_LIMITS = re.compile(  # an answer with such a word is more than its number
    r"\b(?:least|most|more|less|fewer|greater|than|except|not|no|between|if|when|unless|times|half"
    r"|twice|otherwise|infinitely|each|per|about|approximately|base)\b|≈|\\approx",
    re.I,
)
_ITEMS = re.compile(r"[,;]|\b(?:and|or)\b")
_AFTERTHOUGHT = re.compile(
    r",\s+(?:with|since|because|not|rather\s+than)\s[^,]*$"
    r"|[,;]?\s+(?:regardless\s+of|no\s+matter|in\s+particular)\s.*$",
    re.S,
)
_MARKS = re.compile(r"[$\\:;]")
MAX_DERIVATION = 400  # characters of math in which the last part is looked for
_IMPLIED = re.compile(  # `3n = 6 \\implies n = 2` before its last part
    r".*=.*(?:\\(?:implies|Rightarrow|Longrightarrow|therefore)(?![A-Za-z])|[⟹⇒∴])(?=.*=)"
    r"|[^{}]*=(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\\to(?![A-Za-z])(?=[^{}]*[\d{])",
    re.S,
)
_CODE = re.compile(r"`([^`\n]{1,300})`")  # of a program's output
_NAME = re.compile(r"[A-Za-z](?:_?\d|_\{?\w\}?|[₀-₉]|\(\w{1,3}\))?")
_SIMPLE = re.compile(rf"\s*({_NAME.pattern})\s*(?:=|≈|\\approx)\s*([^=<>≤≥]{{1,80}})", re.S)
_DOMAIN = re.compile(  # `(n \in \mathbb{N}^*)`: where the answer holds
    r"\(?\s*[a-z](?:\s*,\s*[a-z])*\s*(?:\\in|∈)\s*(?:\\mathbb\s*\{?[A-Z]\}?|[ℝℤℕℚ]|[RZNQ])[^,]{0,12}\)?"
)
_ABOUT = re.compile(  # ` feet, which is about `
    r"(?:\s?([a-z]+[²³]?))?(?:,?\s+(?:or|which\s+is))?\s+\(?(?:≈|approximately|about|roughly)\s+"
)
_AND = re.compile(r"\s*(?:,|,?\s*(?:and|or|und|oder|et|ou|y|e|o|en|of)(?![A-Za-z])|[或和、，])\s*")


def math_contents(match: re.Match[str]) -> str:
    """Return what is between the delimiters of a MATH match."""
    return next(g for g in match.groups() if g)


def pieces(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, contents) of math, formulas, tuples and numbers, without overlaps."""
    found = [(m.start(), m.end(), _last_part(math_contents(m))) for m in MATH.finditer(text)]

    def add(start: int, end: int, contents: str) -> None:
        if contents and not any(a < end and start < b for a, b, _ in found):
            found.append((start, end, contents))

    for pattern in (ENVIRONMENT, _CODE, _CLOCK, _DATE):
        for m in pattern.finditer(text):
            add(m.start(), m.end(), m[0].strip("` \n"))
    for start, end, formula in formulas(text):
        add(start, end, _result(formula))
    for pattern in (_TUPLE, _NUMBER):
        for m in pattern.finditer(text):
            add(m.start(), m.end(), m[0].strip())
    return sorted(found)


def _last_part(math: str) -> str:
    return _IMPLIED.sub("", math) if len(math) <= MAX_DERIVATION else math


def _result(formula: str) -> str:
    """Return the last side of a calculation with numbers, `40*3 = 120`; else the formula."""
    left, _, right = formula.rpartition("≡" if "≡" in formula and "mod" not in formula else "=")
    return right.strip() if left and not re.search(r"[^\W\d_]", left) else formula


_IMPLIES = re.compile(r"\\(?:implies|iff|Rightarrow|Longrightarrow|Leftrightarrow)(?![A-Za-z])")
_ROWS = re.compile(  # the last rows of aligned equations, at the end of a text
    r"(?:\\\[\s*|\$\$\s*)?\\begin\{(align\*?|aligned|gather\*?)\}((?:(?!\\begin\{align).){0,4000}?)"
    r"\\end\{\1\}(?:\s*\\\]|\s*\$\$)?(?=[\s.]*$)",
    re.S,
)
_SOLVED = re.compile(r"([A-Za-z])\s*=\s*([^=]+)")
_NESTED = re.compile(r"\\begin\{")


def solved(text: str) -> str:
    """Return a text whose last equations are aligned with the one that solves them alone.

    `$2$` for rows of one sum that end with `&= 2`; `$x=2$` where the rows before contain x too.
    """
    m = _ROWS.search(text)
    if m is None or _NESTED.search(m[2]):
        return text
    *before, last = [row for row in re.split(r"\\\\(?:\[\w+\])?", m[2]) if row.strip(" &")]
    last = _IMPLIES.split(last)[-1].replace("&", "").replace(r"\qquad", "").strip(" .,")
    if last.startswith("=") and last.count("=") == 1 and before:
        return f"{text[: m.start()]}${last[1:].strip()}$"
    assigned = _SOLVED.fullmatch(last)
    name = assigned and re.compile(rf"(?<![A-Za-z\\]){assigned[1]}(?![A-Za-z])")
    if name and before and all(name.search(row) for row in before):
        return f"{text[: m.start()]}${last}$"
    return text


_ONE_EQUATION = re.compile(r"([^=<>]{1,60})=([^=<>]{1,60})")


def value_of_names(text: str) -> str:
    """Return 11 for `$m=4$, $n=7$ and $m+n=11$`: the last equation uses the names before it."""
    equations = [m for _, _, p in pieces(text) if (m := _ONE_EQUATION.fullmatch(p.strip()))]
    names = {m[1].strip() for m in equations[:-1]}
    if len(names) < 2 or not all(re.fullmatch("[A-Za-z]", n) for n in names):
        return ""
    left = equations[-1][1]
    used = set(re.findall(r"(?<!\\)[A-Za-z]", left))
    return equations[-1][2].strip() if used == names and len(left.strip()) > 1 else ""


def unit_after(tail: str) -> str:
    """Return the unit of measurement that a text begins with; "" without one."""
    m = _UNIT_AFTER.match(tail)
    if m is None or m[2].lower() not in UNITS:
        return ""
    ends = not tail[m.end() :].strip(" .!") or m[2].lower() not in _NOT_UNITS
    return m[1] if ends else ""


def _after_implication(math: str) -> str:
    """Return `x=2` for `3x=6 \\implies x=2`; aligned equations as they are."""
    return math if r"\begin" in math else _IMPLIES.split(math)[-1]


def last_piece(text: str) -> str:
    """Return the last math or number of prose and those joined to it; else the text itself."""
    text = CLOSING_PHRASE.sub("", text).strip()
    found = [(a, b, _after_implication(c)) for a, b, c in pieces(text)]
    if not found:
        return text
    while len(found) > 1 and _DOMAIN.fullmatch(found[-1][2].strip()):
        found.pop()
    while len(found) > 1 and _is_mention(text, found[-1]):
        found.pop()
    if len(found) > 1 and (about := _ABOUT.fullmatch(text[found[-2][1] : found[-1][0]])):
        unit = f" {about[1]}" if about[1] else ""
        return rf"{found[-2][2].strip()}{unit} \approx {found[-1][2]}{unit}"
    kept = [found[-1]]
    for earlier in reversed(found[:-1]):
        if not _AND.fullmatch(text[earlier[1] : kept[0][0]]):
            break
        kept.insert(0, earlier)
    if "=" in kept[0][2] and re.search(r"\bor\s+\W?$", text[: kept[0][0]]):
        return text  # `n is prime or n = 1`
    if re.search(r"\bof\s+the\s+form\s+\W?$", text[: kept[0][0]]):
        return text
    kept = _without_steps(kept)
    answer = kept[0][2].strip()
    if len(kept) > 1 and all(text[start:end] == contents for start, end, contents in kept):
        answer, kept = text[kept[0][0] : kept[-1][1]], kept[-1:]
    for (_, end, _), (start, _, contents) in pairwise(kept):
        answer += ("," if text[end:start] == "," else ", ") + contents.strip()
    tail = text[kept[-1][1] :]
    if scale := _SCALE_AFTER.match(tail):
        return f"{answer} {scale[1]}"
    if unit := unit_after(tail):
        return f"{answer} {unit}"
    return answer + "%" if re.match(r"\s*(?:\\?%|percent|pct)", tail) else answer


def last_of_kind(gold: str, found: str, sentence: str) -> str:
    """Return the last formula of a sentence that is of the reference answer's kind.

    What was found stays where it is of that kind, where it is words, and in a list of such. What
    stands before it is a step, unless it is a condition, such as `b^2 = 9` or `x > 0`.
    """
    kind = kind_of(found)
    if kind_of(gold) == "letter":  # guided/letters.py
        return found
    if fits(gold, found) or not re.search(r"\d|\$|\\|[=<>]", found) or _LIMITS.search(found):
        return found
    if kind == "words" and not (
        re.search(r"[\d$})]$", found) and re.search(r"[$\\:;]", found[:-1])
    ):
        return found
    if kind == "list":
        items = [item.strip() for item in _ITEMS.split(found)]
        names = {item.partition("=")[0].strip() for item in items}
        if sum(fits(gold, item) for item in items) != 1 or len(names) < len(items):
            return found
    sentence = _AFTERTHOUGHT.sub("", sentence)
    steps = kind in ("words", "list") or (kind == "relation" and not names_value(found))
    start = -1 if steps else sentence.rfind(found)
    fitting = [p for p in pieces(sentence) if p[1] > start and fits(gold, _after_implication(p[2]))]
    return last_piece(sentence[: fitting[-1][1]]) if fitting else found


def _is_mention(text: str, piece: tuple[int, int, str]) -> bool:
    """Return whether a piece is a letter that is spoken of: `the $x$-axis`, `in terms of $n$`."""
    start, end, contents = piece
    if not re.fullmatch(r"\s*\\?[A-Za-z]+\s*", contents):
        return False
    return text.startswith("-", end) or bool(re.search(r"\b(?:of|in|on|by|with)\s+$", text[:start]))


def _without_steps(kept: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Return the pieces that state the result: `a = 7` of `15 - 2a = 1, 2a = 14, a = 7`.

    Equations are results together when each gives a letter its value: `x = 1, y = 2`, or the last
    letter several: `y = 4` and `y = 5` of `u = 1, u = 2, y = 4, y = 5`.
    """
    if not any(re.search("[=∈]", contents) for _, _, contents in kept):
        return kept
    names = [m[1] if (m := _SIMPLE.fullmatch(contents)) else "" for _, _, contents in kept]
    if "∈" in kept[-1][2] or not names[-1]:
        return kept[-1:] if re.search("[=∈]", kept[-1][2]) else kept
    first = len(names)
    while first and names[first - 1]:
        first -= 1
    names, kept = names[first:], kept[first:]
    last = names.count(names[-1])
    if last < len(names) and len(set(names[-last:])) == 1 and len(set(names)) > 1 and last > 1:
        return kept[-last:]
    return kept


def listed_items(text: str) -> str:
    """Return the items of the solutions that a list at the end gives, joined by commas.

    "" without a list, or when one of its items is not math alone.
    """
    listed = _BULLETS.search(text)
    items = [
        re.sub(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+", "", line).strip(" .,;")
        for line in (listed[1].strip().splitlines() if listed else ())
    ]
    items = [FOR_ALL.sub("", f"{i}.").rstrip(".") for i in items]
    if not all(
        MATH.fullmatch(i) or re.fullmatch(r"[-−+\d./()\s,=a-z√π±²³^*]*\d[-−+\d./()\s,=√π²³i]*", i)
        for i in items
    ):
        return ""
    return ", ".join(math_contents(m) if (m := MATH.fullmatch(i)) else i for i in items)
