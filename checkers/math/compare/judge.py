"""Decide whether two answers are the same, and why not. Runs in a worker, under its limits.

normalise ─▶ equal text ─▶ choice letters ─▶ words ─▶ read into structures ─▶ Comparer ─▶ verdict
                                                                └▶ unreadable: rejected

A rejected answer is different only when all of both is read: the words of `Words` are a known
meaning or single words, and each expression parses.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from gradebox.checkers.math.compare import real_sets, words
from gradebox.checkers.math.compare.comparer import Comparer
from gradebox.checkers.math.compare.equations import is_assignment
from gradebox.checkers.math.compare.exact import harness_form, has_float
from gradebox.checkers.math.compare.numeric import Undecided
from gradebox.checkers.math.compare.rounding import Roundings
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.normalise import normalise
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.split import split_top, without_aside
from gradebox.checkers.math.read.tables import MAX_CHARS, plain_words, strip_marks
from gradebox.checkers.math.read.values import (
    ParseError,
    Quantity,
    RealSet,
    Relation,
    Rounded,
    Seq,
    Value,
    Words,
)

_DECIMAL_COMMA = re.compile(r"([-+]?(?:0|\d+(?!,\d{3}(?!\d)))),(\d+)([^\d,]*)")
_LONG_DECIMAL_COMMA = re.compile(  # not `2,5`, which is a list
    r"[-+]?(?:0,\d|\d+,(?!\d{3}(?!\d))\d\d)"
)
_DECIMAL = re.compile(r"[-+＄€£]?\s?\d*\.\d+(?!\d)[^\d]*$")
_BASED = re.compile(r"([0-9A-Z]{2,40})\s*_\s*\{?\s*(\d{1,2})\s*\}?")
_SPELLINGS = re.compile(r"\\?#\s?\\?#")  # between the spellings of a gold: `\frac{3}{10} ## 0.3`
_COMPOUND = re.compile(r"\d{0,2}(?:[A-Z][a-z]?\d{0,2}|[()]\d{0,2})+(?:\^?\d?[+-])?")
_SCALE_LETTER = re.compile(r"([-+]?[＄€£]?\s?\d+(?:\.\d+)?)\s?(k|K|M|B|bn|mn)")
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion"}
_PLAIN_NUMBER = re.compile(r"[-+]?[＄€£]?\s?\d[\d,.]{3,}(?: million| billion)?")
_SEMICOLON = re.compile(r"\s*;\s*")
_LOOSE_SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")  # not between two words or numbers
_AS_WRITTEN = re.compile(  # families, congruences, unit vectors, `x = y = 1`
    r"\\pmod|\\in\s*\\mathbb\{Z\}|(?<![A-Za-z\\])[kn]\s?\\pi|\\pi\s?[kn]\b|^[a-z]\s?=\s?[a-z]\s?="
    r"|(?<![A-Za-z\\])i\}?\s*[-+].{0,200}(?<![A-Za-z\\])[jk](?![A-Za-z])"
)
_FUNCTION = re.compile(r"(?:\by|[A-Za-z]\s?\([a-z]\))\s?=")
_SUM_INDEX = re.compile(r"\\(?:sum|prod)_\{([a-z])=")
_PRELOADED_PAIRS = (
    (r"\sin^2 x+\cos^2 x", "1"),
    (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"),
    (r"[1,2)", r"1 \le x < 2"),
    (r"y=2x+1", r"2x-y+1=0"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)"),
    (r"15\text{ cm}^2", "15"),
    (r"\sqrt{7+4\sqrt{3}}", r"2+\sqrt{3}"),
    ("|x|<3", "(-3,3)"),
    ("x^2>4", "x<-2 or x>2"),
    (r"\frac{x+1}{x-2}\ge 0", r"x\le -1 \text{ or } x>2"),
)


def judge(gold: str, answer: str, policy: Policy) -> tuple[bool, str]:
    """Return (equal, reason); docs/math-answers.md lists the reasons.

    What is equal exactly is equal under `rounded`. Raises nothing for anything in the texts, but
    the worker's limits may end it.
    """
    if policy.rounded:
        found = _judge(gold, answer, replace(policy, rounded=False, rel_tol=0.0, abs_tol=0.0))
        if found[0]:
            return found
    return _judge(gold, answer, policy)


def _judge(gold: str, answer: str, policy: Policy) -> tuple[bool, str]:
    if policy.text_only:
        return harness_form(gold) == harness_form(answer), "text"
    if len(gold) > MAX_CHARS or len(answer) > MAX_CHARS:
        return gold.strip() == answer.strip(), "too long to read"
    if len(spellings := _SPELLINGS.split(gold)) > 1:
        found = [_judge(spelling.strip(" $"), answer, policy) for spelling in spellings]
        return next((verdict for verdict in found if verdict[0]), found[0])
    left, right = normalise(without_aside(gold)), normalise(without_aside(answer))
    if not left or not right:
        return False, "empty"
    if _spelled(left) == _spelled(right):
        return True, "text"
    letters = words.compare_choices(left, right)
    if letters is not None:
        return letters, "choice"
    if _same_words(left, right) or _same_compound(left, right):
        return True, "text"
    try:
        return _judge_values(*_alike(left, right), policy)
    except Undecided:
        return False, "undecided"
    except (AttributeError, TypeError, NotImplementedError):
        return False, "not comparable: the answers are of different kinds"
    except (ValueError, OverflowError) as e:  # OverflowError: a float of more than 300 digits
        if isinstance(read_answer(left), Words) and isinstance(read_answer(right), Words):
            return False, "text"
        why = e if isinstance(e, ParseError) else f"{type(e).__name__}: {e}"
        return False, f"not read{of_sides(unread_sides(left, right))}: {why}"


def _spelled(text: str) -> str:
    """Return a text without the spaces that say nothing, and with k as the index of its sum."""
    text = _LOOSE_SPACE.sub("", text).replace(r"{\infty}", r"\infty")
    if "\\" in text:
        text = re.sub(r"(?<!\d)\s+(?=\d)|(?<=\d)\s+(?!\d)", "", text)
    for index in set(_SUM_INDEX.findall(text)):
        text = re.sub(rf"(?<![A-Za-z\\]){index}(?![A-Za-z])", "k", text)
    return text


def _alike(left: str, right: str) -> tuple[str, str]:
    """Return two normalised answers, each in the notation of the other where it may be so."""
    left, right = words.without_label(left, right), words.without_label(right, left)
    right = _with_base(left, _with_decimal_point(right, left))
    if _LONG_DECIMAL_COMMA.match(left):
        left = _with_decimal_point(left, right)
    return _with_scale(left, right), _with_scale(right, left)


def _judge_values(left: str, right: str, policy: Policy) -> tuple[bool, str]:
    comparer = Comparer(
        policy,
        has_float(left) or has_float(right),
        ordered=_has_blanks(left),
        roundings=Roundings(left, right, policy.rounded),
        functions=bool(_FUNCTION.search(left)),
    )
    equal = comparer.equal(read_answer(left), read_answer(right))
    return equal, "value" if equal else reason_of_reject(left, right, comparer.equal)


def readings(gold: str, answer: str) -> tuple[str, str]:
    """Return how the two answers are read, for people."""
    left, right = (normalise(text[:MAX_CHARS]) for text in (gold, answer))
    left, right = words.without_label(left, right), words.without_label(right, left)
    return describe(read_answer(left)), describe(read_answer(right))


def preload() -> None:
    """Fill SymPy's caches with what most pairs need, before workers are forked."""
    strict = get_policy("strict")
    for gold, answer in _PRELOADED_PAIRS:
        if not judge(gold, answer, strict)[0]:
            raise RuntimeError(f"the judge finds {gold!r} and {answer!r} different: they are equal")


