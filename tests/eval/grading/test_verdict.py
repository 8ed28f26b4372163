"""The verdict of every ending of a run combined with every result for its output."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.eval.grading.verdict import (
    EQUAL,
    Bounds,
    Match,
    fails,
    judge,
    sum_up,
    whole_output,
)
from gradebox.eval.results.record import CaseVerdict, Reason
from gradebox.sandbox.model import Execution
from testing.fakes import records
from testing.fakes.scripted_sandbox import ready

BOUNDS = Bounds(cpu_s=2.0, memory_bytes=64 << 20)

# ending → (verdict, reason, part of the error); None: the output decides
ENDINGS = [
    (ready(), None),
    (ready(cpu_s=2.0), None),
    (ready(memory_bytes=64 << 20), None),
    (ready(memory_bytes=None), None),
    (ready(limits_hit=frozenset({"memory"})), None),
    (ready(stderr=b"noise", stderr_cut=True), None),
    (ready(limits_hit=frozenset({"processes", "open_files"})), None),
    (ready(cpu_s=2.01), ("TLE", "time_limit_exceeded", "2.01 s of CPU time, the limit is 2 s")),
    (
        ready(cpu_s=2.5, exit_code=None, signal=9, killed_for="cpu"),
        ("TLE", "time_limit_exceeded", "2.50 s of CPU"),
    ),
    (
        ready(cpu_s=1.9, exit_code=None, signal=9, killed_for="cpu"),
        ("TLE", "time_limit_exceeded", "stopped for its CPU time, the limit is 2 s"),
    ),
    (
        ready(cpu_s=0.1, wall_s=8.0, exit_code=None, signal=9, killed_for="wall"),
        ("TLE", "time_limit_exceeded", "8.00 s without using its CPU time (0.10 s of 2 s)"),
    ),
    (
        ready(cpu_s=2.2, memory_bytes=1 << 30, exit_code=1),
        ("TLE", "time_limit_exceeded", "2.20 s"),
    ),
    (
        ready(exit_code=None, signal=9, killed_for="memory", memory_bytes=64 << 20),
        ("MLE", "memory_limit_exceeded", "the limit is 64 MB"),
    ),
    (
        ready(memory_bytes=(64 << 20) + 1),
        ("MLE", "memory_limit_exceeded", "64.0 MB of memory, the limit is 64 MB"),
    ),
    (
        ready(exit_code=1, limits_hit=frozenset({"memory"}), stderr=b"MemoryError"),
        ("MLE", "memory_limit_exceeded", "asked for more memory than allowed"),
    ),
    (
        ready(exit_code=None, signal=6, limits_hit=frozenset({"memory"})),
        ("MLE", "memory_limit_exceeded", "64 MB"),
    ),
    (
        ready(exit_code=None, signal=25, killed_for="output", stdout_bytes=999),
        ("OLE", "output_limit_exceeded", "at least 999 bytes"),
    ),
    (ready(b"xy", stdout_cut=True), ("OLE", "output_limit_exceeded", "printed more")),
    (
        ready(exit_code=None, signal=25, killed_for="file_size"),
        ("OLE", "output_limit_exceeded", "files"),
    ),
    (
        ready(killed_for="output", files={"output.txt": b"xy"}),
        ("OLE", "output_limit_exceeded", "wrote more to files"),
    ),
    (ready(exit_code=1, killed_for="disk"), ("OLE", "output_limit_exceeded", "files")),
    (ready(exit_code=3), ("RE", "runtime_error", "exit code 3")),
    (
        ready(exit_code=1, stderr=b"Traceback\n  x\nValueError: \xff no\n\n"),
        ("RE", "runtime_error", r"exit code 1: ValueError: \xff no"),
    ),
    (ready(exit_code=None, signal=11), ("RE", "runtime_error", "SIGSEGV")),
    (ready(exit_code=None, signal=250), ("RE", "runtime_error", "signal 250")),
    (ready(exit_code=None, killed_for="processes"), ("RE", "runtime_error", "processes limit")),
    (
        ready(exit_code=None),
        ("ER", "sandbox_error", "did not report how the program ended"),
    ),
]

# result for the output → (verdict, reason, passed, score)
OUTPUTS: list[tuple[Match | Check, tuple[str, str, bool | None, float | None]]] = [
    (Match(True), ("AC", "passed_by_exact_match", True, 1.0)),
    (Match(False, "token 1"), ("WA", "failed_outputs_match", False, 0.0)),
    (accept(), ("AC", "passed_by_checker", True, 1.0)),
    (accept("half", 0.5), ("WA", "partial_points", False, 0.5)),
    (Check("accepted", "OK", None), ("AC", "passed_by_checker", True, 1.0)),
    (reject("no"), ("WA", "failed_checker", False, 0.0)),
    (reject("some", score=0.25), ("WA", "failed_checker", False, 0.25)),
    (reject("form", "PE"), ("WA", "presentation_error", False, 0.0)),
    (unclear("crashed"), ("CU", "checker_unclear", None, None)),
    (accept("not a score", float("nan")), ("CU", "checker_unclear", None, None)),
    (reject("below", score=-2.0), ("WA", "failed_checker", False, 0.0)),
    (accept("above", 7.0), ("AC", "passed_by_checker", True, 1.0)),
]


@pytest.mark.parametrize(
    ("ending", "output"),
    list(itertools.product(ENDINGS, OUTPUTS)),
    ids=lambda x: str(x[1])[:60],
)
def test_the_ending_decides_before_the_output(ending, output):
    execution, wanted = ending
    seen, by_output = output
    judged = judge(execution, BOUNDS, seen)
    if wanted is None:
        assert (judged.verdict, judged.reason, judged.passed, judged.score) == by_output
        assert judged.error == getattr(seen, "message", "") or judged.verdict == "AC"
        return
    verdict, reason, error = wanted
    assert (judged.verdict, judged.reason) == (verdict, reason)
    assert error in judged.error
    unjudged = verdict == "ER"
    assert judged.passed is (None if unjudged else False)
    assert judged.score == (None if unjudged else 0.0)


@pytest.mark.parametrize(("execution", "wanted"), ENDINGS)
def test_only_a_normal_ending_needs_the_output(execution, wanted):
    if wanted is None:
        with pytest.raises(ValueError, match="pass `found`"):
            judge(execution, BOUNDS, None)
    else:
        assert judge(execution, BOUNDS, None).verdict == wanted[0]


@pytest.mark.parametrize(
    ("execution", "whole"),
    [
        (ready(cpu_s=2.4), True),
        (ready(cpu_s=2.5, exit_code=None, signal=9, killed_for="cpu"), False),
        (ready(cpu_s=2.4, exit_code=1), False),
        (ready(cpu_s=2.4, stdout_cut=True), False),
        (ready(cpu_s=2.4, memory_bytes=1 << 40), False),
    ],
)
def test_the_output_of_a_late_run_is_complete(execution, whole):
    assert whole_output(execution, BOUNDS) is whole


@given(
    cpu_s=st.floats(0, 10),
    memory=st.none() | st.integers(0, 1 << 40),
    code=st.none() | st.integers(0, 255),
    number=st.none() | st.integers(1, 64),
    killed=st.sampled_from([None, "cpu", "wall", "memory", "output", "processes", "disk"]),
    seen=st.sampled_from([seen for seen, _ in OUTPUTS]),
)
def test_passing_needs_a_normal_ending_within_all_limits(cpu_s, memory, code, number, killed, seen):
    execution = Execution(code, number, cpu_s, cpu_s, memory, killed_for=killed)
    judged = judge(execution, BOUNDS, seen)
    assert (judged.verdict == "AC") is (judged.passed is True)
    if judged.passed:
        assert (code, number, killed) == (0, None, None)
        assert cpu_s <= BOUNDS.cpu_s
        assert memory is None or memory <= BOUNDS.memory_bytes


def test_an_equal_output_passes() -> None:
    assert judge(ready(), BOUNDS, EQUAL).verdict == "AC"


def test_a_rejection_always_has_an_error() -> None:
    done = Execution(0, None, 0.1, 0.1, 1)
    assert judge(done, BOUNDS, reject("too long")).error == "too long"
    assert judge(done, BOUNDS, reject("")).error == "rejected; no reason was given"


@pytest.mark.parametrize(
    ("execution", "bounds", "error"),
    [
        (
            ready(cpu_s=2.0, wall_s=8.0, exit_code=None, signal=9, killed_for="wall"),
            BOUNDS,
            "stopped after 8.00 s without using its CPU time (2.00 s of 2 s)",
        ),
        (
            ready(cpu_s=2.0, exit_code=None, signal=9, killed_for="cpu"),
            BOUNDS,
            "stopped for its CPU time, the limit is 2 s",
        ),
        (
            ready(cpu_s=2.3, wall_s=8.0, exit_code=None, signal=9, killed_for="wall"),
            BOUNDS,
            "2.30 s of CPU time, the limit is 2 s",
        ),
        (
            ready(memory_bytes=7 << 19),
            Bounds(2.0, 3 << 19),
            "3.5 MB of memory, the limit is 1.5 MB",
        ),
        (
            ready(exit_code=None, signal=9, killed_for="memory", memory_bytes=3 << 19),
            Bounds(2.0, 3 << 19),
            "asked for more memory than allowed, the limit is 1.5 MB",
        ),
        (
            ready(exit_code=1, stderr=b"first\n" + b"x" * 300),
            BOUNDS,
            f"exit code 1: {'x' * 200}",
        ),
    ],
)
def test_the_words_of_an_error(execution, bounds, error):
    assert judge(execution, bounds, Match(True)).error == error


@pytest.mark.parametrize(
    ("check", "verdict", "score"),
    [
        (Check("accepted", "OK", None), "AC", 1.0),
        (Check("accepted", "OK", 3.0), "AC", 1.0),
        (Check("accepted", "OK", 0.25), "WA", 0.25),
        (Check("rejected", "WA", None), "WA", 0.0),
        (Check("rejected", "WA", 0.75), "WA", 0.75),
        (Check("rejected", "WA", 5.0), "WA", 1.0),
        (Check("rejected", "WA", -5.0), "WA", 0.0),
        (Check("accepted", "OK", float("nan")), "CU", None),
        (Check("accepted", "OK", float("inf")), "CU", None),
        (Check("unclear", "FAIL", 1.0), "CU", None),
    ],
)
def test_the_score_of_a_check(check, verdict, score):
    found = judge(ready(), BOUNDS, check)
    assert (found.verdict, found.score) == (verdict, score)


def case(verdict: CaseVerdict, reason: Reason = "failed_checker", score: float | None = None):
    if score is None and verdict not in ("SK", "ER", "CU"):
        score = 1.0 if verdict == "AC" else 0.0
    return records.case(verdict=verdict, score=score, reason=reason)


AC, WA, ER, CU = case("AC"), case("WA"), case("ER"), case("CU")
BIG = case("SK", "skipped_large_input")
REST = case("SK", "not_run_after_failure")
TALK = case("SK", "unsupported_interactive")


@pytest.mark.parametrize(
    ("cases", "status", "verdict", "score"),
    [
        ([], "no_tests", None, None),
        ([BIG, BIG], "no_tests", "SK", None),
        ([TALK], "unsupported", "SK", None),
        ([AC], "passed", "AC", 1.0),
        ([BIG, AC], "passed", "AC", 1.0),
        ([AC, WA, case("TLE")], "failed", "WA", round(1 / 3, 9)),
        ([AC, WA, REST, REST], "failed", "WA", 0.25),
        ([AC, case("WA", score=0.5)], "failed", "WA", 0.75),
        ([AC, CU], "failed", "CU", 0.5),
        ([AC, ER], "error", "ER", None),
        ([ER], "error", "ER", None),
        ([ER, BIG], "error", "ER", None),
        ([ER, WA], "failed", "ER", 0.0),
        ([case("CE"), case("CE")], "failed", "CE", 0.0),
    ],
)
def test_status_verdict_and_score_of_a_solution(cases, status, verdict, score):
    outcome = sum_up(cases)
    assert (outcome.status, outcome.verdict, outcome.score) == (status, verdict, score)


@given(st.lists(st.sampled_from([AC, WA, ER, CU, BIG, REST])))
def test_statuses_are_exclusive(cases):
    outcome = sum_up(cases)
    verdicts = [c.verdict for c in cases]
    assert (outcome.status == "failed") is any(map(fails, verdicts))
    assert (outcome.status == "passed") is (set(verdicts) <= {"AC", "SK"} and "AC" in verdicts)
    assert outcome.score is None or 0 <= outcome.score <= 1
