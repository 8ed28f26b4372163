"""The verdict of every ending of a run combined with every result for its output."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.eval.grading.verdict import (
    Bounds,
    Match,
    judge,
    sum_up,
    whole_output,
)
from gradebox.eval.results.record import CaseVerdict, Reason
from gradebox.sandbox.model import Execution
from testing.fakes import records
from testing.fakes.scripted_sandbox import ending, ready
from testing.rows import rows

BOUNDS = Bounds(cpu_s=2.0, memory_bytes=64 << 20)


# ending, [verdict, reason, part of the error]; null: the output decides
ENDINGS = [(ending(fields), wanted) for fields, wanted in rows(__file__, "endings")]

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


@pytest.mark.parametrize(("execution", "wanted"), ENDINGS, ids=lambda x: str(x)[:60])
def test_the_ending_decides_before_the_output(execution, wanted):
    for seen, by_output in OUTPUTS:
        judged = judge(execution, BOUNDS, seen)
        if wanted is None:
            assert (judged.verdict, judged.reason, judged.passed, judged.score) == by_output
            assert judged.error == getattr(seen, "message", "") or judged.verdict == "AC"
            continue
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


def test_a_rejection_always_has_an_error():
    done = Execution(0, None, 0.1, 0.1, 1)
    assert judge(done, BOUNDS, reject("too long")).error == "too long"
    assert judge(done, BOUNDS, reject("")).error == "rejected; no reason was given"


@pytest.mark.parametrize(("fields", "memory_bytes", "error"), rows(__file__, "words"))
def test_the_words_of_an_error(fields, memory_bytes, error):
    assert judge(ending(fields), Bounds(2.0, memory_bytes), Match(True)).error == error


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
        ([AC, ER, WA], "failed", "ER", 0.5),
        ([case("CE"), case("CE")], "failed", "CE", 0.0),
    ],
)
def test_status_verdict_and_score_of_a_solution(cases, status, verdict, score):
    outcome = sum_up(cases)
    assert (outcome.status, outcome.verdict, outcome.score) == (status, verdict, score)
