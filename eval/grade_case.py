"""One case of one solution: load, run, look at the output, judge, record.

    TestRef ─load▶ TestCase ─run▶ Execution ─look▶ Match|Check ─judge▶ CaseRecord

Faults of the machine are tried again and then become ER; nothing here ends a run.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Literal, Protocol

from checkers import compare
from checkers.model import Check
from checkers.protocol import Checker
from eval.input_error import InputError
from eval.model import CaseRecord, CaseVerdict, Problem, Reason, TestCase, TestRef
from eval.records import one_line, stored_text
from eval.retry import Interrupted, Retry
from eval.time_policy import must_run_alone, run_limits
from eval.verdict import Bounds, Judgement, Match, judge, whole_output
from sandbox.errors import SandboxError
from sandbox.model import Compiled, Execution
from sandbox.protocol import Sandbox

CompareMode = Literal["open-r1", "upstream", "exact"]
INPUT_FILE, OUTPUT_FILE = "input.txt", "output.txt"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Bench:
    """What every case of a run is graded with.

    stored_bytes  most bytes of an output, an expected output or a stderr kept in a record
    repeat        how often each case runs
    """

    sandbox: Sandbox
    compare: CompareMode = "open-r1"
    stored_bytes: int = 4096
    repeat: int = 1
    retry: Retry = field(default_factory=Retry)


class Loader(Protocol):
    """Where a test's contents come from."""

    def load(self, ref: TestRef) -> TestCase: ...


@dataclass(frozen=True)
class Seen:
    """A run with what was found out about it. `output` is None when it wrote none."""

    execution: Execution
    output: bytes | None
    judgement: Judgement
    output_passed: bool | None
    check: Check | None = None
    contended: bool = False
    transcript: str | None = None


Attempt = Callable[[TestCase], Seen]


class CaseGrader:
    """Grades the cases of one solution; may be called from several threads at once."""

    def __init__(
        self,
        bench: Bench,
        problem: Problem,
        bounds: Bounds,
        compiled: Compiled,
        checker: Checker | None,
        tests: Loader,
        *,
        attempt: Attempt | None = None,
        hashes: dict[tuple[str, int], str] | None = None,
    ) -> None:
        """Grades with these.

        attempt  replaces the plain run of program and checker (interactive problems)
        hashes   SHA-256 of the inputs seen so far, shared by the graders of one problem
        """
        self._bench = bench
        self._problem = problem
        self._bounds = bounds
        self._compiled = compiled
        self._checker = checker
        self._tests = tests
        self.attempt = attempt or self._plain
        self._hashes = {} if hashes is None else hashes

    def grade(self, ref: TestRef) -> CaseRecord:
        """The record of one case. Raises only Interrupted, and InputError for a lost test."""
        if ref.skip is not None:
            return unjudged(ref, "SK", ref.skip)
        what = f"{self._problem.id} {ref.case_type} test {ref.index}"
        try:
            test = self._tests.load(ref)
            seen = self._bench.retry.call(lambda: self.attempt(test), what)
            repeats = [seen.judgement.verdict]
            for _ in range(1, self._bench.repeat):
                again = self._bench.retry.call(lambda: self.attempt(test), what)
                repeats.append(again.judgement.verdict)
        except (Interrupted, InputError):
            raise
        except SandboxError as e:
            return unjudged(ref, "ER", "sandbox_error", str(e))
        except Exception as e:
            log.exception("%s: unexpected error of the grader", what)
            return unjudged(ref, "ER", "sandbox_error", f"{type(e).__name__}: {e}")
        record = self.record(ref, test, seen)
        return replace(record, repeats=tuple(repeats)) if len(repeats) > 1 else record

    def _plain(self, test: TestCase) -> Seen:
        """Runs the program, alone if its time is near the limit, and looks at its output."""
        execution = self._run(test, alone=False)
        contended = must_run_alone(execution, self._bounds)
        if contended:
            execution = self._run(test, alone="alone" in self._bench.sandbox.capabilities)
        output = self._output(execution)
        if not whole_output(execution, self._bounds):
            return Seen(
                execution, output, judge(execution, self._bounds, None), None, None, contended
            )
        found = look_at(test, output, self._checker, self._bench.compare)
        return seen_of(execution, self._bounds, output, found, contended)

    def _run(self, test: TestCase, *, alone: bool) -> Execution:
        by_file = self._problem.input_mode == "file"
        execution = self._bench.sandbox.run(
            self._compiled,
            run_limits(self._bounds, len(test.expected)),
            stdin=b"" if by_file else test.input,
            files={INPUT_FILE: test.input} if by_file else None,
            collect=(OUTPUT_FILE,) if by_file else (),
            alone=alone,
        )
        _check_evidence(execution)
        return execution

    def _output(self, execution: Execution) -> bytes | None:
        if self._problem.input_mode == "file":
            return execution.files.get(OUTPUT_FILE)
        return execution.stdout

    def _hash_of(self, ref: TestRef, test: TestCase) -> str:
        """The input's hash, computed once for all solutions: 10 MB take 10 to 30 ms."""
        key = (ref.case_type, ref.index)
        known = self._hashes.get(key)
        if known is None:
            known = self._hashes[key] = hashlib.sha256(test.input).hexdigest()
        return known

    def record(self, ref: TestRef, test: TestCase, seen: Seen) -> CaseRecord:
        """The record of a case that ran."""
        x, judged, limit = seen.execution, seen.judgement, self._bench.stored_bytes
        output = seen.output or b""
        return CaseRecord(
            case_type=ref.case_type,
            test_case_i=ref.index,
            passed=judged.passed,
            verdict=judged.verdict,
            score=judged.score,
            output=stored_text(output, limit),
            expected=stored_text(test.expected, limit),
            error=one_line(judged.error),
            reason=judged.reason,
            cpu_s=round(x.cpu_s, 6),
            wall_s=round(x.wall_s, 6),
            memory_bytes=x.memory_bytes,
            contended=seen.contended,
            exit_code=x.exit_code,
            signal=x.signal,
            stderr=stored_text(x.stderr, limit),
            checker=_checker_fields(seen.check, limit),
            input_bytes=len(test.input),
            input_sha256=self._hash_of(ref, test),
            output_bytes=max(len(output), x.stdout_bytes if output is x.stdout else 0),
            output_sha256=hashlib.sha256(output).hexdigest(),
            transcript=seen.transcript,
            output_passed=seen.output_passed,
        )


