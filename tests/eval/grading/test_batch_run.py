"""Several cases in one request: the same records as one at a time, whatever the runs do."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from gradebox.checkers.check import Check, accept, reject
from gradebox.eval.common.errors import Retry
from gradebox.eval.grading.cases.batch_run import grade_some, share_after
from gradebox.eval.grading.cases.case_run import CaseGrader, CaseSettings
from gradebox.eval.grading.resources import ProblemResources
from gradebox.eval.grading.time_policy import bounds_of
from gradebox.eval.problems.chosen_tests import ProblemTests
from gradebox.eval.problems.problem import Problem, TestCase, TestRef
from gradebox.eval.results.record import CaseRecord
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Execution, Program
from testing.fakes.scripted_sandbox import Answer, Call, FakeSandbox, ready

PROBLEM = Problem("1/A", time_limit_s=1.0, memory_limit_bytes=64 << 20)
RETRY = Retry(attempts=2, first_s=0.0)

# What a run does, by the first word of its input.
ENDINGS: dict[str, Answer] = {
    "right": b"ok\n",
    "wrong": b"no\n",
    "other": b"maybe\n",  # the checker decides
    "crash": ready(b"", exit_code=3),
    "signal": ready(b"", exit_code=None, signal=11),
    "late": ready(b"ok\n", cpu_s=1.1),
    "near": ready(b"ok\n", cpu_s=0.95),  # is run again, alone
    "over": ready(b"", exit_code=None, signal=9, killed_for="cpu", cpu_s=1.25),
    "broken": SandboxError("no more memory"),
    "nonsense": ready(b"ok\n", exit_code=None),  # no evidence of its end
}


def answer(call: Call) -> Answer:
    return ENDINGS[call.stdin.split()[0].decode()]


@dataclass
class WatchedSandbox(FakeSandbox):
    """Fails when it is used while a batch holds its core."""

    open_batches: int = 0
    batches: list[int] = field(default_factory=list)

    def run_many(self, compiled, limits, stdins):
        self.open_batches += 1
        self.batches.append(len(stdins))
        try:
            yield from super().run_many(compiled, limits, stdins)
        finally:
            self.open_batches -= 1

    def run(self, *args, alone: bool = False, **case):
        if alone:
            self.check_no_core_is_held()
        return super().run(*args, alone=alone, **case)

    def check_no_core_is_held(self) -> None:
        assert not self.open_batches, "used while a batch holds a core"


@dataclass
class SandboxChecker:
    """Accepts `maybe`; needs the sandbox as a checker program does."""

    sandbox: WatchedSandbox
    name: str = "fake"
    digest: str = "fake"

    def prepare(self) -> None:
        pass

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        self.sandbox.check_no_core_is_held()
        return accept() if output == b"maybe\n" else reject("no")

    def close(self) -> None:
        pass


# what the runs of a program do, and how they are judged
KINDS = st.lists(st.sampled_from([*ENDINGS, "right", "right", "skip"]), max_size=12)
CHECKERS = st.sampled_from([None, SandboxChecker])


def made(
    kinds: Sequence[str], *, checker: type | None = None, batched: bool = True, **settings: Any
):
    """Return the grader, its sandbox and the plan of tests of these kinds; "skip" is skipped."""
    sandbox = WatchedSandbox(answer, capabilities=frozenset({"alone", *(["batch"] * batched)}))
    tests = [
        TestCase("official", i, f"{kind} {i}\n".encode(), b"ok\n")
        for i, kind in enumerate(kinds)
        if kind != "skip"
    ]
    plan = [
        TestRef("official", i, len(f"{kind} {i}\n"), "budget_exceeded" if kind == "skip" else None)
        for i, kind in enumerate(kinds)
    ]
    opened = ProblemTests(PROBLEM.id, plan)
    opened.add(tests)
    opened.finish()
    grader = CaseGrader(
        CaseSettings(sandbox, **{"retry": RETRY, **settings}),
        ProblemResources(PROBLEM, opened, checker(sandbox) if checker else None),
        bounds_of(PROBLEM),
        sandbox.compile(Program("python", {"main.py": b"x"})),
    )
    return grader, sandbox, plan


def grade_all(
    grader: CaseGrader, plan: Sequence[TestRef], *, stop: bool = False
) -> list[CaseRecord | None]:
    """Return the records of the plan, up to the first None."""
    records: list[CaseRecord | None] = []
    while len(records) < len(plan) and None not in records:
        some = grade_some(grader, plan[len(records) :], stop_on_failure=stop)
        assert 1 <= len(some) <= len(plan) - len(records)
        records += some
    return records


@pytest.mark.slow
@given(KINDS, CHECKERS)
@settings(deadline=None, max_examples=150)
def test_the_records_are_those_of_single_runs(kinds, checker):
    grader, sandbox, plan = made(kinds, checker=checker)
    single, _, _ = made(kinds, checker=checker, batched=False)
    found = grade_all(grader, plan, stop=False)
    assert found == [single.grade(ref) for ref in plan]
    assert sandbox.open_batches == 0


def test_cases_after_a_failure_are_not_run():
    grader, sandbox, plan = made(["right", "wrong", *["right"] * 20])
    found = grade_some(grader, plan, stop_on_failure=True)
    assert [case and case.verdict for case in found] == ["AC", "WA", *[None] * 20]
    assert len(sandbox.calls) == 2


def test_a_stopped_run_starts_no_further_case():
    stop = threading.Event()
    grader, sandbox, plan = made(
        ["right"] * 20, retry=Retry(stop=stop), on_run=lambda execution: stop.set()
    )
    found = grade_some(grader, plan, stop_on_failure=False)
    assert [case.verdict for case in found if case] == ["AC"]
    assert len(sandbox.calls) == 1


def test_a_case_whose_judgement_fails_is_an_error_and_the_rest_is_graded():
    class BadChecker(SandboxChecker):
        def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
            raise ZeroDivisionError("bad checker")

    grader, _, plan = made(["right", "other", "right"], checker=BadChecker)
    found = grade_all(grader, plan, stop=False)
    assert [case.verdict for case in found if case] == ["AC", "ER", "AC"]
    assert "ZeroDivisionError: bad checker" in found[1].error


def test_executions_are_counted_once_each():
    seen: list[Execution] = []
    grader, sandbox, plan = made(["right", "wrong", "near", "right"], on_run=seen.append)
    grade_all(grader, plan, stop=False)
    assert len(seen) == len(sandbox.calls) == 5  # one ran again, alone


def test_a_request_that_takes_long_is_left_to_others(monkeypatch: pytest.MonkeyPatch):
    grader, sandbox, plan = made(["right", "skip", "right", "wrong"])
    assert len(grade_some(grader, plan, stop_on_failure=False)) == 4
    monkeypatch.setattr("gradebox.eval.grading.cases.batch_run.REQUEST_S", -1.0)
    left = grade_some(grader, plan, stop_on_failure=False)
    assert [case and case.verdict for case in left] == ["AC", "SK"]
    assert sandbox.open_batches == 0


def test_slow_cases_are_requested_in_small_numbers():
    seen = []
    for wall_s in (0.0, 0.001, 0.08, 0.4, 3.0):
        grader, _, plan = made(["right", "skip"])
        case = structs.replace(grader.grade(plan[0]), wall_s=wall_s)
        seen.append(share_after([case, case, grader.grade(plan[1]), None]))
    assert seen == [128, 128, 12, 2, 1]
    assert share_after([None]) == 16


@given(KINDS, CHECKERS)
@settings(deadline=None, max_examples=150)
def test_with_a_stop_every_case_up_to_the_first_failure_is_graded(kinds, checker):
    grader, _, plan = made(kinds, checker=checker)
    single, _, _ = made(kinds, checker=checker, batched=False)
    wanted = [single.grade(ref) for ref in plan]
    failing = [i for i, case in enumerate(wanted) if case.verdict not in ("AC", "SK", "ER")]
    upto = failing[0] + 1 if failing else len(plan)
    found = grade_all(grader, plan, stop=True)
    assert found[:upto] == wanted[:upto]
