"""Runs behind a solution, in its box: calls a function of it for a test.

    [3, [1, 2]] on stdin ─▶ f(3, [1, 2]) ─▶ the result on stdout, both as JSON
    many, then several lines ─▶ several calls in one process ─▶ a line for each: "ns⇥value⇥result"

The solution's own streams were put aside before it began (programs.py): what it prints goes to
stderr, and it can read nothing. This text runs in boxes, behind codec.py.
"""

import json
import os
import sys
import time

from gradebox.checkers.values.codec import CannotCross, Side, pack

IN_FD, OUT_FD = 62, 63
MANY = b"many\n"


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
        try:
            stream.flush()
        except BaseException:  # noqa: BLE001 - the solution may have replaced the stream
            continue
    os._exit(status)


def fail():
    """Report the current exception, and end."""
    try:
        sys.__excepthook__(*sys.exc_info())
    finally:
        end(1)


def write_all(data):
    while data:
        data = data[os.write(OUT_FD, data) :]


def with_whole_keys(value):
    try:
        return {int(key): item for key, item in value.items()}
    except ValueError:
        return value


def arguments(data):
    given = json.loads(data)
    if isinstance(given, dict):  # the first argument's keys were whole numbers before JSON
        return [with_whole_keys(given["args"][0]), *given["args"][1:]]
    return given


def answer_of(function, given):
    """Return the message with the result of a call."""
    result = function(*given)
    try:
        message = pack([result], Side(), shared=False)
    except CannotCross as error:
        message = {"cannot": str(error)}
    return json.dumps(message, separators=(",", ":")).encode()


def call(namespace, entry):
    with os.fdopen(IN_FD, "rb") as source:
        data = source.read()
    if data.startswith(MANY):
        call_many(namespace, entry, data.split(b"\n")[1:])
    try:
        answer = answer_of(find_entry(namespace, entry), arguments(data))
    except BaseException:  # noqa: BLE001 - whatever it raises
        fail()
    write_all(answer)
    end(0)


def call_many(namespace, entry, tests):
    """Answer several tests in this process, a line each: CPU time in ns, kind, answer."""
    clock = time.process_time_ns
    try:
        function = find_entry(namespace, entry)
    except BaseException:  # noqa: BLE001 - whatever it raises
        fail()
    for test in tests:
        began, kind = clock(), b"value"
        try:
            answer = answer_of(function, arguments(test))
        except Exception as error:  # noqa: BLE001 - others, such as SystemExit, end the process
            kind, answer = b"raised", text_of(error)
        write_all(b"%d\t%b\t%b\n" % (clock() - began, kind, answer))
    end(0)


def text_of(error):
    try:
        text = f"{type(error).__name__}: {error}"[:1000]
    except BaseException:  # noqa: BLE001 - the error may have methods of the solution
        text = "an exception without a text"
    return " ".join(text.split()).encode("utf-8", "backslashreplace")
