"""Write how an answer was read, for people: `(1, 2)` → `tuple of 1; 2`."""

from __future__ import annotations

from gradebox.checkers.math.read.expressions.parser import parse_expression
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