def look_at(
    test: TestCase, output: bytes | None, checker: Checker | None, mode: CompareMode
) -> Match | Check:
    """Accepted at once when equal; else the checker decides, when there is one."""
    if output is None:
        return Match(False, f"{OUTPUT_FILE} was not written")
    if compare.equal(output, test.expected, mode):
        return Match(True)
    if checker is not None:
        return checker.check(test.input, output, test.expected)
    return Match(False, compare.first_difference(output, test.expected, mode))


def _check_evidence(x: Execution) -> None:
    """Raises SandboxError for evidence no verdict can be given by: a server's reply may lie."""
    if x.exit_code is None and x.signal is None and x.killed_for is None:
        raise SandboxError("the sandbox did not say how the program ended")
    if not (isfinite(x.cpu_s) and isfinite(x.wall_s) and x.cpu_s >= 0):
        raise SandboxError(f"the sandbox told impossible times: {x.cpu_s} s, {x.wall_s} s")


def seen_of(
    execution: Execution,
    bounds: Bounds,
    output: bytes | None,
    found: Match | Check,
    contended: bool = False,
    transcript: str | None = None,
) -> Seen:
    """Puts a run that wrote its whole output and what was found out about it together."""
    in_time = Bounds(float("inf"), bounds.memory_bytes)
    return Seen(
        execution,
        output,
        judge(execution, bounds, found),
        judge(execution, in_time, found).passed,
        found if isinstance(found, Check) else None,
        contended,
        transcript,
    )


def unjudged(ref: TestRef, verdict: CaseVerdict, reason: Reason, error: str = "") -> CaseRecord:
    """The record of a case that did not run, or of which nothing came out."""
    failed = verdict == "CE"
    return CaseRecord(
        case_type=ref.case_type,
        test_case_i=ref.index,
        passed=False if failed else None,
        verdict=verdict,
        score=0.0 if failed else None,
        output="",
        expected="",
        error=one_line(error),
        reason=reason,
        input_bytes=ref.input_bytes,
    )


def _checker_fields(check: Check | None, limit: int) -> dict[str, str | int | None] | None:
    if check is None:
        return None
    return {
        "stdout": stored_text(check.stdout, limit),
        "stderr": stored_text(check.stderr, limit),
        "exit_code": check.exit_code,
    }
