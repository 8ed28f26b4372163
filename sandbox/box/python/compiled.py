"""What a compilation of a Python program wrote for its start by fork (python_compile.py)."""

from __future__ import annotations

import re

from gradebox.sandbox.box.built_program import ForkedStart
from gradebox.sandbox.model import Execution

COMPILED = 61  # exit status
MOST_IMPORTS = 4000  # characters
MOST_CODE = 32 << 20  # bytes; each run gets a copy
DURATION = re.compile(r"[0-9]{1,18}")  # ns
NAME = r"[A-Za-z_][A-Za-z0-9_]*"
STATEMENT = re.compile(rf"{NAME}(\.{NAME})*(:({NAME}(,{NAME})*|\*))?|=[0-9]{{4,10}}")


def forked_start(execution: Execution, *, alone: bool) -> ForkedStart | None:
    """Return how the program starts by fork; None when its plain start decides.

    alone  the program has one file: its imports cannot be files of its own

    The text was written by a process that had read the program, so nothing in it is trusted: names
    are checked, and the code is read by no process but runs of the program.
    """
    if execution.exit_code != COMPILED or not execution.stdout or execution.stdout_cut:
        return None
    head, _, code = execution.stdout.partition(b"\0")
    first, *statements = head.decode("ascii", "replace").split("\n")
    if not DURATION.fullmatch(first) or not code or len(code) > MOST_CODE:
        return None
    compile_s = min(int(first) / 1e9, execution.cpu_s)
    imports = "\n".join(_known(statements)) if alone else ""
    # Warnings about the source are shown by the interpreter that compiles it, in every run.
    if execution.stderr:
        return ForkedStart(imports)
    return ForkedStart(imports, code, compile_s=compile_s)


def _known(statements: list[str]) -> list[str]:
    """Return the statements before the first one that is no plain ASCII, or too much."""
    known: list[str] = []
    size = 0
    for statement in statements:
        size += len(statement) + 1
        if size > MOST_IMPORTS or not STATEMENT.fullmatch(statement):
            break
        known.append(statement)
    while known and known[-1][0] == "=":  # no import follows
        known.pop()
    return known
