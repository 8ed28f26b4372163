"""Compare formulas of logic and of sets by their truth tables: `p \\to q` is `\\neg p \\lor q`.

formula := implied (("\\leftrightarrow" | "iff") implied)*
implied := sum ["\\to" implied]
sum     := product (("or" | "\\cup" | "xor") product)*
product := factor (("and" | "\\cap" | "\\setminus") factor)*
factor  := ("not" | "\\neg") factor | "\\overline{" formula "}" | atom ["'" | "^c"]*
atom    := a letter | "(" formula ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import product

from gradebox.checkers.math.normalise.rewrite import unicode_to_latex

MAX_CHARS = 200
MAX_ATOMS = 8
Truth = dict[str, bool]
Formula = Callable[[Truth], bool]
Binary = Callable[[bool, bool], bool]

_SPELLINGS = (  # (what is written, the token)
    (r"\\left(?![a-z])|\\right(?![a-z])|\\[,;:! ]|\\displaystyle|\$|\\[()\[\]]", " "),
    (r"\\(?:text|mathrm|textbf|operatorname)\s*\{([^{}]*)\}", r" \1 "),
    (r"\\(?:leftrightarrow|Leftrightarrow|iff|longleftrightarrow)(?![A-Za-z])|<-+>|<=+>"
     r"|\biff\b|\bif\s+and\s+only\s+if\b", " ↔ "),
    (r"\\(?:to|rightarrow|Rightarrow|implies|Longrightarrow|supset)(?![A-Za-z])|[-=]+>"
     r"|\bimplies\b", " → "),
    (r"\bif\s+(?P<a>[^,]+?)\s*,?\s+then\s+", r" \g<a> → "),
    (r"\\(?:neg|lnot|sim)(?![A-Za-z])|~|!|\bnot\b|\bNOT\b", " ¬ "),
    (r"\\(?:land|wedge|cap|bigcap)(?![A-Za-z])|&&?|\band\b|\bAND\b", " ∧ "),
    (r"\\(?:lor|vee|cup|bigcup)(?![A-Za-z])|\|\|?|\bor\b|\bOR\b", " ∨ "),
    (r"\\(?:oplus|triangle|Delta|ominus|veebar)(?![A-Za-z])|\bxor\b|\bXOR\b", " ⊕ "),
    (r"\\(?:setminus|backslash|smallsetminus)(?![A-Za-z])", " ∖ "),
    (r"\\(?:overline|bar|widebar)\s*(?=\{)", "‾"),
    (r"\\(?:overline|bar)\s*([A-Za-z])", r"‾{\1}"),
    (r"\^\s*\{?\s*(?:\\complement|[cC])\s*\}?(?![A-Za-z])|\^\s*\{?\\prime\}?", "'"),
)  # fmt: skip
_PATTERNS = tuple((re.compile(pattern), new) for pattern, new in _SPELLINGS)
_TOKEN = re.compile(r"\s*([A-Za-z](?:_\{?\d\}?)?(?![A-Za-z])|[↔→¬∧∨⊕∖‾'(){}\[\]-])")
_LEVELS: tuple[dict[str, Binary], ...] = (  # from the loosest; "→" is to the right
    {"↔": lambda a, b: a == b},
    {"→": lambda a, b: not a or b},
    {"∨": lambda a, b: a or b, "⊕": lambda a, b: a != b},
    {"∧": lambda a, b: a and b, "∖": lambda a, b: a and not b, "-": lambda a, b: a and not b},
)
_CLOSER = {"(": ")", "[": "]", "{": "}"}


class _Unreadable(ValueError):
    pass


class _Reader:
    def __init__(self, tokens: list[str]):
        self.tokens = tokens
        self.atoms: set[str] = set()

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def formula(self, level: int = 0) -> Formula:
        if level == len(_LEVELS):
            return self.factor()
        value = self.formula(level + 1)
        while operation := _LEVELS[level].get(self.peek()):
            self.tokens.pop(0)
            other = self.formula(level if level == 1 else level + 1)
            value = _joined(operation, value, other)
        return value

    def factor(self) -> Formula:
        token = self.tokens.pop(0) if self.tokens else ""
        if token == "¬":
            inner = self.factor()
            return lambda t: not inner(t)
        if token in _CLOSER or token == "‾":
            opener = self.tokens.pop(0) if token == "‾" and self.tokens else token
            value = self.formula()
            if not self.tokens or self.tokens.pop(0) != _CLOSER.get(opener):
                raise _Unreadable
            if token == "‾":
                covered = value
                value = lambda t: not covered(t)  # noqa: E731
        elif token[:1].isalpha():
            self.atoms.add(token)
            value = lambda t: t[token]  # noqa: E731
        else:
            raise _Unreadable
        while self.peek() == "'":
            self.tokens.pop(0)
            value = _negated(value)
        return value


def _joined(operation: Binary, a: Formula, b: Formula) -> Formula:
    return lambda t: operation(a(t), b(t))


def _negated(inner: Formula) -> Formula:
    return lambda t: not inner(t)


def read_formula(text: str) -> tuple[Formula, frozenset[str], bool] | None:
    """Return (truth of a valuation, its letters, whether it has more than `-`); None otherwise."""
    if len(text) > MAX_CHARS:
        return None
    text = unicode_to_latex(text.strip().rstrip("."))
    for pattern, new in _PATTERNS:
        text = pattern.sub(new, text)
    tokens, at = [], 0
    text = text.rstrip()
    while at < len(text):
        m = _TOKEN.match(text, at)
        if m is None:
            return None
        tokens.append(re.sub(r"[{}]", "", m[1]) if len(m[1]) > 1 else m[1])
        at = m.end()
    logical = bool(set(tokens) & set("↔→¬∧∨⊕∖‾'"))
    reader = _Reader(tokens)
    try:
        value = reader.formula()
    except (_Unreadable, RecursionError):
        return None
    if reader.tokens or not 1 <= len(reader.atoms) <= MAX_ATOMS:
        return None
    return value, frozenset(reader.atoms), logical


def same_formula(gold: str, answer: str) -> bool | None:
    """Return whether two formulas have one truth table; None unless both are formulas."""
    left, right = read_formula(gold), read_formula(answer)
    if left is None or right is None or not (left[2] or right[2]):
        return None
    return all(left[0](t) == right[0](t) for t in _valuations(left[1] | right[1]))


def _valuations(letters: frozenset[str]) -> Iterator[Truth]:
    names = sorted(letters)
    return (dict(zip(names, v, strict=True)) for v in product((False, True), repeat=len(names)))
