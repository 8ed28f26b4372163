"""Compare the structure of two answers without evaluating their expressions."""

from __future__ import annotations

import re
from itertools import pairwise

from gradebox.checkers.math.compare.assignments import one_unknown
from gradebox.checkers.math.normalise.tables import LETTER
from gradebox.checkers.math.parse.values import (
    DateOrTime,
    Quantity,
    Ratio,
    RealSet,
    Relation,
    Seq,
    Value,
    Words,
)

_NAME = re.compile(rf"{LETTER}|\\(?:bar|overline|hat|vec)\s*\{{?\s*{LETTER}\s*\}}?")


def same_time(a: DateOrTime, b: DateOrTime) -> bool:
    """Compare times: 10:30 is 10:30 a.m. or p.m., 17:00 is 5 p.m., 5 a.m. is not 5 p.m."""
    if a.fields[:3] == b.fields[:3] and (not a.fields[3] or not b.fields[3]):
        return True
    return _seconds(a) == _seconds(b)


def _seconds(clock: DateOrTime) -> int:
    hour, minute, second, half = clock.fields
    hours = int(hour) % 12 + (12 if half == "p" else 0) if half else int(hour)
    return hours * 3600 + int(minute) * 60 + int(second)


def ranked_beside_list(gold: Value, answer: Value) -> tuple[Value, Value]:
    """Return `a < b < c` as the list `a, b, c` where the other answer is a list."""
    sides = [
        Seq("()", tuple(Quantity(s) if re.search(r"\d", s) else Words(s.lower()) for s in v.sides))
        if isinstance(v, Relation)
        and isinstance(o, Seq)
        and len(o.items) == len(v.sides) > 2
        and set(v.ops) in ({"<"}, {">"})
        else v
        for v, o in ((gold, answer), (answer, gold))
    ]
    return sides[0], sides[1]


def is_chain_or_list_of_numbers(value: Value) -> bool:
    """Return whether a value is `1 < 2 < 3` or a list without letters."""
    texts = (
        value.sides
        if isinstance(value, Relation)
        else [item_text(i) for i in value.items]
        if isinstance(value, Seq)
        else ["x"]
    )
    if all(re.fullmatch(r"-?\d+", t.strip()) for t in texts):
        return False  # the numbers 1, 2, 3 are not ranked
    return len(texts) > 2 and not any(
        re.search(r"(?<!\\)[A-Za-z](?![A-Za-z])|=", re.sub(r"\\[a-z]+", "", t)) for t in texts
    )


def has_order(seq: Seq) -> bool:
    """Return whether the order of a plain list counts: `A, C, B`, `Cindy, Amy, Betty`, `2, 6, 18`.

    Names that are not in the order of the alphabet are ranked. Numbers that are terms of a
    geometric sequence, of one of second degree or of one like that of Fibonacci are that sequence.
    """
    if seq.kind or len(seq.items) < 3 or seq.joined_by_or or seq.joined_by_and:
        return False
    texts = [i.text.strip() if isinstance(i, Words | Quantity) else "" for i in seq.items]
    if all(re.fullmatch(r"[A-Za-z][a-z]*", t) for t in texts):
        names = [t.lower() for t in texts]
        return names != sorted(names)
    if not all(re.fullmatch(r"-?\d{1,9}", t) for t in texts):
        return False
    numbers = [int(t) for t in texts]
    steps = [b - a for a, b in pairwise(numbers)]
    geometric = all(b * numbers[0] == a * numbers[1] for a, b in pairwise(numbers))
    square = len(numbers) > 3 and len({b - a for a, b in pairwise(steps)}) == 1
    summed = len(numbers) > 3 and all(
        sum(numbers[i : i + 2]) == n for i, n in enumerate(numbers[2:])
    )
    return len(set(steps)) > 1 and (geometric or square or summed)


def brackets_differ(left: Seq, right: Seq) -> bool:
    """Return whether brackets tell two lists apart: a set or alternatives and a tuple, say."""
    kinds = {left.kind, right.kind}
    if kinds & {"(]", "[)"}:
        return left.kind != right.kind
    if left.joined_by_or != right.joined_by_or and (_several_names(left) or _several_names(right)):
        return True  # a=1, b=2 and a=1 or b=2
    if "" in kinds:
        return (_alternatives(left) or _alternatives(right)) and not kinds <= {"", "{}"}
    if kinds == {"{}", "[]"}:
        return len(left.items) < 3  # a list as Python prints it; two may be the ends of an interval
    if kinds == {"()", "[]"}:
        return len(left.items) < 3  # two may be the ends of an interval
    return "{}" in kinds and left.kind != right.kind


