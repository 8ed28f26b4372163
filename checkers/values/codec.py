"""Values as JSON, with their types, their sharing and nothing else.

    pack([x, y], Side()) ──▶ {"cells": […], "nodes": […]} ──▶ unpack(…, Side()) ──▶ [x, y]

A cell is null, true, false, a number or a string as itself; `[3]` for node 3; or `[tag, …]` for
another single value. A node is `[tag, cell, …]`, a container. No type of the sender's own crosses:
a subclass of a built-in type arrives as that type, an instance of any other class as a reference
to an object that stays where it is (`Side.export`), or not at all (`CannotCross`).

This text also runs in boxes, in front of programs: it needs Python 3.8 and its own names only.
"""

import _collections_abc  # loaded at every start
import collections
import sys

MOST_NODES = 5_000_000
SMALL = 1 << 53


# No test may take an error of the connection for one of the program: `except Exception` does not
# catch these, and what caught them nevertheless does not pass (`Peer.broken`).
class CannotCross(BaseException):
    """A value that cannot be written as data; the message names its type.

    of  "own": it is of a class of this side that is not this text's own; "peer": the other side
        has the value, as it says
    """

    def __init__(self, why: str, of: str = "") -> None:
        super().__init__(why)
        self.of = of


class BadData(BaseException):
    """What the other side sent is not a value, or it changed what the tests rely on."""


class Side:
    """What one side of a connection can do with values that are no data; here: nothing.

    classes  names of classes that both sides have → the class of this side
    """

    def __init__(self, classes: "dict | None" = None) -> None:
        self.classes = classes or {}

    def export(self, value):
        """Return the cell of an object that stays here; raise CannotCross."""
        raise CannotCross(f"a value of type {type(value).__name__}")

    def imported(self, cell):
        """Return the object of such a cell of the other side."""
        raise BadData(f"unknown cell {cell!r:.60}")


# ---- writing ----------------------------------------------------------------------------------


def _number(value):
    return value if -SMALL <= value <= SMALL else ["i", format(value, "x")]


def _float(value):
    return value if value - value == 0 else ["f", repr(value)]


# type → its cell, for values without parts
SCALARS = {
    int: _number,
    float: _float,
    bytes: lambda value: ["b", value.decode("latin-1")],
    complex: lambda value: ["c", repr(value.real), repr(value.imag)],
    range: lambda value: ["r", *map(str, (value.start, value.stop, value.step))],
    type(Ellipsis): lambda value: ["e"],
    type(NotImplemented): lambda value: ["n"],
}
# The same for types of modules that a program may not have imported: (module, type, its cell)
LATE_SCALARS = (
    ("decimal", "Decimal", lambda value: ["D", str(value)]),
    (
        "fractions",
        "Fraction",
        lambda v: ["Q", format(v.numerator, "x"), format(v.denominator, "x")],
    ),
    ("datetime", "datetime", lambda value: ["T", "datetime", value.isoformat()]),
    ("datetime", "date", lambda value: ["T", "date", value.isoformat()]),
    ("datetime", "time", lambda value: ["T", "time", value.isoformat()]),
    ("datetime", "timedelta", lambda v: ["T", "delta", v.days, v.seconds, v.microseconds]),
)
# what a subclass is written as: its base's own text of the value, whatever it overrides
BASES = (
    (int, int.__int__),
    (float, float.__float__),
    (str, str.__str__),
    (bytes, lambda value: bytes.__getitem__(value, slice(None))),
)


def _late_scalar(kind):
    """Return what makes the cell of a type that is in LATE_SCALARS, else None."""
    for module, name, cell in LATE_SCALARS:
        if getattr(sys.modules.get(module), name, None) is kind:
            return cell
    return None


def _pairs(value):
    for key, item in dict.items(value):
        yield key
        yield item


def _many(value):
    found = []
    for item in value:
        found.append(item)
        if len(found) > MOST_NODES // 50:
            raise CannotCross("an iterator without an end")
    return found


