"""The structures an answer can have; the reader makes them, the comparer compares them.

"x \\in [0,1)\\cup\\{3\\}"   Region([Piece 0 closed … 1 open], [3])
"(1,2)"                     Seq "()", also an open interval to whoever needs one
"a=4,-8"                    Seq ""  of Relation, Leaf
"15 \\text{ cm}^2"          Leaf "15", unit "cm^2"
"""

from __future__ import annotations

from dataclasses import dataclass, field


class TooLong(ValueError):
    """An answer with more parts than the reader takes."""


@dataclass(frozen=True)
class Leaf:
    """One expression, with what was said about its unit."""

    text: str
    unit: str = ""
    percent: bool = False
    degree: bool = False


@dataclass(frozen=True)
class Words:
    """A text answer, lower case, one spelling for one meaning."""

    text: str


@dataclass(frozen=True)
class Seq:
    """Several answers. `kind`: "" a plain list, "()" tuple, "[]", "{}" set, "<>" vector."""

    kind: str
    items: tuple[Value, ...]
    joined_by_or: bool = False


@dataclass(frozen=True)
class Piece:
    """An interval, its ends as text."""

    low: str
    high: str
    low_open: bool
    high_open: bool


@dataclass(frozen=True)
class Region:
    """A union of intervals and points, less some points and intervals."""

    pieces: tuple[Piece, ...]
    points: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    without_pieces: tuple[Piece, ...] = ()


@dataclass(frozen=True)
class Relation:
    """`sides[0] ops[0] sides[1] …`; ops: < > <= >= = !="""

    sides: tuple[str, ...]
    ops: tuple[str, ...]

    @property
    def is_equation(self) -> bool:
        return all(op == "=" for op in self.ops)


@dataclass(frozen=True)
class Ratio:
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Exact:
    """A time of day or a date: equal when the fields are."""

    kind: str
    fields: tuple[int | str, ...] = field(default=())


@dataclass(frozen=True)
class Rounded:
    """`2\\sqrt{5} \\approx 4.47`: a value, and what it is about."""

    value: Value
    about: Leaf


Value = Leaf | Words | Seq | Region | Relation | Ratio | Exact | Rounded