def _same_words(left: str, right: str) -> bool:
    """Return whether texts or single letters differ only in case, punctuation and articles."""
    a, b = plain_words(left), plain_words(right)
    one, other = (words.without_label(*pair) for pair in ((left, right), (right, left)))
    if (
        words.is_worded(one)
        and words.is_worded(other)
        and words.same_words(plain_words(one), plain_words(other))
    ):
        return True
    if a != b or re.search(r"[\\^_=\[(<>*/]", left):
        return False
    if re.search(r"[a-z]{4}", a):
        return True
    return bool(re.fullmatch(r"[a-z ]+", a)) and not re.search(r"[!'|,]", left + right)


def _same_compound(left: str, right: str) -> bool:
    """Return whether `H_2SO_4` and `H2SO4` are one chemical formula."""
    a, b = (re.sub(r"[\s_{}^]", "", strip_marks(t, "")) for t in (left, right))
    return a == b and bool(re.search(r"[A-Z][a-z]?\d", a)) and _COMPOUND.fullmatch(a) is not None


def _with_decimal_point(one: str, other: str) -> str:
    """Return `2.74 €` for `2,74 €` when the other side is one decimal number."""
    m = _DECIMAL_COMMA.fullmatch(re.sub(r"^[a-z]\s*=\s*", "", one))
    return f"{m[1]}.{m[2]}{m[3]}" if m and _DECIMAL.match(other) and "," not in other else one


def _with_scale(one: str, other: str) -> str:
    """Return `70 thousand` for `70k` when the other side is a number."""
    m = _SCALE_LETTER.fullmatch(one) if _PLAIN_NUMBER.fullmatch(other) else None
    return f"{m[1]} {_SCALES[m[2].lower()]}" if m else one


