"""Runs in a template: imports what programs import at their top level, and hides it again.

A template executes this text (c/template/python.c); gradebox itself never imports it. It reads the
modules to import from a socket, one statement a line: `a.b.c` for `import a.b.c`, `a.b:c,d` for
`from a.b import c, d`. Its answer is the CPU time that they took, in ns. The base template has no
such socket.

A start by fork differs from a plain start in nothing but time:

- What a statement imported is put back, whole, when the program comes to that statement:
  `sys.modules`, and the modules as attributes of their parents. Before that it is invisible.
- Out of that order, or with another `sys.path`, other finders or another `__import__`, everything
  hidden is dropped, and the program's imports are Python's own.
- A statement that fails here is not hidden; it will fail in the program as well.

It runs on Python 3.8 and later, and loads no module that a start does not load.
"""

import sys

NAMES_FD = 5


def read_statements(posix):
    """Return the statements as (module, names), none in the base template."""
    text = b""
    try:
        while True:
            part = posix.read(NAMES_FD, 65536)
            if not part:
                break
            text += part
    except OSError:
        pass
    for line in text.decode().splitlines():
        module, _, names = line.partition(":")
        yield module, tuple(names.split(",")) if names else ()


def parent_of(name):
    """Return the parent module, if it is loaded, and the attribute that a module is in it."""
    parent, _, attribute = name.rpartition(".")
    return sys.modules.get(parent), attribute


def is_own_extension(module):
    """Return whether it is in machine code, and not of the standard library."""
    loader = type(getattr(module, "__loader__", None)).__name__
    return loader == "ExtensionFileLoader" and "lib-dynload" not in module.__file__


class Group:
    """What one import loaded.

    target  the module that the program asks for
    once    some of it cannot be loaded twice by one process, as NumPy
    """

    def __init__(self, target, loaded):
        self.target = target
        self.loaded = loaded  # name → module, in the order of sys.modules
        self.once = any(map(is_own_extension, loaded.values()))
        self.attributes = []
        for name, value in loaded.items():
            parent, attribute = parent_of(name)
            if parent is not None and vars(parent).get(attribute) is value:
                self.attributes.append((name, parent, attribute, value))

    def hide(self):
        for name in self.loaded:
            sys.modules.pop(name, None)
        for _, parent, attribute, _ in self.attributes:
            delattr(parent, attribute)

    def can_show(self):
        """Return whether the program has left alone what this import would meet."""
        return not any(name in sys.modules for name in self.loaded) and all(
            name.rpartition(".")[0] in self.loaded or parent_of(name)[0] is parent
            for name, parent, _, _ in self.attributes
        )

    def show(self):
        sys.modules.update(self.loaded)
        for _, parent, attribute, value in self.attributes:
            setattr(parent, attribute, value)


def import_statement(module, names):
    """Import as the statement does. Yield what each step of it loads, and None if it fails."""
    for step in ((), *((name,) for name in names)):
        before = dict(sys.modules)
        try:
            __import__(module, {}, {}, step, 0)
            failed = False
        except BaseException:  # noqa: BLE001 - whatever the module raises
            failed = True
        loaded = {
            name: value for name, value in sys.modules.items() if before.get(name) is not value
        }
        # The module that was asked for is complete last, and that is its place in sys.modules.
        group = Group(next(reversed(loaded), module) if step else module, loaded)
        if failed:
            group.hide()
            yield None
            return
        if loaded:
            yield group


FROZEN = "<frozen importlib._bootstrap>"  # tracebacks leave frames of this file out
FINDING = """
def _find_and_load(name, import_):
    if waiting:
        group = waiting[0]
        same = (sys.path, sys.meta_path, sys.path_hooks, builtins["__import__"]) == search
        if same and name == group.target and group.can_show():
            del waiting[0]
            group.show()
            return sys.modules[name]
        if not same or any(name in group.loaded for group in waiting):
            for group in waiting:
                if group.once:
                    group.show()
            waiting.clear()
    if not waiting:
        bootstrap._find_and_load = find_and_load
    return find_and_load(name, import_)
"""


def hide(groups):
    """Hide the groups, and put each back when its statement comes."""
    import _frozen_importlib as bootstrap

    builtins = vars(sys.modules["builtins"])
    paths = (list(sys.path), list(sys.meta_path), list(sys.path_hooks))
    for group in reversed(groups):
        group.hide()
    own = {
        "sys": sys,
        "builtins": builtins,
        "bootstrap": bootstrap,
        "waiting": groups,
        "search": (*paths, builtins["__import__"]),
        "find_and_load": bootstrap._find_and_load,
    }
    exec(compile(FINDING, FROZEN, "exec"), own)
    bootstrap._find_and_load = own["_find_and_load"]


def seed_numpy():
    random = sys.modules.get("numpy.random")
    if random is not None and hasattr(random, "seed"):
        import os

        os.register_at_fork(after_in_child=random.seed)


