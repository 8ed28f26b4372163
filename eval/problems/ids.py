"""Spellings of Codeforces problem ids: datasets write "1000/A", users also "1000A" or "1000/a"."""

from __future__ import annotations

import re

_ID = re.compile(r"0*(\d{1,9})[\s/_-]?([A-Za-z]\d{0,2})")


def canonical_spelling(problem_id: str) -> str | None:
    """Return an id as datasets write it; None when it is not a Codeforces id.

    The index must begin with a letter: "10001" could be 1000/1 or 100/01.
    """
    match = _ID.fullmatch(problem_id.strip())
    return f"{match.group(1)}/{match.group(2).upper()}" if match else None


def spellings(problem_id: str) -> tuple[str, ...]:
    """Return the id as given, and its canonical spelling when that differs."""
    canonical = canonical_spelling(problem_id)
    return (problem_id,) if canonical in (None, problem_id) else (problem_id, str(canonical))
