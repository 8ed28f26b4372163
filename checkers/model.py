"""`Check`: what a checker said of one output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["accepted", "rejected", "unclear"]
CheckVerdict = Literal["OK", "WA", "PE", "FAIL"]


@dataclass(frozen=True)
class Check:
    """What was said of an output.

    outcome    accepted, rejected, or unclear: the checker said nothing usable, which is
               never held against the solution
    verdict    testlib's word for it: OK, WA, PE (presentation error) or FAIL
    score      0.0 … 1.0, the share of the points; None when unclear
    message    one line for people
    stdout, stderr, exit_code   the checker program's own, empty for built-ins
    points     what a scoring checker gave, before it became a share; else None
    """

    outcome: Outcome
    verdict: CheckVerdict
    score: float | None
    message: str = ""
    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = None
    points: float | None = None

    @property
    def accepted(self) -> bool:
        return self.outcome == "accepted"

    @property
    def full(self) -> bool:
        """Accepted with full points: partial credit is no pass."""
        return self.accepted and (self.score is None or self.score >= 1.0)


def accept(message: str = "", score: float = 1.0) -> Check:
    """An accepted output; a score under 1 is partial credit."""
    return Check("accepted", "OK", score, message)


def reject(message: str, verdict: CheckVerdict = "WA", score: float = 0.0) -> Check:
    """A rejected output; `verdict` PE marks a presentation error."""
    return Check("rejected", verdict, score, message)


def unclear(message: str) -> Check:
    """The checker failed: nothing was said about the output."""
    return Check("unclear", "FAIL", None, message)
