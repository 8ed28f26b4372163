"""Records that came from a server: taken only when they are what was asked for.

A reply is another machine's word. One that does not fit is no verdict: ReplyError, and the
chunk is tried elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eval.input_error import shown
from eval.model import Solution
from eval.record_shape import is_record


class ReplyError(Exception):
    """The reply is no list of fitting records."""


def read_reply(raw: bytes, solutions: Sequence[Solution]) -> list[dict[str, Any]]:
    """The records of `solutions`, in order, under this side's names and lines."""
    try:
        records = json.loads(raw)["records"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReplyError("the server's reply is no JSON with records") from None
    if not isinstance(records, list) or len(records) != len(solutions):
        raise ReplyError(f"the server's records are {shown(records)}, not {len(solutions)}")
    return [_own(record, s) for record, s in zip(records, solutions, strict=True)]


def _own(record: Any, solution: Solution) -> dict[str, Any]:
    if not is_record(record):
        raise ReplyError(f"the server's record is {shown(record)}, with a field that can't be")
    return {
        **record,
        "problem_id": solution.problem_id,
        "solution_id": solution.solution_id,
        "sample_i": solution.sample_i,
        "line": solution.line,
    }
