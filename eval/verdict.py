"""The one place where evidence becomes a verdict.

    Execution ─┐
    Bounds ────┼─ judge ─▶ Judgement ─ … ─ sum_up ─▶ Outcome of the solution
    Match|Check┘

Pure functions only: they never run, read or wait for anything.
"""

from __future__ import annotations

import signal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from checkers.model import Check
from eval.model import CaseRecord, CaseVerdict, Reason, Status
from sandbox.model import Execution, LimitName


@dataclass(frozen=True)
class Bounds:
    """What a verdict is given by: CPU seconds and bytes of the problem, scale included."""

    cpu_s: float
    memory_bytes: int


@dataclass(frozen=True)
class Match:
    """What comparing an output with the expected one gave; `message` says where they differ."""

    equal: bool
    message: str = ""


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reason. `passed` and `score` are None when nothing was judged."""

    verdict: CaseVerdict
    reason: Reason
    passed: bool | None
    score: float | None
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """What a solution's cases come to."""

    status: Status
    verdict: CaseVerdict | None
    score: float | None


def judge(execution: Execution, bounds: Bounds, seen: Match | Check | None) -> Judgement:
    """The verdict of one run: how it ended comes first, then what it wrote.

    `seen` is what was found out about the output; None when nobody looked, which only a
    run that failed by itself allows (`ended_well` tells beforehand).
    """
    ending = _ending(execution, bounds)
    if ending is not None:
        return ending
    if isinstance(seen, Match):
        return _by_match(seen)
    if isinstance(seen, Check):
        return _by_check(seen)
    raise ValueError("a run that ended well has a verdict only by its output: pass `seen`")


def ended_well(execution: Execution, bounds: Bounds) -> bool:
    """Whether the verdict depends on the output."""
    return _ending(execution, bounds) is None


def whole_output(execution: Execution, bounds: Bounds) -> bool:
    """Whether the program ended well but for its time, so that its output can be judged."""
    patient = Bounds(float("inf"), bounds.memory_bytes)
    return _ending(execution, patient) is None


# Which failure a limit is reported as when the sandbox ended the program for it. A limit
# that is in no row (processes, open files) shows as the crash it led to.
_OVER_TIME: frozenset[LimitName] = frozenset({"cpu", "wall"})
_OVER_OUTPUT: frozenset[LimitName] = frozenset({"output", "file_size", "disk"})


def _ending(execution: Execution, bounds: Bounds) -> Judgement | None:
    """What the run's end says by itself; None when its output decides.

    Time before memory before output before the exit code: a program that was killed has
    an exit code too, and that says nothing.
    """
    x = execution
    if x.killed_for in _OVER_TIME or x.cpu_s > bounds.cpu_s:
        return _failed("TLE", "time_limit_exceeded", _time_error(x, bounds))
    if _over_memory(x, bounds):
        return _failed("MLE", "memory_limit_exceeded", _memory_error(x, bounds))
    if x.killed_for in _OVER_OUTPUT or x.stdout_cut:
        return _failed("OLE", "output_limit_exceeded", _output_error(x))
    if x.signal is not None:
        return _failed("RE", "runtime_error", _crash_error(x, _signal_name(x.signal)))
    if x.exit_code is None:
        if x.killed_for is None:
            return Judgement(
                "ER", "sandbox_error", None, None, "the sandbox did not say how the program ended"
            )
        return _failed("RE", "runtime_error", f"ended for its {x.killed_for} limit")
    if x.exit_code != 0:
        return _failed("RE", "runtime_error", _crash_error(x, f"exit code {x.exit_code}"))
    return None


def _over_memory(x: Execution, bounds: Bounds) -> bool:
    if x.killed_for == "memory":
        return True
    if x.memory_bytes is not None and x.memory_bytes > bounds.memory_bytes:
        return True
    return "memory" in x.limits_hit and x.exit_code != 0


