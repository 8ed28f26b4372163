"""What the text of tests is about: the names that it needs, and the line that failed.

This text runs in boxes, in front of what runs the tests.
"""

import __future__

import ast
import builtins
import sys

FILE = "<tests>"
# Annotations stay text: `List` and classes in them may be the solution's, without operators here.
LATE = __future__.annotations.compiler_flag
# used in tests whose imports are in the solution
MODULES = frozenset(
    (
        "array",
        "bisect",
        "collections",
        "copy",
        "datetime",
        "functools",
        "heapq",
        "itertools",
        "json",
        "math",
        "operator",
        "random",
        "re",
        "string",
        "sys",
    )
)


def free_names(tree):
    """Return the names that a text reads and does not define, and those that only have `.x`."""
    read, attributes, defined = set(), set(), set(dir(builtins))
    bases = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            (attributes if id(node) in bases else read).add(node.id)
        elif isinstance(node, ast.Name):
            defined.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            defined.add(node.name)
    return read - defined, attributes - read - defined


def failing_line(text):
    """Return the line of the tests that the current exception comes from."""
    lines, trace, rows = [], sys.exc_info()[2], text.splitlines()
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILE:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    return f"line {lines[-1]}: {rows[lines[-1] - 1].strip()[:160]}" if lines else "the tests"
