"""What came of a pair of answers: one of six outcomes, derived from the verdict and its reason.

equal      the answer is right under the policy
different  both answers were read, compared, and differ
not read   the rules give no verdict: one of the two, or a part of it, is not read, or no
           comparison is defined or decides. The answer may be right
no answer  the response states none
cut        it states none and ends within a sentence, a box or its thoughts
timed out  the comparison met a limit: time, memory, or its process died

Every outcome but `equal` is not equal. docs/math-answers.md explains the reasons.
"""

from __future__ import annotations

from typing import Literal, get_args

GradeOutcome = Literal["equal", "different", "not read", "no answer", "cut", "timed out"]
OUTCOMES: tuple[GradeOutcome, ...] = get_args(GradeOutcome)

_OF_REASON: dict[str, GradeOutcome] = {  # the start of the reason of a reject; else different
    "no answer": "no answer",
    "empty": "no answer",
    "cut": "cut",
    "not read": "not read",
    "not comparable": "not read",
    "undecided": "not read",
    "too long": "not read",
    "nested": "not read",
    "error": "not read",
    "time limit": "timed out",
    "memory limit": "timed out",
    "crashed": "timed out",
}


def outcome_of(equal: bool, reason: str) -> GradeOutcome:
    """Return which outcome a verdict with its reason is."""
    if equal:
        return "equal"
    return next((o for start, o in _OF_REASON.items() if reason.startswith(start)), "different")
