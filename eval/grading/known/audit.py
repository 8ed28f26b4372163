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
from typing import NamedTuple

from gradebox.checkers.check import Check, Checker
from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.cases.case_run import checker_of
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem, TestCase

# (test, another test's expected output) → an output, None where the probe says nothing
Probe = Callable[[TestCase, bytes], "bytes | None"]


class ProbeAnswer(NamedTuple):
    """A checker's answer to a probe; `wrong`: it is a finding of this kind."""

    kind: str
    checker: str
    test: str
    wrong: bool
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


def ask_checker(
    session: GradingSession,
    problem: Problem,
    retry: Retry,
    kinds: Collection[str] = PROBES.keys(),
) -> Iterator[ProbeAnswer]:
    """Yield what the checker of a problem answers; nothing for a problem without one.

    kinds  of findings that are still of interest; it may shrink meanwhile

    Raises SandboxError for a fault of the sandbox, Interrupted when the run is stopped.
    """
    try:
        resources = session.resources.acquire(problem)
    except InputError:  # the run reports it for every solution
        return
    try:
        last = b""
        for ref in resources.tests.plan if resources.checker is not None else ():
            if ref.skip is not None:
                continue
            test, first = resources.tests.load(ref), None
            checker = checker_of(resources.problem, resources.checker, test)
            assert checker is not None

            def ask(output: bytes, checker: Checker = checker, test: TestCase = test) -> Check:
                return retry.call(
                    lambda: checker.check(test.input, output, test.expected), checker.name
                )

            for kind, probe in PROBES.items():
                output = probe(test, last) if kind in kinds else None
                if output is None:
                    continue
                check = ask(output)
                first = first or check
                place = f"{ref.case_type}:{ref.index}"
                words = check.message or check.outcome
                yield ProbeAnswer(kind, checker.name, place, _is_wrong(kind, check, first), words)
            last = test.expected
    finally:
        session.resources.release(resources)


def _is_wrong(kind: str, check: Check, first: Check) -> bool:
    if kind == "rejects_expected":
        return not check.full
    if kind == "answers_differ":
        return (check.outcome, check.score) != (first.outcome, first.score)
    return check.accepted
