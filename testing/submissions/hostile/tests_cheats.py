"""Programs that pass tests in their own language without solving the problem, if they can.

programs/calls/cheats.cpp, …   `//// what it tries`, then the program, of `twice` in calling_rows.py
"""

import re
from pathlib import Path

_FOLDER = Path(__file__).parent / "programs" / "calls"
_HEADS = {
    "cpp": "".join(
        f"#include <{name}>\n"
        for name in ["iostream", "vector", "cstring", "string", "cstdlib", "fcntl.h", "unistd.h"]
    )
    + "using namespace std;\n",
    "rs": "#![allow(warnings)]\nuse std::collections::HashMap;\n",
}
# Compilers take too long for all of them in every run of the tests: one of each kind, and those
# that once passed.
_QUICK = {
    "cpp": "preinit_array by assembly|an ifunc resolver reads|searches its memory|forged end",
    "rs": "the secret by its path|by assembly in a function|another name|an unsafe attribute",
    "go": "its memory is searched|a type called int|true is false, nil",
    "java": "a class called java|is equal to everything|calls its caller",
    "js": "",
}


def cheats(language: str, *, every: bool) -> dict[str, str]:
    """Return program by what it tries; `every`: not only a few."""
    text = (_FOLDER / f"cheats.{language}").read_text()
    parts = re.split(r"^//// (.*)\n", text, flags=re.MULTILINE)
    return {
        name: _HEADS.get(language, "") + program
        for name, program in zip(parts[1::2], parts[2::2], strict=True)
        if every or re.search(_QUICK[language], name)
    }
