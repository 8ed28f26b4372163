"""Turn evidence into verdicts; no other module decides one.

    TestCase, output ─ compare_output ─▶ Match|Check ─┐
    Bounds ───────────────────────────────────────────┼─ judge ─▶ CaseJudgement
    Execution ────────────────────────────────────────┘       … ─ sum_up ─▶ SolutionOutcome

All functions but `compare_output`, which asks a checker, are pure.
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from gradebox.checkers.check import Check, Checker
from gradebox.checkers.compare import Mode
from gradebox.checkers.error_lines import crash_line
from gradebox.checkers.long_outputs import first_difference
from gradebox.eval.problems.problem import TestCase
from gradebox.sandbox.model import Execution, LimitName

if TYPE_CHECKING:  # an exported run.py has no msgspec
    from gradebox.eval.results.record import CaseRecord, CaseVerdict, Reason, Status


@dataclass(frozen=True)
class Bounds:
    """The limits that decide a verdict: the problem's, with the language's scale applied."""

    cpu_s: float
    memory_bytes: int


@dataclass(frozen=True)
class Match:
    """The comparison of an output with the expected one; `message` is the first difference."""

    equal: bool
    message: str = ""


@dataclass(frozen=True)
class CaseJudgement:
    """A verdict with its reason. `passed` and `score` are None when nothing was judged."""

    verdict: CaseVerdict
    reason: Reason
    passed: bool | None
    score: float | None
    error: str = ""


EQUAL = Match(True)
OUTPUT_FILE = "output.txt"
_PASSED = CaseJudgement("AC", "passed_by_exact_match", True, 1.0)


@dataclass(frozen=True)
class SolutionOutcome:
    """The result of a solution."""

    status: Status
    verdict: CaseVerdict | None
    score: float | None


def compare_output(
    test: TestCase,
    output: bytes | None,
    checker: Checker | None,
    mode: Mode,
    file: str = OUTPUT_FILE,
) -> Match | Check:
    """Ask the checker; without one compare with the expected output, by `mode`.

    An output that is byte for byte the expected one is accepted without the checker, unless this
    checker need not accept it. The checker is asked about every other output, because it may be
    stricter than any comparison.

    output  None when the output file, `file`, was not written
    """
    if output is None:
        return Match(False, f"{file} was not written")
    if output == test.expected and spares_expected(checker):
        return EQUAL
    if checker is not None:
        return checker.check(test.input, output, test.expected)
    why = first_difference(output, test.expected, mode)
    return Match(False, why) if why else EQUAL


def spares_expected(checker: Checker | None) -> bool:
    """Return whether the expected output is accepted without asking the checker."""
    return bool(getattr(checker, "answer_is_output", True))


def judge(execution: Execution, bounds: Bounds, found: Match | Check | None) -> CaseJudgement:
    """Return the verdict of one run: by its end, and if that was normal, by its output.

    found  the comparison or check of the output; may be None when the run's end decides
    """
    failure = _failed_ending(execution, bounds)
    return judge_untimed(found) if failure is None else failure


def judge_untimed(found: Match | Check | None) -> CaseJudgement:
    """Return the verdict of a run that ended well by its output alone."""
    if isinstance(found, Match):
        return _judge_match(found)
    if isinstance(found, Check):
        return _judge_check(found)
    raise ValueError("a run that ended well is judged by its output: pass `found`")


def whole_output(execution: Execution, bounds: Bounds) -> bool:
    """Return whether the program ended normally, even if late, so that its output is complete."""
    return execution.killed_for not in _OVER_TIME and _failed_in_time(execution, bounds) is None


# The limits behind a TLE and an OLE. Limits in neither (processes, open files) show as the crash
# that they caused.
_OVER_TIME: frozenset[LimitName] = frozenset({"cpu", "wall"})
_OVER_OUTPUT: frozenset[LimitName] = frozenset({"output", "file_size", "disk"})


def _failed_ending(x: Execution, bounds: Bounds) -> CaseJudgement | None:
    """Return the failure that the run's end shows, None when its output decides.

    Time comes before memory, output and the exit code, because a killed program has an exit code
    without a meaning.
    """
    if x.killed_for in _OVER_TIME or x.cpu_s > bounds.cpu_s:
        return _failed("TLE", "time_limit_exceeded", _time_error(x, bounds))
    return _failed_in_time(x, bounds)


def _failed_in_time(x: Execution, bounds: Bounds) -> CaseJudgement | None:
    if _over_memory(x, bounds):
        return _failed("MLE", "memory_limit_exceeded", _memory_error(x, bounds))
    if x.killed_for in _OVER_OUTPUT or x.stdout_cut:
        return _failed("OLE", "output_limit_exceeded", _output_error(x))
    if x.signal is not None:
        return _failed("RE", "runtime_error", _crash_error(x, _signal_name(x.signal)))
    if x.exit_code is None:
        if x.killed_for is None:
            error = "the sandbox did not report how the program ended"
            return CaseJudgement("ER", "sandbox_error", None, None, error)
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


def _failed(verdict: CaseVerdict, reason: Reason, error: str) -> CaseJudgement:
    return CaseJudgement(verdict, reason, False, 0.0, error)


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
    line = crash_line(x.stderr.decode("utf-8", "backslashreplace"))
    return f"{how}: {line[:200]}" if line else how


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _judge_match(match: Match) -> CaseJudgement:
    if match.equal:
        return _PASSED
    return _failed("WA", "failed_outputs_match", match.message)


def _judge_check(check: Check) -> CaseJudgement:
    """Return a checker's verdict; only full points pass, partial credit is kept in the score."""
    if check.outcome == "unclear" or not isfinite(check.score or 0.0):
        return CaseJudgement("CU", "checker_unclear", None, None, check.message)
    score = 1.0 if check.score is None and check.accepted else check.score or 0.0
    if check.accepted and score >= 1.0:
        return CaseJudgement("AC", "passed_by_checker", True, 1.0)
    reason: Reason = "presentation_error" if check.verdict == "PE" else "failed_checker"
    if check.accepted:
        reason = "partial_points"
    why = check.message or "rejected; no reason was given"
    return CaseJudgement("WA", reason, False, min(max(score, 0.0), 1.0), why)


def fails(verdict: CaseVerdict) -> bool:
    """Return whether a case with this verdict fails its solution; faults of the sandbox do not."""
    return verdict not in ("AC", "SK", "ER")


def sum_up(cases: Sequence[CaseRecord]) -> SolutionOutcome:
    """Return a solution's status, verdict and score from its cases in plan order.

    The score is the mean over the cases. Those not run after a failure count 0; skipped ones and
    those the sandbox failed at do not count. It is None when no case was judged or the sandbox
    failed without any failed case.
    """
    verdict = next((c.verdict for c in cases if c.verdict not in ("AC", "SK")), None)
    failed = any(fails(c.verdict) for c in cases)
    if not failed and any(c.verdict == "ER" for c in cases):
        return SolutionOutcome("error", "ER", None)
    if not failed and not any(c.verdict == "AC" for c in cases):
        interactive = any(c.reason == "unsupported_interactive" for c in cases)
        return SolutionOutcome(
            "unsupported" if interactive else "no_tests", "SK" if cases else None, None
        )
    points = [c.score or 0.0 for c in cases if _counts(c)]
    score = round(sum(points) / len(points), 9) if points else None
    return SolutionOutcome("failed" if failed else "passed", verdict or "AC", score)


def _counts(case: CaseRecord) -> bool:
    if case.verdict == "SK":
        return case.reason == "not_run_after_failure"
    return case.verdict != "ER"
