"""Let the interpreter of a sandbox compile a Python program without running it.

    source ─▶ files + command ─▶ one run in a sandbox ─▶ Execution ─▶ rejection: message | None

The interpreter is started as for a run, so that it reads the file as it would then: encodings,
byte order marks, null bytes, nesting. `HOOK`, which it imports before the program, ends the
process when the compiled program is about to be executed, or with the SyntaxError that a start
prints. None of the program's code runs, so the answer is the interpreter's own.
"""

from __future__ import annotations

from collections.abc import Sequence

from gradebox.sandbox.model import Execution

REJECTED = 62  # exit status
HOOK_NAME = "sitecustomize.py"  # imported by every start of Python and PyPy
# Needs Python 3.8 (sys.addaudithook); before that, the answer is unknown. An error that is no
# SyntaxError, such as a MemoryError for deep nesting, and a crash leave the answer unknown too.
# With MAIN given, it also writes what a start by fork needs: the CPU time of compiling, what the
# program imports at its top level and is not loaded at every start, and the compiled program. The
# imports end at the first statement that may change what the next ones see, such as a change of
# os.environ; definitions and the program's own variables do not.
HOOK = b"""\
import sys

LOADED = set(sys.modules)  # at every start
# Programs with these words may see that modules were imported before.
OBSERVERS = b"settrace", b"setprofile", b"monitoring", b"addaudithook", b"__subclasses__"
SETTINGS = "setrecursionlimit", "set_int_max_str_digits", "stack_size", "setrlimit"

import io
import os
import time


def end_before_the_program(event, args):
    if event == "exec" and args:
        path = os.path.abspath(getattr(args[0], "co_filename", ""))
        if path == MAIN and WRITES_CODE:
            end_with_the_code(args[0])
        if path == MAIN or path.startswith(MAIN + os.sep):  # the latter: of a zip file
            os._exit(61)


def end_with_the_code(code):
    try:
        import marshal

        sys.stderr.flush()  # warnings about the source
        compiled_ns = time.thread_time_ns() - began_ns
        sys.stderr.flush()  # warnings; before Python 3.9, it does not write lines at once
        text = "\\n".join([str(compiled_ns), *imports()]).encode()
        data = text + b"\\0" + MAGIC + bytes(12) + marshal.dumps(code)
        while data:
            data = data[os.write(1, data) :]
        os._exit(61)
    except BaseException:
        os._exit(63)


def imports():
    with open(MAIN, "rb") as file:
        source = file.read()
    lines = b"\\n" + source
    last = max(lines.rfind(b"\\nimport "), lines.rfind(b"\\nfrom "))
    if last < 0:
        return
    end = lines.find(b"\\n", last + 1)
    try:
        tree = compile(lines[1:end] if end > 0 else source, MAIN, "exec", 0x400)  # PyCF_ONLY_AST
    except SyntaxError:  # the last one is within a text, or has several lines
        tree = compile(source, MAIN, "exec", 0x400)
    if any(word in source for word in OBSERVERS):
        return
    for node in tree.body:
        kind = type(node).__name__
        if not leaves_imports_alone(kind, node):
            return
        if kind == "Import":
            for alias in node.names:
                if alias.name not in LOADED:
                    yield alias.name
        elif kind == "ImportFrom" and not node.level:
            names = [alias.name for alias in node.names]
            loaded = sys.modules[node.module] if node.module in LOADED else None
            if not all(hasattr(loaded, name) for name in names):
                yield node.module + ":" + ",".join(names)


def leaves_imports_alone(kind, node):
    if kind == "Expr":
        call = getattr(node.value, "func", None)
        return call is None or getattr(call, "attr", "") in SETTINGS
    if kind in ("Assign", "AnnAssign"):
        targets = getattr(node, "targets", None) or [node.target]
        names = [x for target in targets for x in getattr(target, "elts", [target])]
        return all(hasattr(x, "id") for x in names)
    if kind == "ClassDef":
        return not any(type(x).__name__ in ("Import", "ImportFrom") for x in node.body)
    return kind in ("Import", "ImportFrom", "FunctionDef", "AsyncFunctionDef")


def end_with_the_error(kind, value, trace):
    if not isinstance(value, SyntaxError):
        os._exit(63)
    sys.stderr = io.StringIO()
    sys.__excepthook__(kind, value, trace)
    text = sys.stderr.getvalue()
    if len(text) > 8000:  # it quotes the line, which may be the whole program
        text = text[:4000] + "\\n...\\n" + text[-4000:]
    os.write(2, text.encode("utf-8", "backslashreplace"))
    os._exit(62)


try:
    WRITES_CODE = "MAIN" in globals()
    if not WRITES_CODE:
        MAIN = os.path.abspath(os.environ["GRADEBOX_COMPILE"])
    MAGIC = sys.modules["_frozen_importlib_external"].MAGIC_NUMBER
    with open(MAIN, "rb") as file:
        if file.read(2) == MAGIC[:2]:
            os._exit(61)  # compiled already
    sys.addaudithook(end_before_the_program)
    sys.excepthook = end_with_the_error
    began_ns = time.thread_time_ns()
except BaseException:
    os._exit(63)
"""


def files(name: str, source: bytes) -> dict[str, bytes]:
    """Return the files of a compilation; they must be in a folder of their own."""
    return {name: source, HOOK_NAME: HOOK}


def command(run: Sequence[str], folder: str, main: str) -> list[str]:
    """Return the command that compiles.

    run     the command that runs the program
    folder  of the files, as the command sees it
    main    path of the source, as in `run`
    """
    settings = (f"PYTHONPATH={folder}", "PYTHONWARNINGS=ignore", f"GRADEBOX_COMPILE={main}")
    return ["/usr/bin/env", *settings, *run]


def rejection(execution: Execution) -> bytes | None:
    """Return the interpreter's message for a program that does not compile.

    None for a program that compiles, and when the compilation ended in any other way: a run
    then shows what is wrong.
    """
    return execution.stderr if execution.exit_code == REJECTED else None
