"""The Python code that runs in templates and in forked programs, as texts for PyRun_SimpleString.

All are ASCII without null bytes, and leave no name in `__main__`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradebox.sandbox.python_compile import HOOK

# As `__main__`, so that warnings about imports are shown as they are to the program.
PRELUDE_NAMES = {"__name__": "__main__"}
ADD_ARGUMENTS = """\
import sys
sys.argv += ARGUMENTS
if hasattr(sys, "orig_argv"):
    sys.orig_argv += ARGUMENTS
"""
# A template's streams are files, and remember that they can seek.
OPEN_PIPES = """\
import sys
for stream in (sys.stdin, sys.stdout):
    buffer, mode = stream.buffer, stream.mode
    old = buffer.raw
    raw = type(old)(old.fileno(), old.mode, closefd=False)
    raw.name = old.name
    buffer.__init__(raw)
    options = {"line_buffering": stream.line_buffering, "write_through": stream.write_through}
    stream.__init__(buffer, stream.encoding, stream.errors, "\\n", **options)
    stream.mode = mode
"""


def _executed(code: str, names: dict[str, Any]) -> str:
    return f"exec({code!a}, {names!a})\n"


def prelude() -> str:
    """Return what a template runs once it has started; see prelude.py."""
    source = Path(__file__).with_name("prelude.py").read_text("utf-8")
    return _executed(source, PRELUDE_NAMES)


def with_arguments(args: Sequence[str]) -> str:
    """Return code that gives a program its arguments, which its template was not started with."""
    return _executed(ADD_ARGUMENTS, {"ARGUMENTS": list(args)}) if args else ""


def with_pipes() -> str:
    """Return code that makes a program's stdin and stdout what they are when both are pipes."""
    return _executed(OPEN_PIPES, {})


def compile_only(main: str) -> str:
    """Return code that ends the process with the compiled program; see python_compile.py."""
    return _executed(HOOK.decode(), {"MAIN": main})
