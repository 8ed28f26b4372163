"""Runs a solution and its tests' text in one process, for tests that pass more than plain data.

    stdin   a secret, a line feed, [the text of the tests, {"prompt", "entry", "names"}] as JSON;
            for classes of tests also {"classes", "began"}, see unittest_side.py
    stdout  the secret between line feeds, after the last assert

stdin is read to its end before the solution begins. The secret is then held by an iterator only,
which no frame, module or function refers to. The tests have built-ins and modules as they were
before the solution ran. What comes back from a call is cleaned: a subclass of a built-in type
becomes that type; an instance of a class of the solution's own is a `Kept`, which has attributes
and methods, and no operator but identity. Objects of the tests stay as they are. For classes of
tests, `began` is written to stdout when the tests are ready and the program has not begun.

This text runs in boxes, behind codec.py and tester_side.py, in a namespace of its own.
"""

import _signal
import ast
import builtins
import collections
import functools
import io
import json
import operator
import os
import sys

from gradebox.checkers.values.codec import (
    BASES,
    BUILD,
    CONTAINERS,
    EXACT,
    SCALARS,
    BadData,
    _late_scalar,
)
from gradebox.checkers.values.tester_side import (
    FILE,
    LATE,
    MODULES,
    add_results,
    failing_line,
    free_names,
    said_by,
)

BUILTINS = dict(vars(builtins))
MODULE = type(sys)
PLAIN = frozenset((type(None), bool, str, *SCALARS))
FUNCTION = type(lambda: 0)
settrace, getsignal, set_signal = sys.settrace, _signal.getsignal, _signal.signal
STREAMS = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr")}
FILES = (io.StringIO, io.BytesIO, io.TextIOWrapper)
tests_sys = sys  # the copy of sys that the tests have
HANDLERS = {n: getsignal(n) for n in range(1, _signal.NSIG)}


passed_in = {}  # id of an object that the tests passed → (the object, its class)
class_parts = {}  # class of such an object → its methods
library = None  # for tests that are classes: a `Library` (unittest_side.py)
pairs = {}  # class of the prompt: the solution's → the tests' own, and the reverse


class Kept:
    """An object of the solution. Its attributes and calls are cleaned; it has no operators."""

    __slots__ = ("_gradebox_object",)

    def __init__(self, value):
        object.__setattr__(self, "_gradebox_object", value)

    def __call__(self, *args, **named):
        return called(self._gradebox_object, args, named)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return called(getattr, (self._gradebox_object, name), {})

    def __setattr__(self, name, value):
        setattr(self._gradebox_object, name, given(value, {}))


kept = {}  # id of an object of the solution → its Kept


def parts_of(kind):
    return {n: v for n, v in vars(kind).items() if callable(v) or hasattr(v, "__get__")}


def given(value, seen):
    """Return what the solution gets for a value of the tests."""
    kind = type(value)
    if kind in PLAIN or kind is FUNCTION:
        return value
    if kind is Kept:
        return value._gradebox_object
    if id(value) in seen:
        return value
    seen[id(value)] = value
    if kind in EXACT:
        if kind in (list, dict, tuple):
            parts = [value.keys(), value.values()] if kind is dict else [value]
            if any(type(part) is Kept for some in parts for part in some):
                tag, walk = EXACT[kind]
                return BUILD[tag]([given(part, seen) for part in walk(value)])
            for part in [part for some in parts for part in some]:
                given(part, seen)
    elif library is None and not isinstance(value, type) and _late_scalar(kind) is None:
        if id(value) not in passed_in:
            passed_in[id(value)] = (value, kind)
            class_parts.setdefault(kind, parts_of(kind))
        for part in list(getattr(value, "__dict__", {}).values()):
            given(part, seen)
        if kind in pairs:
            value.__class__ = pairs[kind]
    return value


def clean(value, seen):
    """Return what the tests get for a value of the solution."""
    if library is not None:
        return library.clean(value, seen)
    kind = type(value)
    if kind in PLAIN or kind is Kept:
        return value
    if id(value) in seen:
        return seen[id(value)]
    if kind in class_parts or id(value) in passed_in:
        return settled(value, seen)
    if kind in pairs:
        value.__class__ = pairs[kind]
        return settled(value, seen)
    for base, plain in BASES:
        if isinstance(value, base):
            return plain(value)
    if _late_scalar(kind) is not None or (
        isinstance(value, type) and BUILTINS.get(value.__name__) is value
    ):
        return value
    for base, tag, parts in CONTAINERS:
        if not isinstance(value, base):
            continue
        if tag == "it":
            return cleaned(value)
        before = list(parts(value))
        seen[id(value)] = value
        after = [clean(part, seen) for part in before]
        same = kind is base and all(map(operator.is_, before, after))
        seen[id(value)] = found = value if same else BUILD[tag](after)
        return found
    return kept.setdefault(id(value), Kept(value))


def cleaned(values):
    for value in values:
        undisturbed()
        yield clean(value, {})


def settled(value, seen):
    """Return an object of the tests; what the solution put into it is cleaned."""
    seen[id(value)] = value
    attributes = getattr(value, "__dict__", None)
    for name, part in list(attributes.items()) if isinstance(attributes, dict) else ():
        found = clean(part, seen)
        if found is not part:
            attributes[name] = found
        if callable(found) and callable(getattr(type(value), name, None)):
            raise BadData("an attribute in the place of a method")
    return value


def clean_in_place(value):
    """Clean a container of the tests that the solution may have changed."""
    kind = type(value)
    found = clean(value, {})
    if found is not value and kind in (list, collections.deque, set, dict):
        value.clear()
        (value.extend if hasattr(value, "extend") else value.update)(found)


