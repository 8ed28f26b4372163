"""Read sets of whole numbers: *all odd n*, `n \\equiv 0, 1 \\pmod 4`, `n = 2^k, k \\ge 0`.

set      := part (("or" | "," | "and") part)*      an alternative each, or conditions on one number
part     := form | list | atom+                    `2k+1`; `1, 2, 4, \\ldots`; *odd primes below 20*
form     := [letter "="] expression [range of its letter]
atom     := noun | adjective | bound | congruence | divisibility, see _ATOMS

Nothing is evaluated: members.py does that.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

from gradebox.checkers.math.normalise.number_words import FRACTION_WORDS, read_number_words
from gradebox.checkers.math.normalise.tables import strip_marks, word_list

MAX_CHARS = 240
MAX_DIGITS = 4


@dataclass(frozen=True)
class Atom:
    """A property of a whole number, such as ("multiple", 3); `negated` for *not divisible by 3*."""

    kind: str
    args: tuple[int, ...] = ()
    negated: bool = False


@dataclass(frozen=True)
class Form:
    """The values of an expression in one letter that runs from `low` to `high` (None: no end).

    `low` is "0 or 1" for the natural numbers, "" where the text does not say.
    """

    text: str
    letter: str
    low: int | str | None = ""
    high: int | None = None


@dataclass(frozen=True)
class Listed:
    """Numbers one by one; with dots, those of the sequence that they begin (`more`: "<", ">")."""

    numbers: tuple[int, ...]
    more: str = ""


Part = tuple[Atom, ...] | Form | Listed


@dataclass(frozen=True)
class IntegerSet:
    """The union of its parts.

    domain   "Z" all integers, "N" positive, "N0" not negative, "" not said
    stated   the text says that these are whole numbers
    first    how many of the smallest positive members are meant; 0: all
    """

    parts: tuple[Part, ...]
    domain: str = ""
    stated: bool = False
    first: int = 0


_INT = rf"-?\d{{1,{MAX_DIGITS}}}"
_WORD_NUMBER = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|hundred"
)
_COUNT = rf"(?:{_INT}|{_WORD_NUMBER})"
_MOD = r"\(?\s*(?:\\pmod|\\bmod|\\mod|mod(?:ulo)?)\s*\{?\s*(\d{1,4})\s*\}?\s*\)?"
_RESIDUES = rf"({_INT}(?:\s*(?:,\s*(?:or|and)?|or|and)\s*{_INT})*)"
_LETTER = r"(?<![A-Za-z\\])[a-z](?![A-Za-z])"
_TESTS = {"odd": (2, 1), "even": (2, 0)}

# what a condition looks like → its Atom, or "" for words without a meaning of their own
_ATOMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), kind)
    for pattern, kind in (
        (rf"(?:{_LETTER})?\s*(?P<no>\\not\s*=|\\ne|\\not\s*\\equiv|not\s+congruent\s+to"
         rf"|is\s+not\s+congruent\s+to)"
         rf"\s*{_RESIDUES}\s*{_MOD}", "residue"),
        (rf"(?:{_LETTER})?\s*(?:(?:is|are)\s+)?(?:=|congruent\s+to|equal\s+to"
         rf"|\\equiv)?\s*{_RESIDUES}\s*{_MOD}", "residue"),
        (rf"(?:that\s+|which\s+|when\s+divided\s+by\s+\d+\s+)?leav(?:es?"
         rf"|ing)\s+(?:an?\s+)?remainder\s+(?:of\s+)?{_RESIDUES}"
         r"\s+(?:when|on|upon|after)\s+(?:being\s+)?(?:divided|division)\s+by\s+(\d{1,4})",
         "residue"),
        (r"(?:with|having)\s+(?:an?\s+)?remainder\s+(?:of\s+)?" + _RESIDUES
         + r"\s+(?:when|on|upon)\s+(?:divided|division)\s+by\s+(\d{1,4})", "residue"),
        (rf"(?:{_LETTER}\s*)?(?P<no>(?:is|are)\s+not\s+|not\s+)?(?:(?:is"
         rf"|are)\s+)?divisible\s+by\s+({_COUNT})", "multiple"),
        (r"(\d{1,4})\s*(?:\||\\mid|divides)\s*[a-z](?![A-Za-z])", "multiple"),
        (r"(\d{1,4})\s*(?P<no>\\nmid|does\s+not\s+divide)\s*[a-z](?![A-Za-z])", "multiple"),
        (rf"(?P<no>(?:is\s+|are\s+)?not\s+)?(?:an?\s+)?(?:integer\s+|integral\s+"
         rf"|positive\s+)?multiples?\s+of\s+({_COUNT})", "multiple"),
        (rf"(?P<no>(?:is\s+|are\s+)?not\s+)?(?:an?\s+)?(?:integer\s+|perfect\s+"
         rf"|non-?negative\s+integer\s+)?powers?\s+of\s+({_COUNT})", "power"),
        (rf"(?:positive\s+)?(?:divisors?|factors?)\s+of\s+({_COUNT})", "divisor"),
        (r"(?P<no>(?:is\s+|are\s+)?not\s+)?(?:an?\s+)?(?:perfect\s+squares?"
         r"|square\s+numbers?|squares?)(?![A-Za-z])", "square"),
        (r"(?P<no>(?:is\s+|are\s+)?not\s+)?(?:an?\s+)?(?:perfect\s+cubes?|cube\s+numbers?"
         r"|cubes?)(?![A-Za-z])", "cube"),
        (r"(?P<no>non-?|not\s+)?(?:an?\s+)?primes?(?:\s+numbers?)?(?![A-Za-z])", "prime"),
        (r"(?:an?\s+)?composites?(?:\s+numbers?)?(?![A-Za-z])", "composite"),
        (r"triangular(?:\s+numbers?)?(?![A-Za-z])", "triangular"),
        (r"(?P<no>not\s+)?(odd|even)(?![A-Za-z])", "parity"),
        (r"(one|single|two|three|1|2|3)-?\s?digit", "digits"),
        (rf"(?:from|between)\s+({_COUNT})\s+(?:to|and"
         rf"|through)\s+({_COUNT})(?:,?\s*inclusive)?", "range"),
        (rf"({_INT})\s*(<|\\le)\s*[a-z]\s*(<|\\le)\s*({_INT})", "chain"),
        (rf"{_LETTER}\s*(?:\\ge)\s*({_INT})|(?:greater|larger"
         rf"|more)\s+than\s+or\s+equal\s+to\s+({_COUNT})|at\s+least\s+({_COUNT})"
         rf"|\\ge\s*({_INT})", "ge"),
        (rf"{_LETTER}\s*(?:\\le)\s*({_INT})|(?:less|smaller"
         rf"|fewer)\s+than\s+or\s+equal\s+to\s+({_COUNT})"
         rf"|(?:at\s+most|up\s+to|not\s+exceeding|not\s+greater\s+than"
         rf"|no\s+more\s+than)\s+({_COUNT})|\\le\s*({_INT})", "le"),
        (rf"{_LETTER}\s*>\s*({_INT})|(?:greater|larger|more|bigger)\s+than\s+({_COUNT})"
         rf"|above\s+({_COUNT})|>\s*({_INT})", "gt"),
        (rf"{_LETTER}\s*<\s*({_INT})|(?:less|smaller|fewer)\s+than\s+({_COUNT})|(?:below"
         rf"|under)\s+({_COUNT})|<\s*({_INT})", "lt"),
        (rf"{_LETTER}\s*\\ne\s*({_INT})|(?:except|other\s+than|excluding"
         rf"|besides)(?:\s+for)?\s+(?:[a-z]\s*=\s*)?({_COUNT})(?!\s*[\w^])"
         rf"|not\s+equal\s+to\s+({_COUNT})", "ne"),
        (r"(?:except|other\s+than|excluding|but\s+not|that\s+(?:are|is)\s+not"
         r"|which\s+(?:are|is)\s+not)(?=\s+(?:an?\s+|the\s+|perfect\s+)*(?:powers?"
         r"|multiples?|squares?|cubes?|primes?|odd|even|divis))", "except"),
        (r"(?:positive|natural)\s+(?:(?:and|,)\s+)?(?=(?:odd|even|prime|perfect|composite"
         r"|single|two|multiples?|powers?)\b)", "N"),
        (r"(?:positive\s+(?:integers?|whole\s+numbers?|numbers?)|natural\s+numbers?"
         r"|naturals?)(?![A-Za-z])", "N"),
        (r"non-?negative\s+(?:integers?|whole\s+numbers?|numbers?)|whole\s+numbers?", "N0"),
        (r"(?:[a-z]\s*\\in\s*)?\\mathbb\{(?:Z|N)\}\s*(?:\^\s*\{?\s*[+*]\s*\}?"
         r"|_\s*\{?\s*(?:>\s*0|\\ge\s*1|\+)\s*\}?)", "N"),
        (r"(?:[a-z]\s*\\in\s*)?\\mathbb\{Z\}\s*_\s*\{?\s*\\ge\s*0\s*\}?"
         r"|(?:[a-z]\s*\\in\s*)?\\mathbb\{N\}\s*_\s*\{?\s*0\s*\}?", "N0"),
        (r"(?:[a-z]\s*\\in\s*)?\\mathbb\{N\}", "N"),
        (r"(\d{1,4})\s*\\mathbb\{Z\}", "multiples"),
        (r"(?:[a-z]\s*\\in\s*)?\\mathbb\{Z\}|integers?(?![A-Za-z])", "Z"),
        (rf"first\s+({_COUNT})(?=\s)", "first"),
        (r"(?:all|every|any|each|the|those|these|this|exactly|only|precisely|just|an?|is"
         r"|are|be|being|must|where|such|which|that|with|for"
         r"|values?|sets?|of|numbers?|in|inclusive|if|iff|when|works?|greater\s+zero"
         r"|whose|they|it)(?![A-Za-z])", ""),
        (rf"{_LETTER}", ""),
        (r"[\s:|.()]+", ""),
    )
)  # fmt: skip
_STATING = frozenset(word_list("residue multiple power divisor square cube prime"
                               " composite parity triangular digits Z N N0 multiples"))  # fmt: skip
_WHOLE = frozenset("abcdjkmnpqrsN")  # letters for whole numbers where nothing else is said
_BOUNDS = frozenset(["ge", "gt", "le", "lt"])
_SEPARATOR = re.compile(r"\s*(?:,\s*(?:and|or|but)?|;|\band\b|\bor\b|\bbut\b)\s*", re.I)
_BUILDER = re.compile(
    r"\\\{\s*(?P<head>[^|:{}]{1,60}(?:\{[^{}]*\}[^|:{}]*){0,4}?)\s*(?:\\mid|\|"
    r"|:)\s*(?P<rest>.+?)\s*\\\}"
)
_MEMBER = re.compile(r"(?P<name>[a-z])\s*(?:\\in\s*(?P<set>\\mathbb\{[ZN]\}\S*))?")
_FORM = re.compile(
    r"(?:(?:numbers?|integers?|those|everything"
    r"|primes?)?\s*of\s+the\s+form\s+)?(?:(?P<name>[a-z])\s*=\s*)?"
    r"(?P<text>(?:\d|\\cdot|\\times|\\frac|[-+*/^(){}\s]|(?<![A-Za-z\\])[a-z](?![A-Za-z]))+)"
)
_OF_THE_FORM = re.compile(r"\bof\s+the\s+form\b", re.I)
_INTEGER_NOUN = (
    r"(?P<sort>positive|non-?negative|natural|nonzero|any|some|all|every|an?"
    r"|whole)?\s*(?P<real>real)?"
    r"\s*(?:(?P<sort2>positive|non-?negative|natural)\s+)?(?:integers?|whole\s+numbers?"
    r"|numbers?|naturals?)"
)
_RANGE_OF_LETTER = re.compile(  # at the end: `, k \ge 0`, ` for some nonnegative integer m`
    r"[\s,;:|(]*(?:(?:where|for|with|and)\s+)?(?:(?:any|all|some|every|each)\s+)?"
    r"(?:(?P<a>[a-z])\s*\\in\s*(?P<set>\\mathbb\{[ZN]\}\s*(?:\^\s*\{?\s*[+*]\s*\}?"
    r"|_\s*\{?\s*(?:\\ge\s*[01]|>\s*0|[0+])\s*\}?)?)"
    rf"|(?P<b>[a-z])\s*(?P<op>\\ge|>)\s*(?P<low>{_INT})"
    rf"|(?P<low2>{_INT})\s*(?P<op1>\\le|<)\s*(?P<c>[a-z])\s*(?P<op2>\\le|<)\s*(?P<high>{_INT})"
    rf"|(?P<d>[a-z])\s*=\s*(?P<items>{_INT}(?:\s*,\s*{_INT})*)\s*(?:,\s*(?P<dots>\\ldots"
    rf"|\.\.\.)\s*,?\s*(?P<end>{_INT})?)?"
    rf"|{_INTEGER_NOUN}\s+(?P<e>[a-z])"
    rf"|(?P<f>[a-z])\s+(?:is"
    rf"\s+)?{_INTEGER_NOUN.replace('sort', 'kind').replace('<real>', '<unreal>')})"
    r"(?:\s*(?P<op3>\\ge|>)\s*(?P<low3>\d{1,4}))?[\s).]*$"
)  # fmt: skip


def read_integer_set(text: str) -> IntegerSet | None:
    """Return the whole numbers that a normalised text describes; None for anything else."""
    text = " ".join(strip_marks(text).replace(r"\,", " ").split()).strip(" .")
    if not text or len(text) > MAX_CHARS:
        return None
    if (listed := _read_list(text)) is not None:
        return IntegerSet((listed,), stated=bool(listed.more))
    if m := _BUILDER.fullmatch(text):
        return _read_builder(m["head"].strip(), m["rest"].strip())
    return _read_forms(text) or _read_conditions(text)


def _read_builder(head: str, rest: str) -> IntegerSet | None:
    member = _MEMBER.fullmatch(head)
    if member is None:
        return _read_forms(f"{head}, {rest}")
    found = _read_conditions(rest, bool(member["set"]))
    if found is None or member["set"] is None:
        return found
    domain = read_integer_set(member["set"])
    return replace(found, domain=domain.domain, stated=True) if domain else None


def only_bounds(found: IntegerSet) -> bool:
    """Return whether a set is nothing but bounds, as `2 < k \\le 6`: a set of real numbers, too."""
    return all(isinstance(p, tuple) and {a.kind for a in p} <= _BOUNDS for p in found.parts)


# -- forms ---------------------------------------------------------------------------


def _read_forms(text: str) -> IntegerSet | None:
    """Read `n = 4k or n = 4k+1, k \\in \\mathbb{Z}`; None unless every part is such a form."""
    limits = _RANGE_OF_LETTER.search(text)
    letter = ""
    if limits and limits.start():
        letter = next((limits[g] for g in "abcdef" if limits[g]), "")
        if limits["real"] or limits["unreal"]:
            return None
        body = text[: limits.start()]
    else:
        limits, body = None, text
    prime = re.search(r",?\s*(?:an?\s+|is\s+)?primes?\s*$", body) or re.match(
        r"(?:all\s+|the\s+)?primes?(?:\s+numbers?)?\s+(?:[a-z]\s+)?(?=(?:of\s+the\s+form"
        r"|[a-z]\s*=))",
        body,
    )
    if prime:
        body = (body[: prime.start()] + body[prime.end() :]).strip(" ,")
    body = re.sub(
        r"^(?:all|the|every|any)\s+(?=(?:numbers|integers)\s)|^of\s+the\s+form\s+", "", body
    )
    parts = [p for p in re.split(r"\s*(?:,|;|\bor\b|\band\b)\s*", body) if p]
    found: list[Part] = []
    names = set()
    formed = bool(limits) or bool(_OF_THE_FORM.search(body))
    for part in parts:
        m = _FORM.fullmatch(part)
        if m is None:
            return None
        expression = m["text"].strip()
        if re.fullmatch(_INT, expression) and m["name"]:
            found.append(Listed((int(expression),)))
            continue
        letters = set(re.findall(r"(?<![A-Za-z\\])[a-z]", expression))
        if len(letters) != 1 or m["name"] in letters or (letter and letters != {letter}):
            return None
        if expression.count("(") != expression.count(")"):
            return None
        names.add(m["name"])
        (own,) = letters
        found.append(_with_range(Form(expression, own), limits))
    letters = {p.letter for p in found if isinstance(p, Form)}
    if not letters or len(names) > 1 or not (formed or names & _WHOLE or letters <= set("knm")):
        return None
    whole = IntegerSet(tuple(found), stated=formed)
    return replace(whole, domain="prime", stated=True) if prime else whole


def _with_range(form: Form, limits: re.Match[str] | None) -> Form:
    """Return a form with the range that a text gives to its letter."""
    if limits is None:
        return form
    low: int | str | None = None
    high: int | None = None
    if limits["set"]:
        low = _lowest_of(limits["set"])
    elif limits["low"]:
        low = int(limits["low"]) + (limits["op"] == ">")
    elif limits["low2"]:
        low = int(limits["low2"]) + (limits["op1"] == "<")
        high = int(limits["high"]) - (limits["op2"] == "<")
    elif limits["items"]:
        numbers = [int(t) for t in limits["items"].split(",")]
        low, high = numbers[0], numbers[-1]
        if limits["dots"]:
            high = int(limits["end"]) if limits["end"] else None
    else:
        sort = " ".join(limits[g] or "" for g in ("sort", "sort2", "kind", "kind2")).lower()
        low = (
            1
            if "positive" in sort
            else 0
            if "neg" in sort
            else "0 or 1"
            if "natural" in sort
            else None
        )
    if limits["low3"]:
        low = int(limits["low3"]) + (limits["op3"] == ">")
    return replace(form, low=low, high=high)


def _lowest_of(text: str) -> int | str | None:
    if re.search(r"\+|\*|>|\\ge\s*1", text):
        return 1
    if re.search(r"0", text):
        return 0
    return "0 or 1" if "N" in text else None


# -- lists ---------------------------------------------------------------------------

_DOTS = r"(?:\\ldots|\.\.\.|\u2026)"
_ITEM = rf"(?:(?:\\pm|\+-)\s*\d{{1,{MAX_DIGITS}}}|{_INT})"
_LIST = re.compile(
    rf"(?:[a-z]\s*(?:=|\\in)\s*)?(?:\\\{{|\[)?\s*(?P<before>{_DOTS}\s*,)?\s*(?P<items>{_ITEM}(?:\s*(?:,\s*(?:and\s+)?|\band\b)\s*{_ITEM})*)"
    rf"\s*(?P<dots>,\s*{_DOTS}\s*,?\s*(?P<last>{_INT}(?:\s*,\s*{_INT})?)?)?\s*(?:\\\}}|\])?"
)


def _read_list(text: str) -> Listed | None:
    m = _LIST.fullmatch(text)
    if m is None or not re.search(r"[,{]|and", text):
        return None
    numbers: list[int] = []
    for item in re.findall(_ITEM, m["items"]):
        value = int(
            re.sub(r"[^\d-]", "", item)
            if "pm" not in item and "+-" not in item
            else re.sub(r"\D", "", item)
        )
        numbers += [-value, value] if "pm" in item or "+-" in item else [value]
    if m["last"]:
        ends = [int(t) for t in m["last"].split(",")]
        step = numbers[1] - numbers[0] if len(numbers) > 1 else 1
        regular = all(b - a == step for a, b in itertools.pairwise(numbers))
        if (
            not regular
            or step <= 0
            or (ends[-1] - numbers[0]) % step
            or ends[-1] - numbers[0] > 2000
        ):
            return None
        return Listed(tuple(range(numbers[0], ends[-1] + 1, step)))
    more = ("<" if m["before"] else "") + (">" if m["dots"] else "")
    return Listed(tuple(numbers), more)


# -- conditions ------------------------------------------------------------------------


def _read_conditions(text: str, whole: bool = False) -> IntegerSet | None:
    """Read atoms that hold together; *or*, and a comma between two sets, begin an alternative.

    A text that only has bounds counts for letters that stand for whole numbers, or with `whole`.
    """
    groups: list[list[Atom]] = [[]]
    domain, first, stated, negate = "", 0, False, False
    at, joined = 0, ""
    while at < len(text):
        separator = _SEPARATOR.match(text, at)
        if separator and separator[0].strip():
            joined = separator[0].strip().lower()
            if "or" in joined:
                groups.append([])
            at = separator.end()
            continue
        found = next(((m, k) for p, k in _ATOMS if (m := p.match(text, at)) and m.end() > at), None)
        if found is None:
            equals = re.compile(rf"(?:{_LETTER})?\s*=\s*({_INT})(?!\d)").match(text, at)
            if equals is None:
                return None
            at = equals.end()
            if groups[-1]:
                groups.append([])
            groups[-1].append(Atom("is", (int(equals[1]),)))
            groups.append([])
            continue
        m, kind = found
        at = m.end()
        stated |= kind in _STATING
        if kind in ("Z", "N", "N0"):
            domain = kind if domain != "N" else domain
        elif kind == "first":
            first = _number(m[1])
        elif kind == "except":
            negate = True
        elif kind:
            atoms = _atoms_of(kind, m)
            if atoms is None:
                return None
            if negate:
                atoms, negate = [replace(a, negated=True) for a in atoms], False
            if joined and groups[-1] and groups[-1][0].kind == "is":
                groups.append([])
            groups[-1] += atoms
            joined = ""
    if domain == "N" and any(a == Atom("ge", (0,)) for g in groups for a in g):
        domain = "N0"
    parts = tuple(tuple(g) for g in groups if g)
    stated |= bool(re.match(r"(?:all|every|any)\s+[nkmpq]\b", text, re.I))
    letters = set(re.findall(_LETTER, text))
    bounded = len(letters) < 2 and letters <= _WHOLE
    if not (stated or whole or bounded) or not (parts or domain):
        return None
    return IntegerSet(parts or ((),), domain, stated, first)


def _atoms_of(kind: str, m: re.Match[str]) -> list[Atom] | None:
    negated = bool(m.groupdict().get("no"))
    given = [g for i, g in enumerate(m.groups(), 1) if g and g != m.groupdict().get("no")]
    if kind == "residue":
        residues = [int(t) for t in re.findall(r"-?\d+", given[0])]
        modulus = int(given[1])
        return [Atom(kind, (modulus, *residues), negated)] if modulus else None
    if kind == "parity":
        return [Atom("residue", _TESTS[given[0].lower()], negated)]
    if kind == "multiples":
        return [Atom("multiple", (_number(given[0]),))]
    if kind == "digits":
        count = {"one": 1, "single": 1, "two": 2, "three": 3}.get(given[0].lower()) or int(given[0])
        return [Atom("ge", (10 ** (count - 1),)), Atom("le", (10**count - 1,))]
    if kind == "range":
        return [Atom("ge", (_number(given[0]),)), Atom("le", (_number(given[1]),))]
    if kind == "chain":
        low, first, second, high = given
        return [
            Atom("gt" if first == "<" else "ge", (int(low),)),
            Atom("lt" if second == "<" else "le", (int(high),)),
        ]
    args = tuple(_number(g) for g in given)
    if kind in ("multiple", "power", "divisor") and args[0] < 1:
        return None
    return [Atom(kind, args, negated)]


def _number(text: str) -> int:
    digits = text if re.fullmatch(_INT, text) else read_number_words(text) or "0"
    return int(digits) if text.lower() not in FRACTION_WORDS and digits.lstrip("-").isdigit() else 0
