"""Runs behind a solution, in its box: calls its functions for the tests.

    call     one test: arguments on stdin, the result on stdout, both as JSON
    answers  the tests are a program of their own, which asks for calls (peer.py)

The solution's own streams were put aside before it began (programs.py): what it prints goes to
stderr, and it can read nothing. This text runs in boxes, behind peer.py.
"""

import contextlib
import json
import os
import sys
import traceback

from gradebox.checkers.values.codec import CannotCross, Side, pack
from gradebox.checkers.values.peer import BadData, Gone, Peer

IN_FD, OUT_FD = 62, 63


def find_entry(namespace, entry):
    """Return the function of `f`, `Solution().f`, or the first of `A or B` that there is.

    A name that the prelude has imported, such as `add` of operator, is not the solution's.
    """
    imported = namespace.get("_gradebox_before", {})
    for name in entry.split(" or "):
        head, method, attribute = name.strip().partition("().")
        if head in namespace and namespace[head] is not imported.get(head):
            found = namespace[head]
            return getattr(found(), attribute) if method else found
    raise NameError(f"{entry} is not defined")


def end(status):
    """End at once, whatever threads the solution has left."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(BaseException):  # the solution may have replaced it
            stream.flush()
    os._exit(status)


def write_all(data):
    while data:
        data = data[os.write(OUT_FD, data) :]


def call(namespace, entry):
    with os.fdopen(IN_FD, "rb") as source:
        given = json.loads(source.read())
    if isinstance(given, dict):  # the first argument's keys were whole numbers before JSON
        given = given["args"]
        with contextlib.suppress(ValueError):
            given[0] = {int(key): value for key, value in given[0].items()}
    try:
        result = find_entry(namespace, entry)(*given)
        try:
            message = pack([result], Side(), shared=False)
        except CannotCross as error:
            message = {"cannot": str(error)}
    except BaseException:  # noqa: BLE001 - whatever it raises
        traceback.print_exc()
        end(1)
    write_all(json.dumps(message, separators=(",", ":")).encode())
    end(0)


def answers(namespace, entry):
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
        traceback.print_exc()
        end(1)
