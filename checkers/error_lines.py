"""The one line of a compiler's messages, or of a program's stderr, that names the error.

    compiler's log  ─▶ error_line ─▶ "main.cpp:3:5: error: 'x' was not declared"
    program's stderr ─▶ crash_line ─▶ "IndexError: list index out of range"

Runtimes write more around it: where it happened, what else to try, their own version. Most name
the error in their last line at the margin; `_NAMED` has the others.
"""

from __future__ import annotations

import re

# rustc counts its errors at the end; go build names the package first.
_COMPILER_ERROR = re.compile(r"error(?:\[\w+\])?:(?! aborting due to)")
_NO_ERROR = re.compile(r"\s|# ")


def error_line(log: str) -> str:
    """Return the line of a compiler's messages that names the error.

    It is the first one with "error:" that is not indented, since g++ names the function before it;
    else the first one that is not indented, since Python quotes the source before it.
    """
    lines = [line for line in log.splitlines() if line.strip()]
    whole = [line for line in lines if not _NO_ERROR.match(line)]
    named = [line for line in whole if _COMPILER_ERROR.search(line)]
    return next(iter((*named, *whole, *lines)), "").strip()


# The first that matches counts. A program wrote the text, so none may take more than linear time:
# each reads on from a line's start, and over a character once.
_NAMED = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        # Java's launcher says first what is wrong, such as a class without main, then how to do it.
        r"\A(Error: .*)",
        # Python; groups have a margin. Of several tracebacks the last one ended the program.
        r"^ *\+ Exception Group Traceback .*\n(?: *\|   .*\n)* *\| (\S.*)",
        r"\A[\s\S]*^Traceback \(most recent call last\):\n(?:[ \t].*\n)*(\S.*)",
        r"^((?:panic|fatal error|(?:PHP )?Fatal error): .*)",  # Go, PHP
        r"^ +(what\(\): .*)",  # C++
        r"^([^\s:]+:[0-9]+:.*\([A-Z][\w:]*\))$",  # Ruby
        r"\A(?=[\s\S]*^Node\.js v)[\s\S]*?^[ \t]*\^+\n+(\S.*)",  # Node, below the source
    )
)
# At the margin too: Node, Rust, Lua.
_NOT_THE_ERROR = re.compile(r"\s|\(Use `node |Node\.js v|note: run with `RUST_|stack traceback:$")


def crash_line(stderr: str) -> str:
    """Return the line of a failed program's stderr that names its error; "" when it is blank."""
    for pattern in _NAMED:
        found = pattern.search(stderr)
        if found:
            return found[1].strip()
    lines = [line for line in stderr.splitlines() if line.strip()]
    told = [line for line in lines if not _NOT_THE_ERROR.match(line)]
    return (told or lines or [""])[-1].strip()
