"""Write how an answer was read, for people, and why a pair is rejected.

`(1, 2)` is described as `tuple of 1; 2`. A rejected answer is different only when all of both is
read: the words of `Words` are a known meaning or single words, each expression parses, and the
sides of an equation agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from gradebox.checkers.math.compare.equations import chain_holds, is_assignment
from gradebox.checkers.math.compare.words import has_meaning, is_choice, is_one_word, items_of
from gradebox.checkers.math.read.expressions.parser import parse_expression
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.values import (
    DateOrTime,
    Family,
    Interval,
    ParseError,
    Quantity,
    Ratio,
    RealSet,
    Relation,
    Rounded,
    Seq,
    Value,
    Words,
)

MAX_CHARS = 400  # of a description
DIFFERENT = "value"
MAX_NAME_WORDS = 3  # of `area of ABC = 5`; more are a sentence
_KINDS = {
    "": "list",
    "()": "tuple",
    "[]": "list in []",
    "(]": "list in (]",
    "[)": "list in [)",
    "{}": "set",
    "<>": "vector",
}


def describe(value: Value) -> str:
    """Return a structure in words; an expression as SymPy writes it, or why it is not read."""
    text = _describe(value)
    return text if len(text) <= MAX_CHARS else text[: MAX_CHARS - 1] + "…"


def _describe(value: Value) -> str:
    match value:
        case Quantity():
            signs = " percent" * value.percent + " degrees" * value.degree
            return _expression(value.text) + signs + (f", unit {value.unit}" if value.unit else "")
        case Words():
            return f"words {value.text!r}"
        case Seq():
            of = f"{value.unknown} in " if value.unknown else ""
            alternatives = " of alternatives" if value.joined_by_or else " of"
            return (
                f"{of}{_KINDS[value.kind]}{alternatives} {'; '.join(map(_describe, value.items))}"
            )
        case RealSet():
            return _real_set(value)
        case Relation():
            sides = [_expression(s) for s in value.sides]
            ops = ("=" if op == "=" else op for op in value.ops)
            return sides[0] + "".join(
                f" {op} {side}" for op, side in zip(ops, sides[1:], strict=True)
            )
        case Ratio():
            return "ratio " + " : ".join(map(_expression, value.parts))
        case DateOrTime():
            return f"{value.kind} {value.fields}"
        case Family():
            terms = "; ".join(map(_expression, value.terms))
            return f"{value.unknown + ' in ' if value.unknown else ''}family {terms}, k an integer"
        case Rounded():
            return f"{_describe(value.value)}, rounded {value.decimal.text}"


def _expression(text: str) -> str:
    try:
        return str(parse_expression(text))
    except ParseError as e:
        return f"{text!r} (not read: {e})"
    except ValueError:  # an integer that Python refuses to write in decimal
        return text


def _interval(interval: Interval) -> str:
    low, high = _expression(interval.low), _expression(interval.high)
    return f"{'(' if interval.low_open else '['}{low}, {high}{')' if interval.high_open else ']'}"


def _real_set(value: RealSet) -> str:
    points = "{" + ", ".join(map(_expression, value.points)) + "}" if value.points else ""
    text = " or ".join(filter(None, [*map(_interval, value.intervals), points]))
    excluded = [*map(_expression, value.excluded_points), *map(_interval, value.excluded_intervals)]
    of = f"{value.unknown} in " if value.unknown else ""
    return f"{of}real numbers {text}" + (f" without {', '.join(excluded)}" if excluded else "")


# ---- why a pair is rejected ----


def reason_of_reject(left: str, right: str, equal: Callable[[Value, Value], bool]) -> str:
    """Return why two normalised answers that no rule finds equal are rejected.

    equal  compares two of their parts
    """
    choices = is_choice(left), is_choice(right)
    if all(choices):
        return DIFFERENT
    if any(choices):
        return "not comparable: one is a choice letter; give the choices"
    if unread := unread_sides(left, right):
        return f"not read{of_sides(unread)}: {next(iter(unread.values()))}"
    gold, answer = read_answer(left), read_answer(right)
    if isinstance(gold, Quantity) and isinstance(answer, Relation) and answer.is_equation:
        if equal(gold, read_answer(answer.sides[-1])):
            return "not comparable: the answer is a condition, and its last side agrees"
    elif isinstance(gold, Seq) and isinstance(answer, Seq) and _only_brackets_differ(gold, answer):
        return "not comparable: the items agree, and the brackets differ"
    names = [_names_in(v) for v in (gold, answer)]
    if names[0] and names[0] == names[1]:
        return "not comparable: the names agree, and their order differs"
    return DIFFERENT


def unread_sides(left: str, right: str) -> dict[str, str]:
    """Return why an answer cannot be read in whole, by the answer's name."""
    values = read_answer(left), read_answer(right)
    words = all(isinstance(v, Words) for v in values)
    sides = zip(("gold", "answer"), values, strict=True)
    return {name: why for name, v in sides if (why := next(_unread(v, words), ""))}


def of_sides(sides: dict[str, str]) -> str:
    """Return ` (gold and answer)` for the names of both."""
    return f" ({' and '.join(sides)})" if sides else ""


def _unread(value: Value, beside_words: bool) -> Iterator[str]:
    """Yield why each part of a value is not read."""
    match value:
        case Words(text):
            if not has_meaning(text) and not (beside_words and is_one_word(text)):
                yield f"{text[:80]!r} is prose"
        case Seq():
            for item in value.items:
                yield from _unread(item, all(isinstance(i, Words) for i in value.items))
        case Relation():
            is_named = is_assignment(value) and len(value.sides[0].split()) <= MAX_NAME_WORDS
            first = len(value.sides) - 1 if is_named else 0
            yield from _unparsed(*value.sides[first:])
            if not chain_holds(value):
                yield "the sides of the equation differ"
        case Rounded():
            yield from _unread(value.value, False)
        case RealSet():
            for interval in (*value.intervals, *value.excluded_intervals):
                yield from _unparsed(interval.low, interval.high)
            yield from _unparsed(*value.points, *value.excluded_points)
        case Quantity(text):
            yield from _unparsed(text)
        case Ratio(parts) | Family(terms=parts):
            yield from _unparsed(*parts)
        case DateOrTime():
            return


def _unparsed(*texts: str) -> Iterator[str]:
    for text in texts:
        try:
            parse_expression(text)
        except ParseError as e:
            yield str(e)


def _names_in(value: Value) -> list[str]:
    """Return the sorted names of a list; [] for anything else."""
    items = value.items if isinstance(value, Seq) and not value.kind else (value,)
    texts = [item.text for item in items if isinstance(item, Words | Quantity)]
    named = len(texts) == len(items) and all(re.fullmatch("[A-Za-z, ]{2,}", t) for t in texts)
    return sorted(i for t in texts for i in items_of(t)) if named else []


def _only_brackets_differ(gold: Seq, answer: Seq) -> bool:
    """Return whether `[2, 3]` and `2, 3` have the same items, and one has no brackets or braces."""
    kinds = {gold.kind, answer.kind}
    return len(kinds) == 2 and bool(kinds & {"", "{}"}) and gold.items == answer.items
