"""Calls between two programs that are joined by pipes: one JSON message a line, one at a time.

    request  {"do": "call", "cells": [function, args, named], "nodes": […]}
    answer   {"value": …} or {"raised": [names of its classes], …}

While a request waits for its answer, the other side may make requests of its own: a function that
was given as an argument is called where it lives. Arguments that were changed in place come back
with the answer. What is no data stays where it is; the other side has a `Remote` of it, which
has no operator but identity.

This text runs in boxes, behind codec.py; behind call_side.py too where `answers` is called, which
lets tests in another box call a solution. It needs Python 3.8 and no other names.
"""

import builtins
import json
import os

from gradebox.checkers.values.call_side import IN_FD, OUT_FD, end, fail, find_entry
from gradebox.checkers.values.codec import (
    MALFORMED,
    BadData,
    CannotCross,
    Reader,
    Side,
    Writer,
)

MOST_BYTES = 64 << 20
ENDS = (StopIteration, StopAsyncIteration)
FUNCTIONS = (type(lambda: 0), type(len), type(Exception().with_traceback), type(Side().export))


class Gone(BaseException):
    """The other side has ended."""


class Remote:
    """An object of the other side. Its attributes and calls cross; its operators do not."""

    __slots__ = ("_gradebox_cell", "_gradebox_peer")

    def __init__(self, peer, cell):
        object.__setattr__(self, "_gradebox_peer", peer)
        object.__setattr__(self, "_gradebox_cell", cell)

    def __call__(self, *args, **named):
        return self._gradebox_peer.request("call", self, list(args), named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self._gradebox_peer.request("get", self, name)

    def __setattr__(self, name, value):
        self._gradebox_peer.request("set", self, name, value)


class Peer(Side):
    """One end of the connection.

    guarded  this side has secrets: only functions leave it, to be called, and the other side can
             neither read nor change an attribute here
    """

    def __init__(self, read_fd, write_fd, guarded):
        Side.__init__(self)
        self.source = os.fdopen(read_fd, "rb", buffering=1 << 16)
        self.sink = write_fd
        self.guarded = guarded
        self.exported = {}  # number → object
        self.numbers = {}  # id of an exported object → number
        self.remotes = {}
        self.names = None  # answers the first request of the tester
        self.calls = 0
        self.broken = None  # the connection's first error, which the program may have caught

    # ---- objects that are no data ----

    def export(self, value):
        if isinstance(value, Remote):
            return ["mine", value._gradebox_cell]
        if isinstance(value, type) and getattr(builtins, value.__name__, None) is value:
            return ["type", value.__name__]
        if self.guarded and not isinstance(value, FUNCTIONS):
            kind = value if isinstance(value, type) else type(value)
            of = "own" if kind.__module__ != Remote.__module__ else ""
            raise CannotCross(f"a value of type {type(value).__name__}", of)
        number = self.numbers.setdefault(id(value), len(self.exported))
        self.exported[number] = value
        return ["yours", number]

    def imported(self, cell):
        tag, name = cell
        if tag == "mine":
            return self.exported[name]
        if tag == "type":
            kind = getattr(builtins, name)
            if isinstance(kind, type):
                return kind
        if tag != "yours" or not isinstance(name, int):
            raise BadData(f"unknown cell {cell!r:.60}")
        return self.remotes.setdefault(name, Remote(self, name))

    # ---- messages ----

    def send(self, message):
        data = memoryview(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        try:
            while data:
                data = data[os.write(self.sink, data) :]
        except BrokenPipeError:
            raise Gone from None

    def receive(self):
        line = self.source.readline(MOST_BYTES)
        if not line:
            raise Gone
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadData(f"not JSON: {error}"[:200]) from None
        if not isinstance(message, dict):
            raise BadData("no message")
        return message

    def request(self, what, *values):
        """Let the other side do something; return its answer or raise its exception."""
        try:
            found, raised = self.exchange(what, values)
        except (Gone, BadData, CannotCross) as error:
            self.broken = self.broken or error
            raise
        if raised is not None:
            raise raised
        return found

    def exchange(self, what, values):
        writer = Writer(self)
        cells = [writer.cell(value) for value in values]
        self.send({"do": what, "cells": cells, "nodes": writer.nodes()})
        self.calls += what == "call"
        while True:
            message = self.receive()
            if "do" not in message:
                break
            self.answer(message)
        try:
            reader = Reader(message["nodes"], self, known=writer.objects)
            reader.read()
            if "value" in message:
                return reader.cell(message["value"]), None
            args = [reader.cell(cell) for cell in message["args"]]
            if message.get("unsent") is True:
                raise CannotCross(f"{args[0]!s:.200}", "peer")
            return None, self.exception(message["raised"], args)
        except MALFORMED as error:
            raise BadData(f"{type(error).__name__}: {error}"[:200]) from None

    def exception(self, names, args):
        for name in names:
            kind = getattr(builtins, str(name), None)
            # StopIteration would end a loop of the tests over their calls.
            if isinstance(kind, type) and issubclass(kind, BaseException) and kind not in ENDS:
                try:
                    return kind(*args)
                except Exception:  # noqa: BLE001 - whatever the class does with them
                    break
        raised = Exception if "Exception" in names else BaseException
        return raised(f"{names[0]}{tuple(args)!r:.200}")

    # ---- requests of the other side ----

    def answer(self, message):
        known = []
        try:
            reader = Reader(message["nodes"], self)
            known = reader.read()
            values = [reader.cell(cell) for cell in message["cells"]]
            known = reader.objects
        except MALFORMED as error:
            raise BadData(f"{type(error).__name__}: {error}"[:200]) from None
        try:
            found = self.do(message["do"], values)
            writer = Writer(self, known)
            reply = {"value": writer.cell(found)}
            nodes = writer.nodes()
        except CannotCross as error:
            writer, nodes = Writer(self, known), [None] * len(known)
            reply = {"raised": [], "args": [f"{error} cannot be sent"], "unsent": True}
        except (Gone, BadData):
            raise
        except BaseException as error:  # noqa: BLE001 - whatever it raises
            writer = Writer(self, known)
            reply, nodes = self.raised(error, writer)
        for i, spec in enumerate(message["nodes"]):
            if nodes[i] == spec:
                nodes[i] = None  # not changed
        self.send({**reply, "nodes": nodes})

    def raised(self, error, writer):
        names = [kind.__name__ for kind in type(error).__mro__]
        known = len(writer.objects)
        try:
            reply = {"raised": names, "args": [writer.cell(arg) for arg in error.args]}
            return reply, writer.nodes()
        except (Exception, CannotCross):  # noqa: BLE001 - arguments that cannot cross
            return {"raised": names, "args": [str(type(error))]}, [None] * known

    def do(self, what, values):
        if what == "call":
            function, args, named = values
            if self.guarded and id(function) not in self.numbers:
                raise BadData("a call of what was not sent")
            return function(*args, **named)
        if what == "names" and self.names is not None:
            return self.names(*values)
        if self.guarded:
            raise BadData(f"request {what!r:.20}")
        if what == "get":
            return getattr(values[0], values[1])
        if what == "set":
            return setattr(*values)
        raise BadData(f"request {what!r:.20}")


def answers(namespace, entry):
    """Answer the requests of tests until they end."""
    peer = Peer(IN_FD, OUT_FD, False)

    def names(wanted, classes):
        found = {name: namespace[name] for name in wanted if name in namespace}
        if entry:
            found["candidate"] = find_entry(namespace, entry)
        kinds = ((name, namespace.get(name)) for name in classes)
        peer.classes = {name: kind for name, kind in kinds if isinstance(kind, type)}
        return found

    peer.names = names
    try:
        while True:
            peer.answer(peer.receive())
    except Gone:
        end(0)
    except BadData:
        fail()
