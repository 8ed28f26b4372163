"""Keeps what classes of tests rest on, where they run in the process of a solution.

    before the program   the imports of both, the prompt, a copy of unittest for the tests alone
    each call of it      what it changed in modules, or in classes that compare, is put back
    what comes back      an object whose class has operators of the program's own is a `Kept`

Tests of this kind replace functions of modules, compare figures and frames, and look at files: the
objects of libraries stay as they are, and both sides have the same modules. Only unittest is the
tests' own: neither its asserts nor its mocks are those that a program can import.

This text runs in boxes, behind joined_side.py.
"""

import _weakref
import ast
import builtins
import functools
import operator
import os
import sys

from gradebox.checkers.values.codec import BASES, BUILD, CONTAINERS, BadData
from gradebox.checkers.values.joined_side import (
    BUILTINS,
    FUNCTION,
    MODULE,
    PLAIN,
    STREAMS,
    Kept,
    called,
    clean,
    kept,
    say,
    steps_of,
    undisturbed,
)
from gradebox.checkers.values.tester_side import failing_line, free_names, run_classes, said_by

# With one of these from the program, an object can be equal to whatever tests expect.
OPERATORS = (
    *("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__contains__", "__bool__"),
    *("__len__", "__getitem__", "__getattribute__", "__getattr__", "__class__", "__abs__"),
    *("__add__", "__radd__", "__sub__", "__rsub__", "__mod__", "__mul__", "__rmul__", "__round__"),
    *("__float__", "__int__", "__index__", "__hash__", "__array__", "__array_ufunc__"),
)
COMPARED = ("equals", "all", "any", *OPERATORS)
CALLABLE = (FUNCTION, type, type(len), staticmethod, classmethod, property)
AS_GIVEN = ("assertRaises", "assertWarns", "assertLogs", "assertNoLogs", "assertIs", "assertNotIs")
MRO, PARTS = type.__dict__["__mro__"].__get__, type.__dict__["__dict__"].__get__
MISSING, HEAP_TYPE = object(), 1 << 9
FORWARDING = (
    _weakref.ProxyType,
    _weakref.CallableProxyType,
)  # operators are those of another object


