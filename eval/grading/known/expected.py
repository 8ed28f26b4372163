"""Compare the record of a submission with what the authors of its problem expect.

record's cases ─ PackageCase ─▶ verdicts by a package's rules ─ fits_expectation ─▶ True, False
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gradebox.eval.problems.packages.submissions import glob_pattern
from gradebox.eval.solutions.solution import Expectation, KnownSolution

# a package's verdict that stands for several of ours, by the first
SHORT = (("WA", "OLE"), ("RE", "MLE"), ("MLE", "RE"), ("OLE", "WA", "RE", "TLE"))


@dataclass(frozen=True)
class VerifiedSubmission:
    """One submission.

    expected     its verdicts, as "AC" or "WA|OLE"
    found        the verdict of the test that decides; ER for a fault of the machine
    as_expected  None when it could not be graded
    slowest_s    CPU seconds of its slowest test, None when none ran
    test         the name of the test that decides, "" when all passed
    note         why: the case's error, or why it was not run
    """

    problem_id: str
    submission: str
    language: str
    expected: str
    found: str
    as_expected: bool | None
    slowest_s: float | None
    time_limit_s: float
    test: str
    note: str

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as a JSON object."""
        return asdict(self)


class PackageCase:
    """A case of a record with the verdict that a package's rules give it."""

    def __init__(self, case: Mapping[str, Any], limit_s: float) -> None:
        self.name = str(case.get("test") or f"{case['case_type']}:{case['test_case_i']}")
        self.groups = tuple(case.get("groups") or ())
        self.cpu_s = float(case["cpu_s"] or 0.0)
        self.error = str(case["error"] or case["reason"])
        self.verdict = str(case["verdict"])
        if case["reason"] == "partial_points":
            self.verdict = "AC"
        if case["reason"] == "presentation_error":
            self.verdict = "PE"
        # An interactor's rejection came before the time that the program used afterwards.
        rejected = self.verdict in ("WA", "PE") and case.get("transcript") is not None
        decided = rejected or self.verdict in ("TLE", "CU", "CE", "ER")
        if not decided and self.cpu_s > limit_s:
            self.verdict, self.error = "TLE", f"{self.cpu_s:.2f} s, the limit is {limit_s:g} s"


def fits_expectation(
    known: KnownSolution, cases: Sequence[PackageCase], record: Mapping[str, Any]
) -> bool:
    """Return whether a graded submission is as its authors expect."""
    if known.partial:
        points, most = record.get("points"), record.get("points_of")
        return points is None or most is None or 0 < points < most
    if not known.expected:
        return bool(record["status"] == known.expect)
    return all(_fits(one, cases) for one in known.expected)


def _fits(one: Expectation, cases: Sequence[PackageCase]) -> bool:
    if one.tests:
        pattern = glob_pattern(one.tests, "")
        cases = [case for case in cases if _is_in(pattern, case.name)]
    verdicts = {"WA" if case.verdict == "PE" else case.verdict for case in cases}
    permitted = one.permitted is None or verdicts <= set(one.permitted)
    return permitted and (one.required is None or bool(verdicts & set(one.required)))


def _is_in(pattern: re.Pattern[str], name: str) -> bool:
    parts = name.split("/")
    return any(pattern.fullmatch("/".join(parts[:end])) for end in range(1, len(parts) + 1))


def expected_of(known: KnownSolution) -> str:
    """Return the expected verdicts in a few letters."""
    if known.partial:
        return "partial"
    if not known.expected:
        return {"passed": "AC", "failed": "not AC"}.get(known.expect, "any")
    first = known.expected[0]
    verdicts = first.required or first.permitted or ()
    if verdicts in SHORT:
        verdicts = verdicts[:1]
    if len(verdicts) > 5 and "AC" not in verdicts:
        return "not AC"
    by_tests = "*" * (len(known.expected) > 1 or bool(first.tests))
    return ("any" if len(verdicts) > 5 else "|".join(verdicts) or "any") + by_tests