def undisturbed():
    """Undo what would let the solution act between the asserts of the tests."""
    settrace(None)
    for number, handler in HANDLERS.items():
        if getsignal(number) is not handler and handler is not None:
            set_signal(number, handler)
    for value, kind in passed_in.values():
        if type(value) is not kind:
            if pairs.get(type(value)) is not kind:
                raise BadData("an object of the tests changed its class")
            value.__class__ = kind
    for kind, parts in class_parts.items():
        found = parts_of(kind)
        if found.keys() != parts.keys() or not all(found[n] is parts[n] for n in parts):
            raise BadData("a class of the tests was changed")


def lend_streams():
    """Let the solution use the streams of the tests; return those that the tests replaced."""
    found = []
    for name, first in STREAMS.items():
        stream = getattr(tests_sys, name, first)
        if stream is first:  # redirect_stdout sets the real sys's, as the solution's threads can
            stream = getattr(sys, name)
            if stream is not first and type(stream) not in FILES:
                raise AssertionError(f"sys.{name} is of a class that may be the solution's")
        setattr(sys, name, stream)
        found += [stream] if stream is not first else []
    return found


def called(function, args, named):
    own = function is getattr
    before = [(name, getattr(sys, name)) for name in STREAMS]
    streams = lend_streams()
    passed = [*args[own:], *named.values(), *streams]
    seen = {}
    given(streams, seen)
    state = library.state() if library is not None else None
    try:
        if own:
            found = function(*args)
        else:
            found = function(
                *[given(value, seen) for value in args],
                **{name: given(value, seen) for name, value in named.items()},
            )
    finally:
        for name, stream in before:
            setattr(sys, name, stream)
        if library is not None:
            library.restore(state)
        undisturbed()
        for value in passed:
            clean_in_place(value)
    return clean(found, {})


def modules_for(tree):
    """Return copies of the modules that a text imports or uses, as they are now."""
    roots = set(MODULES)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            roots |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            roots.add((node.module or "").partition(".")[0])
        else:
            continue
        try:
            exec(compile(ast.Module([node], []), "<imports>", "exec"), {})
        except Exception:  # noqa: BLE001 - the tests will say so
            continue
    for name in MODULES:
        __import__(name)
    copies = {}
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in roots and type(module) is MODULE:
            copies[name] = MODULE(name)
            copies[name].__dict__.update(vars(module))
    return copies


def prepare():
    """Return the steps of a run; no frame that is left has the secret."""
    # With these, other threads could make tests skip their asserts.
    for name in ("settrace", "_settraceallthreads", "_current_frames"):
        if hasattr(sys, name):
            delattr(sys, name)
    data = b"".join(iter(functools.partial(os.read, 0, 1 << 16), b""))
    secret, _, rest = data.partition(b"\n")
    text, answer = json.loads(rest)
    out = os.dup(1)
    os.dup2(2, 1)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    tree = ast.parse(text)
    code = compile(tree, FILE, "exec", LATE, optimize=0)
    if "classes" in answer:
        return prepare_classes(text, tree, code, answer, out, secret)  # noqa: F821
    copies = modules_for(tree)
    real_import = builtins.__import__

    def imported(name, namespace=None, local=None, names=(), level=0):
        module = real_import(name, namespace, local, names, level)
        return copies.get(module.__name__, module)

    solution, tests = MODULE("solution"), MODULE("tests")
    tests.__dict__["__builtins__"] = {**BUILTINS, "__import__": imported}
    sys.modules["solution"] = solution
    program = compile(SOLUTION, "solution.py", "exec", dont_inherit=True)  # noqa: F821

    def run_solution():
        exec(program, solution.__dict__)

    def run_tests():
        try:
            checked()
        except BaseException as error:
            say(f"{failing_line(text)}{said_by(error)}")
            raise

    def checked():
        global tests_sys
        undisturbed()
        tests_sys = copies.get("sys", sys)
        vars(sys).update(STREAMS)
        namespace = tests.__dict__
        exec(compile(answer["prompt"], "<prompt>", "exec", optimize=0), namespace)
        add_results(answer, namespace)
        for name, kind in list(namespace.items()):
            own = solution.__dict__.get(name)
            if isinstance(kind, type) and kind.__module__ == "tests" and isinstance(own, type):
                pairs[kind], pairs[own] = own, kind
        read, attributes = free_names(tree)
        for name in (attributes & MODULES) - set(namespace):
            namespace[name] = copies[name]
        for name in (set(answer["names"]) | read | attributes) - set(namespace):
            if name in solution.__dict__:
                namespace[name] = clean(solution.__dict__[name], {})
        entry = answer["entry"]
        if entry:
            namespace["candidate"] = clean(find(solution.__dict__, entry), {})
            if entry.isidentifier():
                namespace[entry] = namespace["candidate"]
        exec(code, namespace)
        if entry:
            namespace["check"](namespace["candidate"])
        undisturbed()

    return steps_of(run_solution, run_tests, out, secret)


def steps_of(run_solution, run_tests, out, secret):
    passed = functools.partial(os.write, out, b"\n" + secret + b"\n")
    return iter((run_solution, run_tests, passed, functools.partial(os._exit, 0)))


def say(text):
    os.write(2, f"\n{' '.join(text.split())[:2000]}\n".encode("utf-8", "backslashreplace"))


def find(namespace, entry):
    for name in entry.split(" or "):
        head, method, attribute = name.strip().partition("().")
        if head in namespace:
            return getattr(namespace[head](), attribute) if method else namespace[head]
    raise NameError(f"{entry} is not defined")


def step(function):
    return function()


def run_all():
    collections.deque(map(step, prepare()), 0)
