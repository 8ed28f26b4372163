"""Runs in a template: imports what programs import at their top level, and hides it again.

A template executes this text (c/template/python.c); gradebox itself never imports it. It reads the
modules to import from a socket, one statement a line: `a.b.c` for `import a.b.c`, `a.b:c,d` for
`from a.b import c, d`. Its answer is the CPU time that they took, in ns. The base template has no
such socket.

A start by fork differs from a plain start in nothing but time:

- What a statement imported is put back, whole, when the program comes to that statement:
  `sys.modules`, and the modules as attributes of their parents. Before that it is invisible.
- Out of that order, or with another `sys.path` or other finders, everything hidden is dropped, and
  the program's imports are Python's own.
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


class Group:
    """What one statement imported."""

    def __init__(self, module, names, loaded):
        self.targets = {module, *(module + "." + name for name in names)}
        self.loaded = loaded  # name → module, in the order of sys.modules
        self.attributes = []
        for name, value in loaded.items():
            parent, attribute = parent_of(name)
            if parent is not None and vars(parent).get(attribute) is value:
                self.attributes.append((parent, attribute, value))

    def hide(self):
        for name in self.loaded:
            sys.modules.pop(name, None)
        for parent, attribute, _ in self.attributes:
            delattr(parent, attribute)

    def show(self):
        sys.modules.update(self.loaded)
        for parent, attribute, value in self.attributes:
            setattr(parent, attribute, value)


def import_statement(module, names):
    """Import as the statement does. Return what it loaded, or None when it fails."""
    before = dict(sys.modules)
    try:
        __import__(module, {}, {}, names, 0)
        failed = False
    except Exception:  # noqa: BLE001 - whatever the module raises
        failed = True
    loaded = {name: value for name, value in sys.modules.items() if before.get(name) is not value}
    group = Group(module, names, loaded)
    if failed:
        group.hide()
        return None
    return group


FROZEN = "<frozen importlib._bootstrap>"  # tracebacks leave frames of this file out
FINDING = """
def _find_and_load(name, import_):
    if waiting:
        group = waiting[0]
        if name in group.targets and (sys.path, sys.meta_path, sys.path_hooks) == search:
            del waiting[0]
            group.show()
            return sys.modules[name]
        for group in waiting:
            if name in group.loaded:
                waiting.clear()
                break
    return find_and_load(name, import_)
"""


def hide(groups):
    """Hide the groups, and put each back when its statement comes."""
    import _frozen_importlib as bootstrap

    for group in reversed(groups):
        group.hide()
    own = {
        "sys": sys,
        "waiting": groups,
        "search": (list(sys.path), list(sys.meta_path), list(sys.path_hooks)),
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
# Types whose objects write something when they are freed, though they have no __del__.
WRITERS = {"_dbm", "_gdbm", "_sqlite3", "mmap", "sqlite3"}


def finish_with(gc):
    """Return what is called when the program has ended, as the interpreter's own end begins.

    It returns True if the process may exit now, because freeing the program's objects one by one
    would do nothing that can be seen.
    """
    import _io
    import _thread
    import _weakref

    silent = {_io.BytesIO, _io.StringIO, _io.FileIO, _io.BufferedReader}

    def has_effect(kind):
        if kind in silent or kind is _io.TextIOWrapper:
            return False
        return hasattr(kind, "__del__") or kind.__module__.partition(".")[0] in WRITERS

    def is_writer(x):
        return type(x) is _io.TextIOWrapper and not x.closed and x.writable()

    def calls_back(reference):
        callback = getattr(reference, "__callback__", None)
        if type(callback) is type(len) and isinstance(callback.__self__, _weakref.ref):
            return False  # abstract base classes drop a class from their caches
        module = getattr(callback, "__module__", None)
        return callback is not None and module not in ("weakref", "_weakrefset", "_abc")

    def finish():
        try:
            vars(sys.modules["__main__"]).pop("__file__", None)
            vars(sys.modules["__main__"]).pop("__cached__", None)
            if "threading" in sys.modules:
                sys.modules["threading"]._shutdown()
            if "atexit" in sys.modules:
                sys.modules["atexit"]._run_exitfuncs()
            for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                if stream is not None and not stream.closed:
                    stream.flush()
            if "gc" in sys.modules or _thread._count() or sys.gettrace() or sys.getprofile():
                return False
            objects = gc.get_objects()  # all that were made since the template
            if len(objects) > MOST_OBJECTS:
                return False
            kinds = set(map(type, objects))
            if any(map(has_effect, kinds)):
                return False
            if _io.TextIOWrapper in kinds and any(map(is_writer, objects)):
                return False
            if any(issubclass(kind, _weakref.ref) for kind in kinds):
                return not any(calls_back(x) for x in objects if isinstance(x, _weakref.ref))
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
        group = import_statement(module, names)
        if group is None:
            break
        if group.loaded:
            groups.append(group)
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
