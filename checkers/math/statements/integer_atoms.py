"""The conditions on whole numbers, as a table: *odd*, *divisible by 3*, `\\equiv 1 \\pmod 4`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gradebox.checkers.math.normalise.number_words import FRACTION_WORDS, read_number_words
from gradebox.checkers.math.normalise.tables import word_list

MAX_DIGITS = 4


@dataclass(frozen=True)
class Atom:
    """A property of a whole number, such as ("multiple", 3); `negated` for *not divisible by 3*."""

    kind: str
    args: tuple[int, ...] = ()
    negated: bool = False


INT = rf"-?\d{{1,{MAX_DIGITS}}}"
_WORD_NUMBER = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|hundred"
)
_COUNT = rf"(?:{INT}|{_WORD_NUMBER})"
_MOD = r"\(?\s*(?:\\pmod|\\bmod|\\mod|mod(?:ulo)?)\s*\{?\s*(\d{1,4})\s*\}?\s*\)?"
_RESIDUES = rf"({INT}(?:\s*(?:,\s*(?:or|and)?|or|and)\s*{INT})*)"
LETTER_ALONE = r"(?<![A-Za-z\\])[a-z](?![A-Za-z])"
_TESTS = {"odd": (2, 1), "even": (2, 0)}

# what a condition looks like → its Atom, or "" for words without a meaning of their own
ATOMS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), kind)
    for pattern, kind in (
        (rf"(?:{LETTER_ALONE})?\s*(?P<no>\\not\s*=|\\ne|\\not\s*\\equiv|not\s+congruent\s+to"
         rf"|is\s+not\s+congruent\s+to)"
         rf"\s*{_RESIDUES}\s*{_MOD}", "residue"),
        (rf"(?:{LETTER_ALONE})?\s*(?:(?:is|are)\s+)?(?:=|congruent\s+to|equal\s+to"
         rf"|\\equiv)?\s*{_RESIDUES}\s*{_MOD}", "residue"),
        (rf"(?:that\s+|which\s+|when\s+divided\s+by\s+\d+\s+)?leav(?:es?"
         rf"|ing)\s+(?:an?\s+)?remainder\s+(?:of\s+)?{_RESIDUES}"
         r"\s+(?:when|on|upon|after)\s+(?:being\s+)?(?:divided|division)\s+by\s+(\d{1,4})",
         "residue"),
        (r"(?:with|having)\s+(?:an?\s+)?remainder\s+(?:of\s+)?" + _RESIDUES
         + r"\s+(?:when|on|upon)\s+(?:divided|division)\s+by\s+(\d{1,4})", "residue"),
        (rf"(?:{LETTER_ALONE}\s*)?(?P<no>(?:is|are)\s+not\s+|not\s+)?(?:(?:is"
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
        (rf"({INT})\s*(<|\\le)\s*[a-z]\s*(<|\\le)\s*({INT})", "chain"),
        (rf"{LETTER_ALONE}\s*(?:\\ge)\s*({INT})|(?:greater|larger"
         rf"|more)\s+than\s+or\s+equal\s+to\s+({_COUNT})|at\s+least\s+({_COUNT})"
         rf"|\\ge\s*({INT})", "ge"),
        (rf"{LETTER_ALONE}\s*(?:\\le)\s*({INT})|(?:less|smaller"
         rf"|fewer)\s+than\s+or\s+equal\s+to\s+({_COUNT})"
         rf"|(?:at\s+most|up\s+to|not\s+exceeding|not\s+greater\s+than"
         rf"|no\s+more\s+than)\s+({_COUNT})|\\le\s*({INT})", "le"),
        (rf"{LETTER_ALONE}\s*>\s*({INT})|(?:greater|larger|more|bigger)\s+than\s+({_COUNT})"
         rf"|above\s+({_COUNT})|>\s*({INT})", "gt"),
        (rf"{LETTER_ALONE}\s*<\s*({INT})|(?:less|smaller|fewer)\s+than\s+({_COUNT})|(?:below"
         rf"|under)\s+({_COUNT})|<\s*({INT})", "lt"),
        (rf"{LETTER_ALONE}\s*\\ne\s*({INT})|(?:except|other\s+than|excluding"
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
        (rf"{LETTER_ALONE}", ""),
        (r"[\s:|.()]+", ""),
    )
)  # fmt: skip
STATING = frozenset(word_list("residue multiple power divisor square cube prime"
                               " composite parity triangular digits Z N N0 multiples"))  # fmt: skip


def atoms_of(kind: str, m: re.Match[str]) -> list[Atom] | None:
    negated = bool(m.groupdict().get("no"))
    given = [g for i, g in enumerate(m.groups(), 1) if g and g != m.groupdict().get("no")]
    if kind == "residue":
        residues = [int(t) for t in re.findall(r"-?\d+", given[0])]
        modulus = int(given[1])
        return [Atom(kind, (modulus, *residues), negated)] if modulus else None
    if kind == "parity":
        return [Atom("residue", _TESTS[given[0].lower()], negated)]
    if kind == "multiples":
        return [Atom("multiple", (read_count(given[0]),))]
    if kind == "digits":
        count = {"one": 1, "single": 1, "two": 2, "three": 3}.get(given[0].lower()) or int(given[0])
        return [Atom("ge", (10 ** (count - 1),)), Atom("le", (10**count - 1,))]
    if kind == "range":
        return [Atom("ge", (read_count(given[0]),)), Atom("le", (read_count(given[1]),))]
    if kind == "chain":
        low, first, second, high = given
        return [
            Atom("gt" if first == "<" else "ge", (int(low),)),
            Atom("lt" if second == "<" else "le", (int(high),)),
        ]
    args = tuple(read_count(g) for g in given)
    if kind in ("multiple", "power", "divisor") and args[0] < 1:
        return None
    return [Atom(kind, args, negated)]


def read_count(text: str) -> int:
    digits = text if re.fullmatch(INT, text) else read_number_words(text) or "0"
    return int(digits) if text.lower() not in FRACTION_WORDS and digits.lstrip("-").isdigit() else 0