def _alternatives(seq: Seq) -> bool:
    """Return whether a list gives values of one unknown: "1 or -4", "x=1, x=-4".

    `x_1=1, x_2=-4` may be a tuple.
    """
    name = "" if seq.kind else one_unknown(seq.items)
    return seq.joined_by_or or bool(name and not name.endswith("_"))


def _several_names(seq: Seq) -> bool:
    """Return whether alternatives give values of different unknowns: `a=1 or b=2`."""
    names = {
        re.sub(r"\s|\([a-z]\)", "", i.sides[0])
        for i in seq.items
        if isinstance(i, Relation) and i.is_equation
    }
    return seq.joined_by_or and len(names) > 1 and not one_unknown(seq.items)


def may_be_ratio(value: Value) -> bool:
    """Return whether `11:21`, read as a time, may mean this value: a ratio or a fraction."""
    return isinstance(value, Ratio) or (
        isinstance(value, Quantity) and not value.unit and bool(re.search(r"/|\\frac", value.text))
    )


def may_repeat(seq: Seq) -> bool:
    """Return whether repeated items count once: in a set, or in a list of nothing but tuples."""
    return seq.kind == "{}" or all(isinstance(i, Seq) for i in seq.items)


def same_shape(gold: Value, answer: Value) -> tuple[Value, Value]:
    """Return both values, one rewritten in the shape of the other where that is possible."""
    if (changed := _in_shape_of(gold, answer)) is not None:
        return changed, answer
    if (changed := _in_shape_of(answer, gold)) is not None:
        return gold, changed
    return gold, answer


def _in_shape_of(value: Value, other: Value) -> Value | None:
    """Return `100,200` and `x=y=1` as lists beside a list, and {5} as its item beside 5."""
    if (
        isinstance(value, Quantity)
        and isinstance(other, Seq)
        and re.fullmatch(r"-?\d+(?:,\d{3})+", value.text)
    ):
        items = tuple(Quantity(t) for t in value.text.split(","))
        if len(items) == len(other.items) and ",0" not in value.text:
            return Seq("", items)
    if isinstance(value, Relation) and isinstance(other, Seq):
        return chained_assignments(value)
    if isinstance(value, Seq) and len(value.items) == 1 and _is_its_item(value, other):
        return value.items[0]
    return None


def chained_assignments(relation: Relation) -> Seq | None:
    """Return `x=y=z=1` as the list of its assignments."""
    *names, value = relation.sides
    if len(names) < 2 or not relation.is_equation or len(set(names)) < len(names):
        return None
    if not all(map(_NAME.fullmatch, names)):
        return None
    return Seq("", tuple(Relation((n, value), ("=",)) for n in names))


def _is_its_item(one: Seq, other: Value) -> bool:
    """Return whether `one` means its only item: {5} is 5, {(0,0)} is (0,0), {∅} is not ∅."""
    item = one.items[0]
    if isinstance(item, Seq):
        return isinstance(other, Seq) and len(other.items) > 1 and other.kind != "{}"
    return not isinstance(other, Seq) and item != Words("no solution")


def relations_of(value: Value) -> tuple[Relation, ...]:
    """Return a relation, or those of a plain list of relations; () for anything else."""
    if isinstance(value, Relation):
        return (value,)
    if isinstance(value, Seq) and value.kind == "":
        relations = tuple(i for i in value.items if isinstance(i, Relation))
        return relations if len(relations) == len(value.items) else ()
    return ()


def is_backwards(gold: Seq, answer: Seq) -> bool:
    """Return whether names in the order of the alphabet are given backwards: a ranking."""
    texts = [
        [i.text.lower() for i in s.items if isinstance(i, Words | Quantity)] for s in (gold, answer)
    ]
    named = len(texts[0]) == len(gold.items) > 2 and all(
        t.isalpha() and len(t) > 1 for t in texts[0]
    )
    return named and texts[0] == sorted(texts[0]) and texts[1] == texts[0][::-1]


def sets_in(seq: Seq) -> int:
    """Return how many items of a list are sets in braces."""
    return sum(isinstance(item, Seq) and item.kind == "{}" for item in seq.items)


def as_seq(value: Value) -> Seq | None:
    if isinstance(value, Seq):
        return value
    if isinstance(value, Quantity | Relation | Ratio | Words):
        return Seq("", (value,))
    if isinstance(value, RealSet) and not value.intervals and not value.excluded_points:
        return Seq("{}", tuple(Quantity(p) for p in value.points))
    return None


def item_text(value: Value) -> str:
    return re.sub(r"\s", "", value.text) if isinstance(value, Quantity) else repr(value)
