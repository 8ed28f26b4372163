"""Run a script as a notebook runs a cell: a program for a box, which open_r1.py sends there.

stdin              the name of the answer's file, a line break, and the script
the answer's file  {"text": the last expression's value, "error": {"name", …} or null}

The script is no part of the program, which is so compiled once for all scripts.
"""

import ast
import json
import sys
import traceback
from pathlib import Path


def run_cell(source: str, answer_file: str) -> None:
    """Run a script, whose lines may all be indented; write what its last expression is."""
    names = sys.modules["__main__"].__dict__
    text = error = None
    answer = Path(answer_file).absolute()  # the script may change the folder
    try:
        statements = ast.parse(without_indentation(source)).body
        last = statements.pop() if statements and isinstance(statements[-1], ast.Expr) else None
        exec(compile(ast.Module(statements, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            text = None if value is None else repr(value)
    except BaseException as raised:  # noqa: BLE001 - a notebook reports SystemExit as well
        written = traceback.format_exc()
        error = {"name": type(raised).__name__, "value": str(raised), "traceback": written}
    answer.write_text(json.dumps({"text": text, "error": error}), "utf-8")


def without_indentation(source: str) -> str:
    """Take the indentation of the first line off every line that has it."""
    lines = source.lstrip("\n").splitlines(keepends=True)
    first = lines[0] if lines else ""
    indentation = first[: len(first) - len(first.lstrip(" \t"))]
    return "".join(line.removeprefix(indentation) for line in lines)


if __name__ == "__main__":
    given = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    name, _, script = given.partition("\n")
    run_cell(script, name)