def imports_in(source):
    """Yield (statement, whether it is at the top level) of each import; none of bad source."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and not getattr(node, "level", 0):
            yield node, node in tree.body


def import_all(source, needed):
    """Do the imports of a text; those at its top level may fail only where they are not needed."""
    for node, top in imports_in(source):
        try:
            exec(compile(ast.Module([node], []), "<imports>", "exec", dont_inherit=True), {})
        except Exception:
            if needed and top:
                raise


def imports_of(source):
    """Return what the imports of a text bind: in the original, one module has program and tests.

    One in 50 known solutions of BigCodeBench needs a name that its tests alone import.
    """
    found = {}
    for node, top in imports_in(source):
        if top:
            exec(compile(ast.Module([node], []), "<imports>", "exec", dont_inherit=True), found)
    return found


def own_unittest():
    """Return the modules of a unittest that `sys.modules` does not have."""

    def taken():
        names = [name for name in sys.modules if name.partition(".")[0] == "unittest"]
        return {name: sys.modules.pop(name) for name in names}

    shared = taken()
    import unittest.async_case
    import unittest.mock

    unittest.IsolatedAsyncioTestCase = unittest.async_case.IsolatedAsyncioTestCase
    own = taken()
    sys.modules.update(shared)
    return own


def all_classes():
    found, waiting = {id(object): object}, [object, type]
    while waiting:
        for kind in type.__subclasses__(waiting.pop()):
            if id(kind) not in found:
                found[id(kind)] = kind
                waiting.append(kind)
    return found


class Library:
    """Modules and classes that are there before the program begins.

    names  the names of the solution's module
    """

    def __init__(self, names, *sources):
        for source, needed in sources:
            import_all(source, needed)
        known = all_classes()
        self.known = {
            key: kind
            for key, kind in known.items()
            if str(kind.__module__).partition(".")[0] != "unittest" and kind not in FORWARDING
        }
        self.unittest = own_unittest()
        mine = [kind for key, kind in all_classes().items() if key not in known]
        self.known.update((id(kind), kind) for kind in mine)
        self.mock = self.unittest["unittest.mock"].NonCallableMock
        self.names = names
        modules = [vars(module) for module in sys.modules.values() if type(module) is MODULE]
        self.places = [(None, sys.modules), *((None, names) for names in modules)]
        self.places += [(kind, PARTS(kind)) for kind in mine]
        for kind in known.values():
            compares = any("__eq__" in PARTS(b) or "equals" in PARTS(b) for b in MRO(kind)[:-1])
            if compares and kind.__flags__ & HEAP_TYPE:
                self.places.append((kind, PARTS(kind)))
        case = self.unittest["unittest"].TestCase
        for name in dir(case):
            if name.startswith("assert") and not name.startswith(AS_GIVEN):
                setattr(case, name, self.cleaning(getattr(case, name)))

    def cleaning(self, function):
        @functools.wraps(function)
        def cleaned_first(case, *args, **named):
            return function(case, *[self.clean(part, {}) for part in args], **named)

        return cleaned_first

    # ---- what the program changed ----

    def state(self):
        """Return what `restore` puts back."""
        return [dict(names) for _, names in self.places]

    def restore(self, state):
        for (kind, names), before in zip(self.places, state):  # noqa: B905 - Python 3.8
            if len(names) == len(before) and all(
                map(operator.is_, names.values(), before.values())
            ):
                continue
            for name, old in before.items():
                put_back = names is sys.modules or type(old) in CALLABLE
                if put_back and names.get(name, MISSING) is not old:
                    if kind is None:
                        names[name] = old
                    else:
                        type.__setattr__(kind, name, old)
            if kind is not None:
                for name in set(COMPARED).intersection(names).difference(before):
                    type.__delattr__(kind, name)

    # ---- what the tests get ----

    def trusted(self, kind):
        """Return whether the operators of a class are those of classes that were there before."""
        if id(kind) in self.known:
            return True
        bases = MRO(kind)
        if id(type(kind)) not in self.known:
            return False
        if self.mock in bases:
            return True
        for name in OPERATORS:
            found = next((base for base in bases if name in PARTS(base)), None)
            if found is not None and id(found) not in self.known:
                return False
        return True

    def clean(self, value, seen):
        """Return what the tests get for a value of the solution."""
        kind = type(value)
        if kind in PLAIN or kind is Kept or id(value) in seen:
            return seen.get(id(value), value)
        if kind is FUNCTION and value.__globals__ is self.names:
            return kept.setdefault(id(value), guarded(value))
        if not self.trusted(kind):
            for base, plain in BASES:
                if base in MRO(kind):
                    return plain(value)
            return kept.setdefault(id(value), Kept(value))
        seen[id(value)] = value
        for base, tag, parts in CONTAINERS:
            if tag != "it" and base in MRO(kind):
                before = list(parts(value))
                after = [self.clean(part, seen) for part in before]
                if not all(map(operator.is_, before, after)):
                    seen[id(value)] = BUILD[tag](after)
                return seen[id(value)]
        for cells in cells_of(value, kind):
            plain = PLAIN.issuperset(map(type, cells))
            if not plain and any(self.clean(cell, seen) is not cell for cell in cells):
                raise BadData("a cell has operators of the program's own")
        return value


def cells_of(value, kind):
    """Return lists of the objects in an array of numpy, or in a frame or series of pandas."""
    root = str(kind.__module__).partition(".")[0]
    if root not in ("numpy", "pandas"):
        return []
    if root == "numpy":
        parts = [value] if hasattr(value, "ravel") else []
    elif kind.__name__ == "DataFrame":
        parts = [value.index, value.columns, *(value.iloc[:, i] for i in range(value.shape[1]))]
    else:
        parts = [value, getattr(value, "index", None)]
    found = [part for part in parts if getattr(getattr(part, "dtype", None), "kind", "") == "O"]
    return [part.ravel().tolist() if root == "numpy" else list(part.array) for part in found]


def guarded(function):
    """Return a function of the solution as the tests have it."""

    @functools.wraps(function)
    def call(*args, **named):
        return called(function, args, named)

    return call


def show_patches(patch, own_builtins):
    """Let the tests see what they patch in `builtins` themselves, such as `open`."""
    enter, leave = patch.__enter__, patch.__exit__

    def entered(self):
        found = enter(self)
        if self.target is builtins:
            own_builtins[self.attribute] = vars(builtins)[self.attribute]
        return found

    def left(self, *error):
        if self.target is builtins and self.attribute in BUILTINS:
            own_builtins[self.attribute] = BUILTINS[self.attribute]
        return leave(self, *error)

    patch.__enter__, patch.__exit__ = entered, left


def namespace_of(solution, prompt, library):
    """Return the names of a module for classes of tests: of the prompt, run before the program."""
    tests = MODULE("solution")  # `patch(__name__ + ".f")` is the program's f
    real_import, own = builtins.__import__, library.unittest

    def imported(name, namespace=None, local=None, names=(), level=0):
        if name in own:
            return own[name if names else "unittest"]
        return real_import(name, namespace, local, names, level)

    tests.__dict__["__builtins__"] = own_builtins = {**BUILTINS, "__import__": imported}
    show_patches(own["unittest.mock"]._patch, own_builtins)
    exec(compile(prompt, "<prompt>", "exec", dont_inherit=True), tests.__dict__)
    solution.__dict__["__builtins__"] = builtins
    file = os.path.join(os.getcwd(), "solution.py")  # noqa: PTH109,PTH118 - without pathlib
    solution.__dict__["__file__"] = tests.__dict__["__file__"] = file
    return tests


def prepare_classes(text, tree, code, answer, out, secret):
    """Return the steps of a run of classes of tests."""
    global library
    solution = MODULE("solution")
    try:
        sources = ((answer["prompt"], True), (text, True), (SOLUTION, False))  # noqa: F821
        library = Library(solution.__dict__, *sources)
        tests = namespace_of(solution, answer["prompt"], library)
    except BaseException as error:  # noqa: BLE001 - whatever the texts raise
        say(f"the tests cannot be run: {type(error).__name__}: {error}")
        os._exit(0)
    os.write(out, f"\n{answer['began']}\n".encode())
    sys.modules["solution"] = solution

    def run_solution():
        state = library.state()
        try:
            program = compile(SOLUTION, "solution.py", "exec", dont_inherit=True)  # noqa: F821
            exec(program, solution.__dict__)
        finally:
            library.restore(state)
        solution.__dict__.update({**imports_of(text), **solution.__dict__})

    def run_tests():
        try:
            undisturbed()
            vars(sys).update(STREAMS)
            namespace, own = tests.__dict__, solution.__dict__
            for name, kind in list(namespace.items()):
                # not isinstance, which asks an object: django's settings may not be configured
                if issubclass(type(kind), type) and issubclass(type(own.get(name)), type):
                    namespace[name] = own[name]
            read, attributes = free_names(tree)
            for name in (read | attributes | {*answer["names"], answer["entry"]}) & own.keys():
                if name == answer["entry"] or name not in namespace:
                    namespace[name] = clean(own[name], {})
            before = all_classes()
            exec(code, namespace)
            made = {key: kind for key, kind in all_classes().items() if key not in before}
            library.known.update(made)  # classes of the tests
            library.places += [(kind, PARTS(kind)) for kind in made.values()]
            run_classes(namespace, answer["classes"], library.unittest["unittest"])
            undisturbed()
        except BaseException as error:  # noqa: BLE001 - whatever it raises
            say(f"{failing_line(text)}{said_by(error)}")
            os._exit(0)

    return steps_of(run_solution, run_tests, out, secret)
