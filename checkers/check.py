"""The outcome of checking one output (`Check`), the interface of checkers, and their errors.

Points become a score, the share of the full mark (the points of a perfect output):

| points p                    | score                                                  |
|-----------------------------|--------------------------------------------------------|
| the full mark is known: F   | p / F for 0 ≤ p ≤ F                                     |
| unknown: 0 ≤ p ≤ 1          | p                                                      |
| unknown: 1 < p ≤ 100        | p / 100: a percentage                                  |
| anything else, nan, inf     | no score: the check is unclear                         |

So 1 point and 100 points both score 1 when the full mark is unknown. A score of 0 is a rejection,
every higher one is accepted.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["accepted", "rejected", "unclear"]
CheckVerdict = Literal["OK", "WA", "PE", "FAIL"]


class CheckerError(ValueError):
    """A checker that can't be used: the message names the value and the remedy.

    log  the compiler's messages, where it refused the checker's program
    """

    def __init__(self, message: str, log: bytes = b"") -> None:
        super().__init__(message)
        self.log = log


@dataclass(frozen=True)
class Check:
    """The outcome of checking one output.

    outcome    accepted, rejected, or unclear: the checker failed, which is never held against
               the solution
    verdict    testlib's verdict: OK, WA, PE (presentation error) or FAIL
    score      0.0 … 1.0, the share of the points; None when unclear
    message    one line for people
    stdout, stderr, exit_code   of the checker program; empty for built-ins
    points     the points of a scoring checker, before they became a share; else None
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
        """Whether it was accepted with full points: partial credit is not a pass."""
        return self.accepted and (self.score is None or self.score >= 1.0)


class Checker:
    """Judges outputs against expected ones. Any thread may call any method.

    name              for people
    digest            changes whenever it could judge differently; part of a record's key
    answer_is_output  False: it is asked about the expected output as well

    A fault of the machine raises `sandbox.SandboxError`; a fault of the checker is an unclear
    `Check`.
    """

    name: str
    answer_is_output = True

    @property
    def digest(self) -> str:
        raise NotImplementedError

    def for_test(self, args: Sequence[str], points: float | None) -> Checker:
        """Return the checker of a test with arguments of its own, or a full mark.

        Raises CheckerError for arguments that it does not have.
        """
        return self

    def prepare(self) -> None:
        """Compile it, or do nothing. Raises CheckerError with the compiler's messages."""

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Judge an output of a test."""
        raise NotImplementedError


def accept(message: str = "", score: float = 1.0) -> Check:
    """Return an accepted check; a score under 1 is partial credit."""
    return Check("accepted", "OK", score, message)


def reject(message: str, verdict: CheckVerdict = "WA", score: float = 0.0) -> Check:
    """Return a rejected check; the verdict PE marks a presentation error."""
    return Check("rejected", verdict, score, message)


def unclear(message: str, stderr: bytes = b"") -> Check:
    """Return the check of a checker that failed."""
    return Check("unclear", "FAIL", None, message, stderr=stderr)


def score_of_points(points: float, full_points: float | None = None) -> float | None:
    """Return points as a share of the full mark, 0.0 … 1.0; None when they are out of range."""
    if not math.isfinite(points) or points < 0:
        return None
    if full_points is not None:
        return points / full_points if points <= full_points else None
    if points <= 1:
        return points
    return points / 100 if points <= 100 else None


def check_of_points(points: float, message: str = "", full_points: float | None = None) -> Check:
    """Return the check of an output that a checker gave points."""
    score = score_of_points(points, full_points)
    if score is None:
        top = 100 if full_points is None else full_points
        check = unclear(f"{points:g} points: a score must be in 0 … {top:g}. {message}".rstrip())
    elif score > 0:
        check = accept(message, score)
    else:
        check = reject(message or "0 points")
    return dataclasses.replace(check, points=points)
