"""Values cross as data, with their types and sharing; nothing of the sender's own crosses."""

import datetime
import json
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import pytest

from gradebox.checkers.values.codec import BadData, CannotCross, Side, pack, unpack
from testing.rows import rows


def crossed(*values: Any) -> list[Any]:
    return unpack(json.loads(json.dumps(pack(list(values), Side()))), Side())


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        1,
        1.5,
        float("inf"),
        2**80,
        -(2**80),
        "a\ud800",
        b"\x00\xff",
        1 + 2j,
        range(1, 9, 2),
        [],
        [1, [2, (3, [4])]],
        (1, (2, {3})),
        {1, 2},
        frozenset({(1, 2)}),
        {1: {"a": [2]}, (1, 2): None},
        bytearray(b"ab"),
        deque([1, 2], maxlen=3),
        Counter("aab"),
        OrderedDict(a=1),
        Decimal("1.50"),
        Fraction(1, 3),
        datetime.datetime(2024, 2, 29, 1, 2, 3),
        datetime.date(2024, 2, 29),
        datetime.timedelta(days=1, microseconds=3),
        Ellipsis,
    ],
    ids=repr,
)
def test_a_value_arrives_as_it_was(value):
    (found,) = crossed(value)
    assert found == value
    assert type(found) is type(value)


def test_sharing_and_cycles_are_kept():
    inner: list[Any] = [1]
    inner.append(inner)
    a, b = crossed(inner, (inner, inner))
    assert a[1] is a
    assert b[0] is b[1] is a


def test_subclasses_arrive_as_their_base():
    class Always(list):
        def __eq__(self, other):
            return True

        __hash__ = None

    class Text(str):
        def __eq__(self, other):
            return True

        __hash__ = str.__hash__

    Point = namedtuple("Point", "x y")
    Colour = IntEnum("Colour", "RED")
    found = crossed(Always([1]), Text("a"), Point(1, 2), Colour.RED, defaultdict(int, a=1))
    assert list(map(type, found)) == [list, str, tuple, int, dict]
    assert found != [[2], "b", (1, 2), 1, {"a": 1}]


def test_iterators_are_read_to_their_end_and_views_stay_views():
    iterator, keys, items = crossed((i for i in range(3)), {"a": 1}.keys(), {"a": 1}.items())
    assert list(iterator) == [0, 1, 2]
    assert keys == {"a"}
    assert list(items) == [("a", 1)]


def test_a_very_deep_value_crosses():
    deep: list[Any] = []
    for _ in range(20_000):
        deep = [deep]
    (found,) = crossed(deep)
    for _ in range(20_000):
        (found,) = found
    assert found == []


def test_objects_of_other_classes_do_not_cross_as_data():
    class Own:
        pass

    with pytest.raises(CannotCross, match="type Own"):
        pack([[Own()]], Side())


@pytest.mark.parametrize(
    "message",
    rows(__file__, "what_is_no"),
    ids=repr,
)
def test_what_is_no_message_is_refused(message):
    with pytest.raises(BadData):
        unpack(message, Side())


def test_without_sharing_the_length_bounds_the_work():
    bomb = [["l"], *(["t", [i], [i]] for i in range(60))]
    with pytest.raises(BadData, match="twice"):
        unpack({"cells": [[60]], "nodes": bomb}, Side(), shared=False)


class Node:
    """A class that both sides have."""

    def __init__(self, name: str) -> None:
        self.name = name

    def shown(self) -> str:
        return self.name


def test_an_object_of_a_common_class_has_no_methods_from_the_other_side():
    both = Side({"Node": Node})
    (found,) = unpack(pack([Node("a")], both), both)
    assert (type(found), found.name, found.shown()) == (Node, "a", "a")
    message = {"cells": [[0]], "nodes": [["o", "Node", "shown", 1]]}
    with pytest.raises(BadData, match="in the place of a method"):
        unpack(message, both)
