"""The structures of answers: the reader makes them, the comparer compares them.

`x \\in [0,1)\\cup\\{3\\}`   RealSet([Interval 0 closed … 1 open], [3])
`(1,2)`                     Seq "()", which may also be an open interval
`a=4,-8`                    Seq "" of a Relation and a Quantity
`15 \\text{ cm}^2`          Quantity "15", unit "cm^2"

Expressions inside a structure stay text: `expression.parse_expression` turns them into SymPy.
"""

from __future__ import annotations

from dataclasses import dataclass


class ParseError(ValueError):
    """The text is not an expression that the parser can read."""


@dataclass(frozen=True)
class Quantity:
    """One expression, its unit, and whether a percent or degree sign followed it."""

    text: str
    unit: str = ""
    percent: bool = False
    degree: bool = False


@dataclass(frozen=True)
class Words:
    """A text answer in lower case, synonyms unified."""

    text: str


@dataclass(frozen=True)
class Seq:
    """Several answers. `kind`: "" a plain list, "()" tuple, "[]", "{}" set, "<>" vector.

    `unknown` is the x of `x \\in [1,2]`.
    """

    kind: str
    items: tuple[Value, ...]
    joined_by_or: bool = False
    unknown: str = ""
    joined_by_and: bool = False


@dataclass(frozen=True)
class Interval:
    """An interval with its ends as text."""

    low: str
    high: str
    low_open: bool
    high_open: bool


@dataclass(frozen=True)
class RealSet:
    """A union of intervals and points, minus excluded points and intervals."""

    intervals: tuple[Interval, ...]
    points: tuple[str, ...] = ()
    excluded_points: tuple[str, ...] = ()
    excluded_intervals: tuple[Interval, ...] = ()
    unknown: str = ""


@dataclass(frozen=True)
class Relation:
    """`sides[0] ops[0] sides[1] …`; each op is one of < > <= >= = !="""

    sides: tuple[str, ...]
    ops: tuple[str, ...]

    @property
    def is_equation(self) -> bool:
        return all(op == "=" for op in self.ops)


@dataclass(frozen=True)
class Rounded:
    """An exact value and its decimal: `2\\sqrt{5} \\approx 4.47`."""

    value: Value
    decimal: Quantity


Value = Quantity | Words | Seq | RealSet | Relation | Rounded
