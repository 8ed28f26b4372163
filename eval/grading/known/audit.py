"""Ask checkers, and judge what is known beforehand: `gradebox verify --audit` and --self-check.

    finding when the checker                             about
    rejects_expected       does not accept               the expected output
    accepts_empty          accepts                       nothing
    accepts_truncated      accepts                       the first half of the expected output
    accepts_other_answer   accepts                       another test's answer
    answers_differ         answers differently           the expected output, once more

The audit looks for all of these, and lists submissions whose verdict is not the expected one.
--self-check lets no run start with a wrong judge: it fails where a checker rejects an expected
output or accepts all empty ones, and where known solutions do not pass or fail as they must. The
checker itself is asked, without the comparison that would accept an expected output at once.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from gradebox.checkers.check import Check
from gradebox.eval.common.errors import InputError, Interrupted, Retry, shown
from gradebox.eval.common.signals import Stopper
from gradebox.eval.grading.cases.case_run import checker_of
from gradebox.eval.grading.known.verification import NOT_RUN, Verification, VerifiedSubmission
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.problems.problem import Problem, TestCase
from gradebox.sandbox.errors import SandboxError

REMEDY = "repair it, or choose other problems with --problems"


@dataclass(frozen=True)
class AuditFinding:
    """One fault of a problem's tests or checker: a line of the audit.

    kind     a kind in the table above; for a submission rejected_passes, accepted_fails or
             unexpected_verdict
    test     its type and number, "" for a submission that passes all
    subject  the checker or the submission
    """

    problem_id: str
    kind: str
    test: str
    subject: str
    message: str


KINDS = (
    *("rejects_expected", "accepts_empty", "accepts_truncated"),
    *("accepts_other_answer", "answers_differ"),
)
OF_SELF_CHECK = KINDS[:2]


def _output(kind: str, test: TestCase, other: bytes) -> bytes | None:
    """Return the output that a checker is asked about; None where its answer says nothing."""
    expected = test.expected
    if kind == "accepts_empty":
        return b"" if expected.strip() else None
    if kind == "accepts_truncated":
        half = expected[: len(expected) // 2].rsplit(None, 1)
        return half[0] + b"\n" if half and len(expected.split(None, 1)) > 1 else None
    if kind == "accepts_other_answer":
        return other if other.strip() and other.split() != expected.split() else None
    return expected


def _is_wrong(kind: str, check: Check, first: Check) -> bool:
    """Return whether an answer is a finding; `first` is the first answer about the test."""
    if kind == "rejects_expected":
        return not check.full
    if kind == "answers_differ":
        return (check.outcome, check.score) != (first.outcome, first.score)
    return check.accepted


Answer = tuple[bool, AuditFinding]  # whether it is wrong, and the finding if it is


def _ask(
    session: GradingSession, retry: Retry, kinds: Sequence[str], problem: Problem
) -> list[Answer]:
    """Return the answers of a problem's checker.

    The list is empty for a problem that has no checker or is unusable, and once the run is stopped.

    kinds  the findings to look for. For those of --self-check, empty outputs are asked about only
           until one is rejected.

    Raises SandboxError for a fault of the sandbox.
    """
    answers: list[Answer] = []
    try:
        resources = session.resources.acquire(problem)
    except InputError:  # the run reports it for every solution
        return answers
    try:
        last = b""
        for ref in resources.tests.plan:
            checker = resources.checker
            if checker is None or ref.skip is not None or retry.stop.is_set():
                continue
            test, first = resources.tests.load(ref), None
            checker = checker_of(resources.problem, checker, test) or checker
            for kind in kinds:
                output = _output(kind, test, last)
                if output is None:
                    continue
                ask = partial(checker.check, test.input, output, test.expected)
                check = retry.call(ask, checker.name)
                first = first or check
                place, words = f"{ref.case_type}:{ref.index}", check.message or check.outcome
                found = AuditFinding(problem.id, kind, place, checker.name, words)
                answers.append((_is_wrong(kind, check, first), found))
                if kinds == OF_SELF_CHECK and kind == kinds[-1] and not answers[-1][0]:
                    kinds = kinds[:1]
            last = test.expected
    except Interrupted:
        return []
    finally:
        session.resources.release(resources)
    return [] if retry.stop.is_set() else answers


def audit(
    session: GradingSession, stopper: Stopper, outcomes: Sequence[VerifiedSubmission]
) -> Iterator[AuditFinding]:
    """Yield the faults of tests and checkers: by the submissions, then by asking checkers."""
    for one in outcomes:
        if one.as_expected is False:
            kind = "accepted_fails" if one.expected == "AC" else "unexpected_verdict"
            kind = "rejected_passes" if one.found == "AC" else kind
            note = one.note or f"{one.found}, expected {one.expected}"
            yield AuditFinding(one.problem_id, kind, one.test, one.submission, note)
    for name in dict.fromkeys(one.problem_id for one in outcomes):
        problem = session.problems.get(name)
        if stopper.event.is_set() or problem is None:
            return
        answers = _ask(session, Retry(stop=stopper.event), KINDS, problem)
        yield from (found for wrong, found in answers if wrong)


# ---- --self-check ----


def self_check(session: GradingSession, stopper: Stopper, retry: Retry) -> str:
    """Return a summary line; raise InputError, naming problem and checker, for a fault."""
    started, problems, options = time.monotonic(), _problems(session), session.options
    asked: list[int] = []
    with ThreadPoolExecutor(options.workers) as pool:
        try:
            ask = partial(_ask, session, retry, OF_SELF_CHECK)
            for answers in pool.map(ask, problems.values()):
                asked += [len(answers)] * bool(answers)
                _judge(answers)
        except SandboxError as e:
            raise InputError(f"self-check: the sandbox failed: {e}; start again") from None
        finally:
            pool.shutdown(cancel_futures=True)
    known = Verification(
        session, stopper, problems=list(problems),
        submissions=options.self_check_solutions, retry=retry,
    )  # fmt: skip
    outcomes = [] if stopper.event.is_set() else known.run(_compare)
    counts = Counter(
        "left out" if one.found == NOT_RUN else "right" if _is_right(one) else "wrong"
        for one in outcomes
    )
    left_out = f", {counts['left out']} could not be" * (counts["left out"] > 0)
    return (
        f"self-check: {len(asked)} checkers asked {sum(asked)} times, "
        f"{counts['right']} right and {counts['wrong']} wrong programs graded{left_out}: "
        f"all as expected ({time.monotonic() - started:.1f} s)"
    )


def _problems(session: GradingSession) -> dict[str, Problem]:
    """Return the problems of all solutions in the files of the run, by id."""
    found: dict[str, Problem | None] = {}
    for file in session.files:
        for solution in session.solutions(file):
            name = solution.problem_id
            if solution.error is None and name not in found:
                found[name] = session.problems.get(name)
    return {problem.id: problem for problem in found.values() if problem is not None}


def _judge(answers: Sequence[Answer]) -> None:
    """Raise InputError for a checker that rejects an expected output or accepts all empty ones."""
    by_kind = {kind: [one for one in answers if one[1].kind == kind] for kind in OF_SELF_CHECK}
    rejected, empty = by_kind.values()
    for wrong, found in (*rejected, *empty[:1]):
        subject = f"self-check: problem {found.problem_id}: checker {found.subject}"
        if wrong and found.kind == "rejects_expected":
            raise InputError(
                f"{subject} does not accept the expected output of {found.test}: "
                f"{shown(found.message)}; {REMEDY}"
            )
        if all(wrong for wrong, _ in empty) and found.kind == "accepts_empty":
            number = len(empty)
            raise InputError(
                f"{subject} accepts an empty output, for {number} tests of {number}; {REMEDY}"
            )


def _is_right(known: VerifiedSubmission) -> bool:
    return known.expected.startswith("AC")


def _compare(known: VerifiedSubmission) -> None:
    """Raise InputError when a known solution has another status than expected."""
    name, subject, found = known.submission, f"self-check: problem {known.problem_id}", known.found
    if found == "ER":
        raise InputError(f"{subject}: the sandbox failed at {name}: {known.note}; start again")
    if found == "invalid":
        raise InputError(f"{subject}: {name} can't be graded: {known.note}; {REMEDY}")
    if known.as_expected is not False or found == NOT_RUN:
        return
    if _is_right(known):
        raise InputError(
            f"{subject}: the known right solution {name} is {found} at {known.test}: "
            f"{known.note}; is a checker missing, or a test wrong? {REMEDY}"
        )
    if found == "AC":
        raise InputError(f"{subject}: the known wrong solution {name} passes; {REMEDY}")
