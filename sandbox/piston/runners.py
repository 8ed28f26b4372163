"""How each language is run on a Piston server: data, by the name of Piston's runtime.

python, pypy      the launcher in Python is the main file
c, c++, go, rust  compiled once in their own runtime (sandbox/piston/build.py); the
                  binary runs under the launcher in Python
javascript, ruby  a one-line main file starts the launcher in C, built there once
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.languages import Language
from sandbox.model import MIB, Limits

NATIVE_LAUNCHER = "gbx-launcher"
INTERPRETERS = ("python", "pypy")
COMPILED = ("c", "c++", "go", "rust")

_START = f"rm -f gbx-main.*; chmod +x {NATIVE_LAUNCHER}; exec ./{NATIVE_LAUNCHER}"
STARTERS = {
    "javascript": (
        "gbx-main.js",
        "require('child_process')"
        f".spawnSync('/bin/sh', ['-c', '{_START}'], {{stdio: 'inherit'}})\n",
    ),
    "ruby": ("gbx-main.rb", f"exec '/bin/sh', '-c', '{_START}'\n"),
}

LANGUAGES = (*INTERPRETERS, *COMPILED, *STARTERS)
IN_CODEFORCES = ("python", "c", "c++")  # of that package's, those that are used
STACK_MB_MAX = 1000


def command(row: Language, main: str, limits: Limits, args: Sequence[str]) -> list[str]:
    """The row's run command; the tool is found on the package's PATH."""
    megabytes = max(1, limits.memory_bytes // MIB)
    words = {
        "{tool}": row.tool[0],
        "{source}": main,
        "{memory_mb}": str(megabytes),
        "{memory_kb}": str(megabytes * 1024),
        "{stack_mb}": str(min(megabytes, STACK_MB_MAX)),
    }
    filled = []
    for part in row.run:
        for word, value in words.items():
            part = part.replace(word, value)
        filled.append(part)
    return [*filled, *args]
