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
# imports end at the first statement that could see whether the next one has been executed already:
# nothing before it may call or read what a module has defined.
HOOK = b"""\
import sys

LOADED = set(sys.modules)  # at every start
import _ast
import io
import os
import time


def end_before_the_program(event, args):
    if event == "exec" and args:
        path = os.path.abspath(getattr(args[0], "co_filename", ""))
        if path == MAIN and WRITES_CODE:
            end_with_the_code(args[0])
        if path == MAIN or path.startswith(MAIN + os.sep):  # below MAIN: it is a zip file
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
    for node in tree.body:
        kind = type(node).__name__
        if getattr(node, "is_lazy", 0):  # the template would import at once
            return
        if kind == "Import":
            for alias in node.names:
                if alias.name not in LOADED:
                    yield alias.name
        elif kind == "ImportFrom" and not node.level:
            names = [alias.name for alias in node.names]
            loaded = sys.modules[node.module] if node.module in LOADED else None
            if not all(name == "*" and loaded or hasattr(loaded, name) for name in names):
                yield node.module + ":" + ",".join(names)
        elif not sees_no_import(kind, node):
            limit = recursion_limit(node)
            if not limit:
                return
            yield "=" + str(limit)


def sees_no_import(kind, node):
    if kind == "Expr":
        return is_plain(node.value)
    if kind in ("Assign", "AnnAssign"):
        targets = getattr(node, "targets", None) or [node.target]
        annotation = getattr(node, "annotation", None)
        named = all(getattr(x, "id", "__lazy_modules__") != "__lazy_modules__" for x in targets)
        return named and is_plain(annotation, node.value)
    if kind == "ClassDef":
        body = [(type(x).__name__, x) for x in node.body]
        rest = (node.bases, node.keywords, node.decorator_list)
        return not any(rest) and all(sees_no_import(*x) for x in body)
    if kind in ("FunctionDef", "AsyncFunctionDef"):
        a = node.args
        given = [*a.args, *a.kwonlyargs, *a.posonlyargs, a.vararg, a.kwarg]
        notes = [x.annotation for x in given if x]
        defaults = [*a.defaults, *a.kw_defaults]
        return not node.decorator_list and is_plain(node.returns, *notes, *defaults)
    return kind == "Pass"


def is_plain(*nodes):
    for node in nodes:
        kind = type(node).__name__
        if kind == "Attribute":
            while type(node).__name__ == "Attribute":
                node = node.value
            if getattr(node, "id", "") != "sys":
                return False
        elif kind in ("List", "Tuple"):
            if not is_plain(*node.elts):
                return False
        elif kind in ("BinOp", "UnaryOp"):
            sides = [node.operand] if kind == "UnaryOp" else [node.left, node.right]
            if not is_plain(*sides) or any(hasattr(x, "id") for x in sides):
                return False
        elif kind not in ("Constant", "Name", "NoneType"):
            return False
    return True


def recursion_limit(node):
    call = node.value if type(node).__name__ == "Expr" else None
    function = getattr(call, "func", None)
    if getattr(function, "attr", "") != "setrecursionlimit" or len(call.args) != 1:
        return None
    if getattr(function.value, "id", "") != "sys" or call.keywords:
        return None
    code = compile(_ast.Expression(call.args[0]), MAIN, "eval")
    consts = code.co_consts
    is_folded = len(code.co_code) == len(compile("9999", MAIN, "eval").co_code)
    if is_folded and sys.version_info >= (3, 14):
        consts = consts[-1:]  # 10**6 has left a 10 before its value
    limits = [x for x in consts if type(x) is int and 1000 <= x < 2**31]
    return limits[0] if not code.co_names and len(limits) == len(consts) == 1 else None


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
