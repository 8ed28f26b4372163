"""How problem ids are spelled: "1000/A" is the dataset's way, "1000A" and "1000/a" are others."""

from __future__ import annotations

import re

_ID = re.compile(r"0*(\d{1,9})[\s/_-]?([A-Za-z]\d{0,2})")


def loose(problem_id: str) -> str | None:
    """The dataset's spelling of an id written otherwise; None when it is no Codeforces id.

    Only an index that begins with a letter counts: "10001" could be 1000/1 and 100/01.
    """
    match = _ID.fullmatch(problem_id.strip())
    return f"{match.group(1)}/{match.group(2).upper()}" if match else None


def spellings(problem_id: str) -> tuple[str, ...]:
    """The id as it is, and the dataset's spelling when that is another."""
    usual = loose(problem_id)
    return (problem_id,) if usual in (None, problem_id) else (problem_id, str(usual))
