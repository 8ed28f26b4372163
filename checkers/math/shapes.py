"""What two structures have in common, seen without evaluating anything."""

from __future__ import annotations

import re

from checkers.math.names import one_unknown
from checkers.math.values import Exact, Leaf, Ratio, Region, Relation, Seq, Value, Words


def same_time(a: Exact, b: Exact) -> bool:
    """10:30 is 10:30 a.m. or p.m., 17:00 is 5 p.m., 5 a.m. is not 5 p.m."""
    if a.fields[:3] == b.fields[:3] and (not a.fields[3] or not b.fields[3]):
        return True
    return seconds(a) == seconds(b)


def seconds(clock: Exact) -> int:
    hour, minute, second, half = clock.fields
    hours = int(hour) % 12 + (12 if half == "p" else 0) if half else int(hour)
    return hours * 3600 + int(minute) * 60 + int(second)


def brackets_differ(left: Seq, right: Seq) -> bool:
    """A set is no tuple, (1,2) is not [1,2], and alternatives are none of these."""
    kinds = {left.kind, right.kind}
    if "" in kinds:
        return (alternatives(left) or alternatives(right)) and not kinds <= {"", "{}"}
    return ("{}" in kinds or kinds == {"()", "[]"}) and left.kind != right.kind


def alternatives(seq: Seq) -> bool:
    """Values of one unknown: "1 or -4", "x=1, x=-4"; `x_1=1, x_2=-4` may be a tuple."""
    name = "" if seq.kind else one_unknown(seq.items)
    return seq.joined_by_or or bool(name and not name.endswith("_"))


def may_be_ratio(value: Value) -> bool:
    """Whether `11:21`, read as a time, can be meant as this: a ratio or a fraction."""
    return isinstance(value, Ratio) or (
        isinstance(value, Leaf) and bool(re.search(r"/|\\frac", value.text))
    )


def repeats(seq: Seq) -> bool:
    return seq.kind == "{}" or all(isinstance(i, Seq) for i in seq.items)


def decimal_form(a: str, b: str) -> bool:
    return "." in a + b or "%" in a + b


def same_shape(gold: Value, answer: Value) -> tuple[Value, Value]:
    """`100,200` is a list when the other side is one; a single item stands for itself."""
    for one, other, swap in ((gold, answer, False), (answer, gold, True)):
        if (
            isinstance(one, Leaf)
            and isinstance(other, Seq)
            and re.fullmatch(r"-?\d+(?:,\d{3})+", one.text)
        ):
            listed = Seq("", tuple(Leaf(t) for t in one.text.split(",")))
            if len(listed.items) == len(other.items) and other.kind != "":
                return (other, listed) if swap else (listed, other)
        if isinstance(one, Relation) and isinstance(other, Seq) and (chain := _chained(one)):
            return (other, chain) if swap else (chain, other)
        if isinstance(one, Seq) and len(one.items) == 1 and _stands_for_itself(one, other):
            return (other, one.items[0]) if swap else (one.items[0], other)
    return gold, answer


def _chained(relation: Relation) -> Seq | None:
    """`x=y=z=1` as the list of its assignments."""
    *names, value = relation.sides
    if len(names) < 2 or not relation.is_equation or len(set(names)) < len(names):
        return None
    if not all(re.fullmatch(r"[A-Za-z](?:_\{?\w+\}?)?", n) for n in names):
        return None
    return Seq("", tuple(Relation((n, value), ("=",)) for n in names))


def _stands_for_itself(one: Seq, other: Value) -> bool:
    """Whether the only item of `one` is meant: {5} is 5, {(0,0)} is (0,0), {∅} is not ∅."""
    item = one.items[0]
    if isinstance(item, Seq):
        return isinstance(other, Seq) and len(other.items) > 1 and other.kind != "{}"
    return not isinstance(other, Seq) and item != Words("no solution")


def relations(value: Value) -> tuple[Relation, ...]:
    if isinstance(value, Relation):
        return (value,)
    if (
        isinstance(value, Seq)
        and value.kind == ""
        and all(isinstance(i, Relation) for i in value.items)
    ):
        return tuple(i for i in value.items if isinstance(i, Relation))
    return ()


def as_seq(value: Value) -> Seq | None:
    if isinstance(value, Seq):
        return value
    if isinstance(value, Leaf | Relation | Ratio | Words):
        return Seq("", (value,))
    if isinstance(value, Region) and not value.pieces and not value.without:
        return Seq("{}", tuple(Leaf(p) for p in value.points))
    return None


def item_text(value: Value) -> str:
    return re.sub(r"\s", "", value.text) if isinstance(value, Leaf) else repr(value)