def _with_base(gold: str, answer: str) -> str:
    """Return the answer with the base of the reference answer when its digits are the same."""
    m = _BASED.fullmatch(gold)
    if m is None or any(int(digit, 36) >= int(m[2]) for digit in m[1]):
        return answer
    return gold if re.sub(r"\s", "", answer).upper() == m[1] else answer


def _has_blanks(gold: str) -> bool:
    """Return whether a reference answer fills several blanks: `1;\\frac{11}{20}`."""
    parts, separators = split_top(gold, _SEMICOLON)
    return bool(separators) and all(parts) and not any(re.search("[=:,]", p) for p in parts)


# ---- how an answer was read, and why a pair is rejected ----

MAX_NAME_WORDS = 3  # of `area of ABC = 5`; more are a sentence


def describe(value: Value) -> str:
    """Return a structure in words; an expression as SymPy writes it, or why it is not read."""
    match value:
        case Quantity():
            signs = " percent" * value.percent + " degrees" * value.degree
            return _expression(value.text) + signs + (f", unit {value.unit}" if value.unit else "")
        case Words():
            return f"words {value.text!r}"
        case Seq():
            kind = f"list in {value.kind}" if value.kind else "alternatives" * value.joined_by_or
            items = "; ".join(map(describe, value.items))
            return f"{value.unknown}{' in ' * bool(value.unknown)}{kind or 'list'}: {items}"
        case RealSet():
            unknown = f"{value.unknown} in " if value.unknown else ""
            return unknown + str(real_sets.real_set_to_sympy(value))
        case Relation():
            sides = [_expression(s) for s in value.sides]
            rest = zip(value.ops, sides[1:], strict=True)
            return sides[0] + "".join(f" {op} {side}" for op, side in rest)
        case Rounded():
            return f"{describe(value.value)}, rounded {value.decimal.text}"


def _expression(text: str) -> str:
    try:
        return str(parse_expression(text))
    except ParseError as e:
        return f"{text!r} (not read: {e})"
    except ValueError:  # an integer that Python refuses to write in decimal
        return text


def reason_of_reject(left: str, right: str, equal: Callable[[Value, Value], bool]) -> str:
    """Return why two normalised answers that no rule finds equal are rejected.

    equal  compares two of their parts
    """
    choices = words.is_choice(left), words.is_choice(right)
    if all(choices):
        return "value"
    if any(choices):
        return "not comparable: one is a choice letter; give the choices"
    if any(map(_AS_WRITTEN.search, (left, right))):
        return "not comparable: families, unit vectors and chains are compared as they are written"
    if unread := unread_sides(left, right):
        return f"not read{of_sides(unread)}: {next(iter(unread.values()))}"
    gold, answer = read_answer(left), read_answer(right)
    is_equation = isinstance(answer, Relation) and answer.is_equation
    if isinstance(gold, Quantity) and is_equation and equal(gold, read_answer(answer.sides[-1])):  # type: ignore[union-attr]
        return "not comparable: the answer is a condition, and its last side agrees"
    lists = isinstance(gold, Seq) and isinstance(answer, Seq) and gold.kind != answer.kind
    if lists and gold.items == answer.items:  # type: ignore[union-attr]
        return "not comparable: the items agree, and the brackets differ"
    return "value"


def unread_sides(left: str, right: str) -> dict[str, str]:
    """Return why an answer cannot be read in whole, by the answer's name."""
    values = read_answer(left), read_answer(right)
    words = all(isinstance(v, Words) for v in values)
    sides = zip(("gold", "answer"), values, strict=True)
    return {name: why for name, v in sides if (why := next(_unread(v, words), ""))}


def of_sides(sides: dict[str, str]) -> str:
    """Return the names in brackets: ` (gold)`, ` (answer)`, ` (gold and answer)`; "" for none."""
    return f" ({' and '.join(sides)})" if sides else ""


def _unread(value: Value, beside_words: bool) -> Iterator[str]:
    """Yield why each part of a value is not read."""
    match value:
        case Words(text):
            if not words.has_meaning(text) and not (beside_words and words.is_one_word(text)):
                yield f"{text[:80]!r} is prose"
        case Seq():
            for item in value.items:
                yield from _unread(item, all(isinstance(i, Words) for i in value.items))
        case Relation():
            is_named = is_assignment(value) and len(value.sides[0].split()) <= MAX_NAME_WORDS
            first = len(value.sides) - 1 if is_named else 0
            yield from _unparsed(*value.sides[first:])
        case Rounded():
            yield from _unread(value.value, False)
        case RealSet():
            for interval in (*value.intervals, *value.excluded_intervals):
                yield from _unparsed(interval.low, interval.high)
            yield from _unparsed(*value.points, *value.excluded_points)
        case Quantity(text):
            yield from _unparsed(text)


def _unparsed(*texts: str) -> Iterator[str]:
    for text in texts:
        try:
            parse_expression(strip_marks(text))
        except ParseError as e:
            yield str(e)