def begin():
    """Make `__main__` what it is when a script starts."""
    import _frozen_importlib_external as external

    names = vars(sys.modules["__main__"])
    names["__file__"] = sys.argv[0]
    names["__cached__"] = None
    names["__loader__"] = external.SourceFileLoader("__main__", sys.argv[0])


MOST_OBJECTS = 100000
# Their objects write something when they are freed.
WRITERS = ("_dbm", "_gdbm", "_sqlite3")
# Weak references whose callbacks change nothing but a container.
CONTAINERS = ("weakref", "_weakrefset", "_abc")


def finish_with(gc):
    """Return what is called when the program has ended, as the interpreter's own end begins.

    It returns True if the process may exit now, because freeing the program's objects one by one
    would do nothing that can be seen. It runs no code of the program.
    """
    import _io
    import _thread
    import _warnings
    import _weakref
    import atexit

    text, reader, file = _io.TextIOWrapper, _io.BufferedReader, _io.FileIO
    silent = {_io.BytesIO, _io.StringIO, file, reader}
    mro_of = type.__dict__["__mro__"].__get__
    names_of = type.__dict__["__dict__"].__get__
    callback_of = _weakref.ref.__dict__["__callback__"].__get__
    streams = [id(sys.__stdout__), id(sys.__stderr__)]

    def has_del(kind):
        return kind not in silent and any("__del__" in names_of(base) for base in mro_of(kind))

    def calls_back(reference):
        callback = callback_of(reference)
        if callback is None:
            return False
        if type(callback) is type(len) and isinstance(callback.__self__, _weakref.ref):
            return False  # abstract base classes drop a class from their caches
        kind = type(reference)
        known = kind is _weakref.ref or kind.__name__ == "KeyedRef"
        return not known or getattr(callback, "__module__", None) not in CONTAINERS

    def warns_of_resources():
        filters = getattr(sys.modules.get("warnings"), "filters", _warnings.filters)
        for action, message, category, module, line in filters:
            if issubclass(ResourceWarning, category):
                if action != "ignore":
                    return True
                if message is None and module is None and not line:
                    return False
        return True

    def has_callbacks():
        others = sys.modules.get("atexit", atexit)  # until Python 3.9 each has its own
        threading = sys.modules.get("threading")
        return (
            atexit._ncallbacks()
            or others._ncallbacks()
            or getattr(threading, "_threading_atexits", None)
        )

    def has_effect(objects):
        kinds = set(map(type, objects))
        if any(has_del(kind) for kind in kinds if kind is not text):
            return True
        metaclasses = {kind for kind in kinds if type in mro_of(kind)}
        # The collector does not know the objects of some classes.
        if metaclasses and any(has_del(x) for x in objects if type(x) in metaclasses):
            return True
        if text in kinds and any(type(x.buffer) not in silent for x in objects if type(x) is text):
            return True
        if reader in kinds and any(type(x.raw) is not file for x in objects if type(x) is reader):
            return True
        if _weakref.ProxyType in kinds or _weakref.CallableProxyType in kinds:
            return True
        references = {kind for kind in kinds if _weakref.ref in mro_of(kind)}
        return bool(references) and any(calls_back(x) for x in objects if type(x) in references)

    def finish():
        try:
            if warns_of_resources() or has_callbacks():
                return False
            if (
                "gc" in sys.modules
                or _thread._count()
                or not sys.modules.keys().isdisjoint(WRITERS)
            ):
                return False
            if [id(sys.__stdout__), id(sys.__stderr__)] != streams:
                return False
            objects = gc.get_objects()  # all that were made since the template
            if len(objects) > MOST_OBJECTS or has_effect(objects):
                return False
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                if stream is not None and not getattr(stream, "closed", False):
                    stream.flush()
            return True
        except BaseException:  # noqa: BLE001 - the interpreter's own end meets it again
            return False

    return finish


def main():
    before = set(sys.modules)
    import gc
    import posix
    import time

    folder = sys.path.pop(0)  # of the program
    groups = []
    statements = list(read_statements(posix))
    began_ns = time.thread_time_ns()
    for module, names in statements:
        some = list(import_statement(module, names))
        groups += filter(None, some)
        if None in some:
            break
    for stream in (sys.stdout, sys.stderr):  # the box sees if a module has printed something
        stream.flush()
    if statements:
        posix.write(NAMES_FD, str(time.thread_time_ns() - began_ns).encode())
    sys.path.insert(0, folder)
    sys.gradebox_begin = begin
    sys.gradebox_finish = finish_with(gc)
    sys.gradebox_unfreeze = gc.unfreeze
    if groups:
        seed_numpy()
        hide(groups)
    kept = {name for group in groups for name in group.loaded}
    for name in set(sys.modules) - before - kept:
        del sys.modules[name]
    if not groups:
        gc.collect()
    gc.freeze()


if __name__ == "__main__":
    main()
