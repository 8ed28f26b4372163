"""Hints for the record of a program that failed, from its source alone. They decide nothing."""

from __future__ import annotations

import re

from gradebox.sandbox.languages import find

_COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*(?:.*?\*/|.*)|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_I64 = re.compile(r"(?:%[-+ #0-9.*]*)?I64[diouxX]?")
_FOR_WINDOWS = re.compile(r"^[ \t]*#[ \t]*(?:if|elif)[^\n]*(?:WIN|MINGW|MSC_VER)", re.MULTILINE)


def hint(code: str, language: str) -> str:
    """Return why a program may have failed here and not where it was written; "" if unknown.

    language  its name in the language table
    """
    if find(language).family not in ("gcc", "g++") or "I64" not in code:
        return ""
    if _FOR_WINDOWS.search(code):  # it chooses its formats itself
        return ""
    for match in _COMMENT_OR_TEXT.finditer(code):
        found = _I64.search(match[0]) if match[0].startswith('"') else None
        if found:
            return (
                f"the program uses {found[0]} in a format: only Windows has it, and on Linux other "
                "numbers are read and printed; %lld and %llu work on both"
            )
    return ""
