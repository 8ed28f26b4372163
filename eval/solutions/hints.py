"""Hints for the record of a program that failed, from its source alone. They decide nothing."""

from __future__ import annotations

import re

from gradebox.sandbox.languages import find
from gradebox.sandbox.source_tokens import lines

MOST_TOKENS = 10_000
_I64 = re.compile(r"(?:%[-+ #0-9.*]{0,20})?I64[diouxX]?")
_WINDOWS = ("WIN", "MINGW", "MSC_VER")


def hint(code: str, language: str) -> str:
    """Return why a program may have failed here and not where it was written; "" if unknown.

    language  its name in the language table
    """
    if find(language).family not in ("gcc", "g++") or "I64" not in code:
        return ""
    used = ""
    for line in lines(code, "c++", MOST_TOKENS):
        words = [text for kind, text, _ in line if kind != "comment"]
        condition = len(words) > 1 and words[0] == "#" and words[1].startswith(("if", "elif"))
        if condition and any(name in word for word in words for name in _WINDOWS):
            return ""  # it chooses its formats itself
        for text in words if not used else ():
            found = _I64.search(text) if text[0] == '"' else None
            used = used or (found[0] if found else "")
    if not used:
        return ""
    return (
        f"the program uses {used} in a format: only Windows has it, and on Linux other "
        "numbers are read and printed; %lld and %llu work on both"
    )
