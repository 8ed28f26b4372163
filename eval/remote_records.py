"""Records that came from a server: taken only when they are what was asked for.

A reply is another machine's word. One that does not fit is no verdict: ReplyError, and the
chunk is tried elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, get_args

from eval.input_error import shown
from eval.model import (
    CaseRecord,
    CaseVerdict,
    Reason,
    Solution,
    SolutionRecord,
    Status,
)

_FIELDS = frozenset(f.name for f in fields(SolutionRecord))
_CASE_FIELDS = frozenset(f.name for f in fields(CaseRecord)) - {"repeats"}
_STATUSES, _REASONS = frozenset(get_args(Status)), frozenset(get_args(Reason))
_VERDICTS = frozenset((*get_args(CaseVerdict), None))


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
    if not isinstance(record, dict) or not record.keys() >= _FIELDS:
        raise ReplyError(f"the server's record is {shown(record)}")
    fits = (
        _one_of(record["status"], _STATUSES)
        and _one_of(record["verdict"], _VERDICTS)
        and isinstance(record["error"], str)
        and isinstance(record["details"], list)
        and all(_is_case(case) for case in record["details"])
    )
    if not fits:
        raise ReplyError("the server's record has a status, verdict or case that is none")
    return {
        **record,
        "problem_id": solution.problem_id,
        "solution_id": solution.solution_id,
        "sample_i": solution.sample_i,
        "line": solution.line,
    }


def _is_case(case: Any) -> bool:
    return (
        isinstance(case, dict)
        and case.keys() >= _CASE_FIELDS
        and _one_of(case["verdict"], _VERDICTS)
        and _one_of(case["reason"], _REASONS)
    )


def _one_of(value: object, allowed: frozenset[Any]) -> bool:
    return (value is None or isinstance(value, str)) and value in allowed
