"""Runs in a template: lets it execute the imports with which programs begin.

A template executes this text (c/template/python.c); gradebox itself never imports it. It reads the
statements from a socket, one a line: `a.b.c` for `import a.b.c`, `a.b:c,d` for
`from a.b import c, d`, `=n` for `sys.setrecursionlimit(n)`. Its answer is the CPU time that they
took, in ns. The base template has no such socket.

The statements are the program's own beginning, and nothing that comes before their end could see
them (python_compile.py). The template executes them as `__main__`; the program executes them again,
where they only bind names. So modules are what they are after a plain start, all of them at once,
and no import is hidden, moved or left out. A template is not used if a statement fails, or leaves
something in `__main__` that it does not bind there.

It runs on Python 3.8 and later, and loads no module that a start does not load.
"""

import sys

NAMES_FD = 5


def read_statements(posix):
    """Return the statements as source text, none in the base template."""
    text = b""
    try:
        while True:
            part = posix.read(NAMES_FD, 65536)
            if not part:
                break
            text += part
    except OSError:
        pass
    return "\n".join(map(as_source, text.decode().splitlines()))


def as_source(statement):
    module, _, names = statement.partition(":")
    if statement[0] == "=":
        return "import sys; sys.setrecursionlimit(" + statement[1:] + ")"
    return "from " + module + " import " + names if names else "import " + module


def hide_folder(external):
    """Let imports find nothing in the program's folder. Return a function that ends this.

    The folder's entry in `sys.path` stays, and imports look there first, as after a plain start.
    """
    folder, cache = sys.path[0], sys.path_importer_cache
    finder = cache[folder] = external.PathFinder._path_hooks(folder)
    used = []
    finder.find_spec = lambda name, target=None: used.append(name)

    def show():
        del finder.find_spec
        if not used:
            del cache[folder]

    return show


def start_time(logging):
    import time

    in_ns = isinstance(logging._startTime, int)
    logging._startTime = time.time_ns() if in_ns else time.time()


def secret(process):
    import posix

    key = process.AuthenticationString(posix.urandom(32))
    process._current_process._config["authkey"] = key


# What these modules read when they are imported is different in each process.
RENEWED = {
    "logging": start_time,
    "multiprocessing.process": secret,
    "numpy.random": lambda module: module.seed(),
    "threading": lambda module: module._main_thread._set_native_id(),
}


def renew_in_run(known):
    """Renew modules that are not `known` in the run, and not in processes that the run forks."""
    waiting = [name for name in RENEWED if name in sys.modules and name not in known]

    def renew():
        while waiting:
            name = waiting.pop()
            RENEWED[name](sys.modules[name])

    if waiting:
        import os

        os.register_at_fork(after_in_child=renew)


def begin():
    """Make `__main__` what it is when a script starts. Return an object of this process."""
    import _frozen_importlib_external as external

    names = vars(sys.modules["__main__"])
    names["__file__"] = sys.argv[0]
    if sys.version_info < (3, 15):
        names["__cached__"] = None
    names["__loader__"] = loader = external.SourceFileLoader("__main__", sys.argv[0])
    return loader


MOST_OBJECTS = 100000
# Objects of these modules write something when they are freed.
WRITERS = ("_dbm", "_gdbm", "_sqlite3")
# Weak references whose callbacks change nothing but a container.
CONTAINERS = ("weakref", "_weakrefset", "_abc")


def finish_with(gc):
    """Return the function to call when the program has ended and the interpreter's end begins.

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
            if _thread._count() or not sys.modules.keys().isdisjoint(WRITERS):
                return False
            if gc.get_debug() or gc.callbacks or not gc.get_freeze_count():
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
        except BaseException:  # noqa: BLE001 - the interpreter's own end meets the error again
            return False

    return finish


HEAP_TYPE = 1 << 9


def classes_without_del(objects):
    """Return the addresses of classes that may be given a `__del__` for objects that exist."""
    flags_of = type.__dict__["__flags__"].__get__
    mro_of = type.__dict__["__mro__"].__get__
    names_of = type.__dict__["__dict__"].__get__
    return b"".join(
        id(kind).to_bytes(8, sys.byteorder)
        for kind in objects
        if type in mro_of(type(kind))
        and flags_of(kind) & HEAP_TYPE
        and not any("__del__" in names_of(base) for base in mro_of(kind))
    )


def main():
    before = set(sys.modules)
    import _frozen_importlib_external as external
    import gc
    import posix
    import time

    finish = finish_with(gc)
    for name in set(sys.modules) - before:
        del sys.modules[name]
    source = read_statements(posix)
    code = compile(source, sys.argv[0], "exec") if source else None
    names = vars(sys.modules["__main__"])
    own = dict(names)
    show_folder = hide_folder(external) if source else None
    began_ns = time.thread_time_ns()

    def check_imports():
        """Execute the imports again, as the program will; raise an exception if that shows."""
        modules = list(sys.modules.items())
        exec(code, names)
        if list(sys.modules.items()) != modules:
            raise ImportError("a module is imported twice")
        bound = {"__file__", "__cached__", *code.co_names}
        for line in source.splitlines():
            words = line.split()
            if words[-1] == "*":
                bound |= {name for name in vars(sys.modules[words[1]]) if name[:2] != "__"}
        if not names.keys() <= own.keys() | bound:
            raise ImportError("a module has changed __main__")
        names.clear()
        names.update(own)

    def ready():
        """Return the addresses of all classes that are new and have no `__del__`."""
        if source:
            posix.write(NAMES_FD, str(time.thread_time_ns() - began_ns).encode())
            check_imports()
            show_folder()
        else:
            gc.collect()
        for stream in (sys.stdout, sys.stderr):  # the box sees if a module has printed something
            stream.flush()
        renew_in_run(before)
        classes = classes_without_del(gc.get_objects())
        gc.freeze()
        return classes

    sys.gradebox_begin = begin
    sys.gradebox_imports = code
    sys.gradebox_ready = ready
    sys.gradebox_finish = finish
    sys.gradebox_unfreeze = gc.unfreeze
    sys.gradebox_objects = gc.get_objects


if __name__ == "__main__":
    main()
