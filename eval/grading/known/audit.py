"""Ask checkers about outputs whose judgement is known without any submission.

    finding when the checker                             about
    rejects_expected       does not accept               the expected output
    accepts_empty          accepts                       nothing
    accepts_truncated      accepts                       the first half of the expected output
    accepts_other_answer   accepts                       another test's answer
    answers_differ         answers differently           the expected output, once more

--self-check asks the first two before a run; `gradebox verify --audit` asks all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from gradebox.checkers.check import Check
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.problems.problem import TestCase

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


def _truncated(test: TestCase, _other: bytes) -> bytes | None:
    """Return the first half of the words, None for a single one."""
    words = test.expected.split(None, 1)
    half = test.expected[: len(test.expected) // 2].rsplit(None, 1)
    return half[0] + b"\n" if len(words) > 1 and half else None


def _other(test: TestCase, other: bytes) -> bytes | None:
    return other if other.strip() and other.split() != test.expected.split() else None


PROBES: Mapping[str, Probe] = {
    "rejects_expected": lambda test, other: test.expected,
    "accepts_empty": lambda test, other: b"" if test.expected.strip() else None,
    "accepts_truncated": _truncated,
    "accepts_other_answer": _other,
    "answers_differ": lambda test, other: test.expected,
}


def audit_checker(
    resources: ProblemResources, ask: Ask, name: str, kinds: Collection[str] = PROBES.keys()
) -> Iterator[AuditFinding]:
    """Yield what is wrong with the checker of a problem, or its tests.

    kinds  of findings that are still of interest; it may shrink meanwhile
    """
    last = b""
    for ref in resources.tests.plan:
        if ref.skip is not None:
            continue
        test, first = resources.tests.load(ref), None
        for kind, probe in PROBES.items():
            output = probe(test, last) if kind in kinds else None
            if output is None:
                continue
            check = ask(test, output)
            wrong = check.accepted
            if kind == "rejects_expected":
                first, wrong = check, not check.full
            elif kind == "answers_differ":
                answers = {(one.outcome, one.score) for one in (check, first or check)}
                wrong = len(answers) > 1
            if wrong:
                place = f"{ref.case_type}:{ref.index}"
                words = check.message or check.outcome
                yield AuditFinding(resources.problem.id, kind, place, name, words)
        last = test.expected