def _failed(verdict: CaseVerdict, reason: Reason, error: str) -> Judgement:
    return Judgement(verdict, reason, False, 0.0, error)


def _time_error(x: Execution, bounds: Bounds) -> str:
    if x.killed_for == "wall" and x.cpu_s <= bounds.cpu_s:
        return (
            f"stopped after {x.wall_s:.2f} s without using its CPU time "
            f"({x.cpu_s:.2f} s of {bounds.cpu_s:g} s)"
        )
    if x.cpu_s <= bounds.cpu_s:
        return f"stopped for its CPU time, the limit is {bounds.cpu_s:g} s"
    return f"{x.cpu_s:.2f} s of CPU time, the limit is {bounds.cpu_s:g} s"


def _memory_error(x: Execution, bounds: Bounds) -> str:
    limit = f"the limit is {bounds.memory_bytes / 2**20:g} MB"
    if x.memory_bytes is not None and x.memory_bytes > bounds.memory_bytes:
        return f"{x.memory_bytes / 2**20:.1f} MB of memory, {limit}"
    return f"asked for more memory than allowed, {limit}"


def _output_error(x: Execution) -> str:
    if x.killed_for in ("file_size", "disk") or (x.files and not x.stdout_cut):
        return "wrote more to files than allowed"
    return f"printed more than allowed, at least {x.stdout_bytes} bytes"


def _crash_error(x: Execution, how: str) -> str:
    lines = x.stderr.decode("utf-8", "backslashreplace").strip().splitlines()
    return f"{how}: {lines[-1].strip()[:200]}" if lines else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _by_match(seen: Match) -> Judgement:
    if seen.equal:
        return Judgement("AC", "passed_by_exact_match", True, 1.0)
    return _failed("WA", "failed_outputs_match", seen.message)


def _by_check(check: Check) -> Judgement:
    """Only full points are a pass: partial credit stays in the score."""
    if check.outcome == "unclear" or not isfinite(check.score or 0.0):
        return Judgement("CU", "checker_unclear", None, None, check.message)
    score = 1.0 if check.score is None and check.accepted else check.score or 0.0
    if check.accepted and score >= 1.0:
        return Judgement("AC", "passed_by_checker", True, 1.0)
    reason: Reason = "presentation_error" if check.verdict == "PE" else "failed_checker"
    why = check.message or "rejected; no reason was given"
    return Judgement("WA", reason, False, min(max(score, 0.0), 1.0), why)


def fails(verdict: CaseVerdict) -> bool:
    """Whether a case with this verdict fails its solution (the machine's faults do not)."""
    return verdict not in ("AC", "SK", "ER")


def sum_up(cases: Sequence[CaseRecord]) -> Outcome:
    """Status, verdict and score of a solution from its cases in plan order.

    score  mean over the cases that were to be judged: those not run after a failure count
           0, skipped and unjudged ones not at all; None when the machine failed or nothing
           was judged
    """
    verdict = first_bad(c.verdict for c in cases)
    failed = any(fails(c.verdict) for c in cases)
    if not failed and any(c.verdict == "ER" for c in cases):
        return Outcome("error", "ER", None)
    if not failed and not any(c.verdict == "AC" for c in cases):
        interactive = any(c.reason == "unsupported_interactive" for c in cases)
        return Outcome("unsupported" if interactive else "no_tests", "SK" if cases else None, None)
    points = [c.score or 0.0 for c in cases if _has_points(c)]
    score = round(sum(points) / len(points), 9) if points else None
    return Outcome("failed" if failed else "passed", verdict or "AC", score)


def _has_points(case: CaseRecord) -> bool:
    if case.verdict == "SK":
        return case.reason == "not_run_after_failure"
    return case.verdict != "ER"


def first_bad(verdicts: Iterable[CaseVerdict]) -> CaseVerdict | None:
    """The first verdict that is neither AC nor SK."""
    return next((v for v in verdicts if v not in ("AC", "SK")), None)
