"""How each language is run on a Piston server: data, by the name of Piston's runtime.

python, pypy      the launcher in Python is the main file
c, c++, go, rust  compiled once in their own runtime (sandbox/piston/build.py); the
                  binary runs under the launcher in Python
javascript, ruby  a one-line main file starts the launcher in C, built there once
"""

from __future__ import annotations

from collections.abc import Sequence

from sandbox.languages import Language, fill, memory_places
from sandbox.model import Limits

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


def command(row: Language, main: str, limits: Limits, args: Sequence[str]) -> list[str]:
    """The row's run command; the tool is found on the package's PATH."""
    places = {
        "{tool}": row.tool[0],
        "{source}": main,
        **memory_places(limits.memory_bytes),
    }
    return [*(fill(part, places) for part in row.run), *args]