# (type, tag, its parts), the first that fits
CONTAINERS = (
    (list, "l", list.__iter__),
    (tuple, "t", tuple.__iter__),
    (collections.Counter, "C", _pairs),
    (collections.OrderedDict, "O", _pairs),
    (collections.defaultdict, "d", _pairs),
    (dict, "d", _pairs),
    (set, "s", set.__iter__),
    (frozenset, "z", frozenset.__iter__),
    (collections.deque, "q", lambda value: [value.maxlen, *collections.deque.__iter__(value)]),
    (bytearray, "B", lambda value: [bytes(value).decode("latin-1")]),
    (type({}.keys()), "K", iter),
    (type({}.values()), "V", iter),
    (type({}.items()), "I", lambda value: [part for pair in value for part in pair]),
    (_collections_abc.Iterator, "it", _many),
)
EXACT = {kind: (tag, parts) for kind, tag, parts in CONTAINERS}


class Writer:
    """Writes values. `objects` has the object of each node.

    known   objects that the other side has already under the numbers 0, 1, …
    shared  whether a container that occurs twice is one node
    """

    def __init__(self, side, known=(), shared=True):
        self.side = side
        self.shared = shared
        self.objects = list(known)
        self.numbers = {id(value): i for i, value in enumerate(self.objects)} if shared else {}

    def cell(self, value):
        kind = type(value)
        if value is None or kind is bool or kind is str:
            return value
        if kind in SCALARS:
            return SCALARS[kind](value)
        number = self.numbers.get(id(value))
        if number is not None:
            return [number]
        if kind not in EXACT:
            for base, plain in BASES:
                if isinstance(value, base):
                    return self.cell(plain(value))
            late = _late_scalar(kind)
            if late is not None:
                return late(value)
            if kind.__module__ == "numpy" and hasattr(value, "item") and value.ndim == 0:
                return self.cell(value.item())
            if not self.is_node(value):
                return self.side.export(value)
        number = len(self.objects)
        if number >= MOST_NODES:
            raise CannotCross("a value with too many parts")
        self.objects.append(value)
        if self.shared:
            self.numbers[id(value)] = number
        return [number]

    def is_node(self, value):
        kind = type(value)
        return any(isinstance(value, base) for base, _, _ in CONTAINERS) or (
            kind.__name__ in self.side.classes and hasattr(value, "__dict__")
        )

    def node(self, value):
        kind = type(value)
        if kind in EXACT:
            tag, parts = EXACT[kind]
        else:
            found = next((row for row in CONTAINERS if isinstance(value, row[0])), None)
            if found is None:
                cells = [self.cell(part) for pair in vars(value).items() for part in pair]
                return ["o", kind.__name__, *cells]
            _, tag, parts = found
        return [tag, *map(self.cell, parts(value))]

    def nodes(self):
        found = []
        while len(found) < len(self.objects):
            found.append(self.node(self.objects[len(found)]))
        return found


def pack(values: "list", side: "Side", shared: bool = True) -> "dict":
    """Return the message of some values. Raises CannotCross."""
    writer = Writer(side, shared=shared)
    cells = [writer.cell(value) for value in values]
    return {"cells": cells, "nodes": writer.nodes()}


# ---- reading ----------------------------------------------------------------------------------

TIMES = ("datetime", "date", "time")


def _time(kind, *parts):
    datetime = __import__("datetime")
    if kind == "delta":
        return datetime.timedelta(*parts)
    return getattr(datetime, TIMES[TIMES.index(kind)]).fromisoformat(*parts)


READ_SCALARS = {
    "i": lambda text: int(text, 16),
    "f": float,
    "b": lambda text: text.encode("latin-1"),
    "c": lambda real, imag: complex(float(real), float(imag)),
    "r": lambda *parts: range(*map(int, parts)),
    "D": lambda text: __import__("decimal").Decimal(text),
    "Q": lambda a, b: __import__("fractions").Fraction(int(a, 16), int(b, 16)),
    "T": _time,
    "e": lambda: Ellipsis,
    "n": lambda: NotImplemented,
}
# containers that exist before their parts do, because they may contain themselves
SHELLS = {
    "l": list,
    "d": dict,
    "C": collections.Counter,
    "O": collections.OrderedDict,
    "s": set,
    "q": collections.deque,
    "B": bytearray,
}


