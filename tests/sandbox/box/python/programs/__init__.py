"""Programs that a forked start and a plain start must run alike: one table for each topic.

A table is a text file. Each program follows a line `=== its label`, which may go on with
`=== options` of `BothWays.run` in JSON (a text is the bytes of its characters, as in Latin-1).
Programs that are not plain lines of UTF-8, or are made, are in ODD.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from gradebox.sandbox.model import Limits

Source = str | bytes
Table = dict[str, Source | tuple[Source, dict[str, Any]]]

POOL = """
from concurrent.futures import ProcessPoolExecutor
import sys
print("concurrent.futures.process" in sys.modules)
def double(x): return 2 * x
if __name__ == "__main__":
    try:
        with ProcessPoolExecutor(2) as pool: print(list(pool.map(double, range(5))))
    except OSError as e:
        print(e)
"""
ADDS = "import sys\nx = sys.stdin.read()\nprint(len(x), sum(map(int, x.split())))\n"
ADDS_LINES = "n = int(input())\nprint(sum(int(input()) for _ in range(n)))\n"
LATIN = b"# -*- coding: latin-1 -*-\n"
COOKIE = b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n"
ODD: dict[str, Table] = {
    "endings": {
        "null byte": b"print(1)\n\0\n",
        "only a byte order mark": b"\xef\xbb\xbf",
        "byte order mark": b"\xef\xbb\xbfprint(__name__, 'x')\n",
        "latin-1 cookie": LATIN + b"print(ascii('\xe9'))\nraise ValueError('\xe9')\n",
        "unknown cookie": b"# coding: no-such-encoding\nprint(1)\n",
        "not utf-8": b"print('\xe9')\n",
        "cp1252 cookie on the second line": COOKIE + b"print(ascii('\x80'))\n",
        "utf-16": "print(1)\n".encode("utf-16"),
        "carriage returns": b"print(1)\rprint(2)\r\nraise ValueError\r\n",
        "form feeds and tabs": b"\x0cif 1:\n\tprint(1)\n        print(2)\n",
        "no line end": b"raise ValueError(1)",
        "empty": b"",
        "deep expression": "x = " + "+".join(["1"] * 3000) + "\nprint(x)\n",
        "very deep expression": "x = " + "-" * 100000 + "1\nprint(x)\n",
        "huge literal": "x = " + "9" * 5000 + "\nprint(x)\n",
        "line continuation at the end": "print(1) \\",
    },
    "imports": {
        "lazy names in a pool of processes": (
            POOL,
            {"limits": Limits(cpu_s=20, wall_s=20, memory_bytes=1 << 30, processes=16)},
        ),
    },
    "streams": {
        "large": (ADDS, {"stdin": b"123 456\n" * 100000}),
        "large lines": (ADDS_LINES, {"stdin": b"20000\n" + b"7\n" * 20000}),
    },
}


def bytes_in(value: Any) -> Any:
    """Return an option with its texts as bytes; names of files stay texts."""
    if isinstance(value, dict):
        return {name: bytes_in(one) for name, one in value.items()}
    return value.encode("latin-1") if isinstance(value, str) else tuple(value)


def table(topic: str) -> Table:
    text = (Path(__file__).parent / f"{topic}.txt").read_text("utf-8")
    programs: Table = {}
    for part in re.split("^=== ", text, flags=re.M)[1:]:
        head, source = part.split("\n", 1)
        label, _, options = head.partition(" === ")
        programs[label] = (source, bytes_in(json.loads(options))) if options else source
    return programs | ODD.get(topic, {})


TABLES = {t: table(t) for t in ("imports", "endings", "finalization", "streams", "surroundings")}
