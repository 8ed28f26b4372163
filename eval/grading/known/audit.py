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
from functools import partial

from gradebox.checkers.check import Check
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.grading.cases.case_run import checker_of
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem, TestCase


@dataclass(frozen=True)
class AuditFinding:
    """One fault of a problem's tests or checker: a line of the audit.

    kind     of the table above; rejected_passes, accepted_fails and unexpected_verdict of
             submissions
    test     its type and number, "" for a submission that passes all
    subject  the checker or the submission
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


def _accepted(check: Check, _first: Check) -> bool:
    return check.accepted


def _differs(check: Check, first: Check) -> bool:
    return (check.outcome, check.score) != (first.outcome, first.score)


# (test, another test's expected output) → an output, None where the probe says nothing;
# (the answer, the first answer about the test) → whether it is a finding
Probe = tuple[Callable[[TestCase, bytes], "bytes | None"], Callable[[Check, Check], bool]]
PROBES: Mapping[str, Probe] = {
    "rejects_expected": (lambda test, _: test.expected, lambda check, _: not check.full),
    "accepts_empty": (lambda test, _: b"" if test.expected.strip() else None, _accepted),
    "accepts_truncated": (_truncated, _accepted),
    "accepts_other_answer": (_other, _accepted),
    "answers_differ": (lambda test, _: test.expected, _differs),
}


def ask_checker(
    session: GradingSession,
    problem: Problem,
    retry: Retry,
    kinds: Collection[str] = PROBES.keys(),
) -> Iterator[tuple[bool, AuditFinding]]:
    """Yield (whether it is wrong, a problem's checker's answer); nothing without a checker.

    kinds  of findings that are still of interest; it may shrink meanwhile

    Raises SandboxError for a fault of the sandbox, Interrupted when the run is stopped.
    """
    try:
        resources = session.resources.acquire(problem)
    except InputError:  # the run reports it for every solution
        return
    try:
        last = b""
        for ref in resources.tests.plan:
            checker = resources.checker
            if checker is None or ref.skip is not None:
                continue
            test, first = resources.tests.load(ref), None
            checker = checker_of(resources.problem, checker, test) or checker
            for kind, (probe, is_wrong) in PROBES.items():
                output = probe(test, last) if kind in kinds else None
                if output is None:
                    continue
                ask = partial(checker.check, test.input, output, test.expected)
                check = retry.call(ask, checker.name)
                first = first or check
                place, words = f"{ref.case_type}:{ref.index}", check.message or check.outcome
                yield (
                    is_wrong(check, first),
                    AuditFinding(problem.id, kind, place, checker.name, words),
                )
            last = test.expected
    finally:
        session.resources.release(resources)
