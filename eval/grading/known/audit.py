"""Ask checkers about outputs whose judgement is known without any submission.

    probe      output                        finding when the checker
    expected   the expected output           does not accept it           rejects_expected
    repeated   the same once more            answers differently          answers_differ
    empty      nothing                       accepts it                   accepts_empty
    truncated  its first half                accepts it                   accepts_truncated
    other      another test's answer         accepts it                   accepts_other_answer

--self-check asks the first and the third before a run; `gradebox verify --audit` asks all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from gradebox.checkers.check import Check
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.problems.problem import TestCase, TestRef

Ask = Callable[[TestCase, bytes], Check]  # (test, output)
# (test, another test's expected output) → an output, None where the probe says nothing
Probe = Callable[[TestCase, bytes], "bytes | None"]


@dataclass(frozen=True)
class AuditFinding:
    """One fault of a problem's tests or checker: a line of the audit.

    kind  of the table above; rejected_passes and accepted_fails of submissions
    test  its type and number, "" for a submission that passes all
    """

    problem_id: str
    kind: str
    test: str
    subject: str
    message: str

    def as_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object."""
        return asdict(self)


def _empty(test: TestCase, _other: bytes) -> bytes | None:
    return b"" if test.expected.strip() else None


def _truncated(test: TestCase, _other: bytes) -> bytes | None:
    """Return the first half of the words, None for a single one."""
    words = test.expected.split(None, 1)
    half = test.expected[: len(test.expected) // 2].rsplit(None, 1)
    return half[0] + b"\n" if len(words) > 1 and half else None


def _other(test: TestCase, other: bytes) -> bytes | None:
    return other if other.strip() and other.split() != test.expected.split() else None


PROBES: Mapping[str, Probe] = {
    "expected": lambda test, other: test.expected,
    "empty": _empty,
    "truncated": _truncated,
    "other": _other,
    "repeated": lambda test, other: test.expected,
}
_ACCEPTED_KINDS = {
    "empty": "accepts_empty",
    "truncated": "accepts_truncated",
    "other": "accepts_other_answer",
}


def probe(
    resources: ProblemResources, ask: Ask, names: Sequence[str], wanted: Callable[[str], bool]
) -> Iterator[tuple[str, TestRef, Check]]:
    """Yield (probe, test, answer) for each test that is run and each probe.

    wanted  whether a probe is still of interest
    """
    last = b""
    for ref in resources.tests.plan:
        if ref.skip is not None:
            continue
        test = resources.tests.load(ref)
        for name in names:
            output = PROBES[name](test, last) if wanted(name) else None
            if output is not None:
                yield name, ref, ask(test, output)
        last = test.expected


def audit_checker(resources: ProblemResources, ask: Ask, name: str) -> Iterator[AuditFinding]:
    """Yield what is wrong with the checker of a problem, or its tests."""
    first: Check | None = None
    for what, ref, check in probe(resources, ask, tuple(PROBES), lambda name: True):
        kind = ""
        if what == "expected":
            first = check
            kind = "" if check.full else "rejects_expected"
        elif what == "repeated" and first is not None:
            differs = (check.outcome, check.score) != (first.outcome, first.score)
            kind = "answers_differ" * differs
        elif check.accepted:
            kind = _ACCEPTED_KINDS[what]
        if kind:
            place = f"{ref.case_type}:{ref.index}"
            message = check.message or check.outcome
            yield AuditFinding(resources.problem.id, kind, place, name, message)