def _dict(parts):
    return dict(zip(parts[::2], parts[1::2]))  # noqa: B905 - Python 3.8


BUILD = {
    "l": list,
    "t": tuple,
    "C": lambda parts: collections.Counter(_dict(parts)),
    "O": lambda parts: collections.OrderedDict(_dict(parts)),
    "d": _dict,
    "s": set,
    "z": frozenset,
    "q": lambda parts: collections.deque(parts[1:], parts[0]),
    "B": lambda parts: bytearray(parts[0], "latin-1"),
    "it": iter,
    "K": lambda parts: dict.fromkeys(parts).keys(),
    "V": lambda parts: dict(enumerate(parts)).values(),
    "I": lambda parts: _dict(parts).items(),
}


class Reader:
    """Reads a message. `objects` has the object of each node.

    known   objects of the numbers 0, 1, …: they are changed in place
    shared  whether a node may be referred to twice; if not, its size bounds all work
    """

    def __init__(self, nodes, side, known=(), shared=True):
        self.specs = nodes
        self.side = side
        self.shared = shared
        self.known = len(known)
        self.objects = [*known, *([None] * (len(nodes) - len(known)))]
        self.ready = [i < self.known for i in range(len(nodes))]
        self.used = set()

    def read(self):
        if len(self.specs) < self.known:
            raise BadData("objects are missing")
        filled = []
        for i, spec in enumerate(self.specs):
            if spec is None and i < self.known:
                continue
            tag = spec[0]
            if i < self.known:
                if tag in SHELLS or tag == "o":
                    filled.append(i)
            elif tag in SHELLS:
                self.objects[i] = SHELLS[tag]()
                if tag == "q":
                    self.objects[i] = collections.deque(maxlen=spec[1])
            elif tag == "o":
                kind = self.side.classes[spec[1]]
                self.objects[i] = object.__new__(kind)
            else:
                continue
            if i >= self.known:
                self.ready[i] = True
                filled.append(i)
        for i in filled:
            self.fill(self.objects[i], self.specs[i])
        return self.objects

    def fill(self, value, spec):
        tag = spec[0]
        if tag == "o":
            if type(value).__name__ != spec[1]:
                raise BadData("an object changed its type")
            found = _dict([self.cell(cell) for cell in spec[2:]])
            if any(callable(getattr(type(value), name, None)) for name in found):
                raise BadData("an attribute in the place of a method")
            vars(value).clear()
            vars(value).update(found)
            return
        if not isinstance(value, SHELLS[tag]):
            raise BadData("an object changed its type")
        if tag == "B":
            value[:] = spec[1].encode("latin-1")
            return
        parts = [self.cell(cell) for cell in spec[2 if tag == "q" else 1 :]]
        if tag == "l":
            value[:] = parts
            return
        value.clear()
        if tag in "ds":
            value.update(_dict(parts) if tag == "d" else parts)
        elif tag == "q":
            value.extend(parts)
        else:
            value.update(_dict(parts))

    def cell(self, cell):
        if not isinstance(cell, list):
            if isinstance(cell, dict):
                raise BadData("no value")
            return cell
        first = cell[0]
        if isinstance(first, int):
            return self.object(first)
        if first in READ_SCALARS:
            return READ_SCALARS[first](*cell[1:])
        return self.side.imported(cell)

    def object(self, i):
        if not self.shared:
            if i in self.used:
                raise BadData("a value is used twice")
            self.used.add(i)
        if not self.ready[i]:
            spec = self.specs[i]
            parts = [self.cell(cell) for cell in spec[1:]]
            self.objects[i] = BUILD[spec[0]](parts)
            self.ready[i] = True
        return self.objects[i]


MALFORMED = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError)


def unpack(message: "dict", side: "Side", shared: bool = True) -> "list":
    """Return the values of a message. Raises BadData for anything that `pack` does not write."""
    try:
        reader = Reader(message["nodes"], side, shared=shared)
        reader.read()
        return [reader.cell(cell) for cell in message["cells"]]
    except MALFORMED as error:
        raise BadData(f"{type(error).__name__}: {error}"[:200]) from None
