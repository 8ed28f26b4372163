"""Read sets of whole numbers: *all odd n*, `n \\equiv 0, 1 \\pmod 4`, `n = 2^k, k \\ge 0`.

set      := part (("or" | "," | "and") part)*      an alternative each, or conditions on one number
part     := form | list | atom+                    `2k+1`; `1, 2, 4, \\ldots`; *odd primes below 20*
form     := [letter "="] expression [range of its letter]
atom     := noun | adjective | bound | congruence | divisibility, see ATOMS

Nothing is evaluated: members.py does that.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, replace

from gradebox.checkers.math.normalise.tables import strip_marks
from gradebox.checkers.math.statements.integer_atoms import (
    ATOMS,
    INT,
    LETTER_ALONE,
    MAX_DIGITS,
    STATING,
    Atom,
    atoms_of,
    read_count,
)

MAX_CHARS = 240


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


_BEFORE_PRIMES = re.compile(
    r"(?:[pq]\s*=\s*)?(?:\d{1,3}\s*(?:,\s*(?:and\s+|or\s+)?|and\s+|or\s+)(?:(?:all|any|the)\s+)?)+(?=primes?\b)",
    re.I,
)
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
    rf"|(?P<b>[a-z])\s*(?P<op>\\ge|>)\s*(?P<low>{INT})"
    rf"|(?P<low2>{INT})\s*(?P<op1>\\le|<)\s*(?P<c>[a-z])\s*(?P<op2>\\le|<)\s*(?P<high>{INT})"
    rf"|(?P<d>[a-z])\s*=\s*(?P<items>{INT}(?:\s*,\s*{INT})*)\s*(?:,\s*(?P<dots>\\ldots"
    rf"|\.\.\.)\s*,?\s*(?P<end>{INT})?)?"
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
    if before := _BEFORE_PRIMES.match(text):  # `2 and all primes of the form 4k+1`
        rest = read_integer_set(text[before.end() :])
        numbers = Listed(tuple(map(int, re.findall(r"\d+", before[0]))))
        return replace(rest, parts=(numbers, *rest.parts)) if rest else None
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
    if prime and re.search(r"\bor\s+[a-z]$", body[: prime.start()].strip()):
        return None  # `n = 1 or n is prime`
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
        if re.fullmatch(INT, expression) and m["name"]:
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
_ITEM = rf"(?:(?:\\pm|\+-)\s*\d{{1,{MAX_DIGITS}}}|{INT})"
_LIST = re.compile(
    rf"(?:[a-z]\s*(?:=|\\in)\s*)?(?:\\\{{|\[)?\s*(?P<before>{_DOTS}\s*,)?\s*(?P<items>{_ITEM}(?:\s*(?:,\s*(?:and\s+)?|\band\b)\s*{_ITEM})*)"
    rf"\s*(?P<dots>,\s*{_DOTS}\s*,?\s*(?P<last>{INT}(?:\s*,\s*{INT})?)?)?\s*(?:\\\}}|\])?"
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
        found = next(((m, k) for p, k in ATOMS if (m := p.match(text, at)) and m.end() > at), None)
        if found is None:
            equals = re.compile(rf"(?:{LETTER_ALONE})?\s*=\s*({INT})(?!\d)").match(text, at)
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
        stated |= kind in STATING
        if kind in ("Z", "N", "N0"):
            domain = kind if domain != "N" else domain
        elif kind == "first":
            first = read_count(m[1])
        elif kind == "except":
            negate = True
        elif kind:
            atoms = atoms_of(kind, m)
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
    letters = set(re.findall(LETTER_ALONE, text))
    bounded = len(letters) < 2 and letters <= _WHOLE
    if not (stated or whole or bounded) or not (parts or domain):
        return None
    return IntegerSet(parts or ((),), domain, stated, first)
