"""Run a case again and compare the result with its record.

OpenedCase ─ compile, run, check ─▶ Rerun ─ compare_with_record ─▶ Comparison
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.debugging.find import Json
from gradebox.eval.debugging.reopen import OpenedCase
from gradebox.eval.grading.cases.case_run import CaseGrader, CaseOutcome
from gradebox.eval.grading.solution_job import case_grader
from gradebox.eval.grading.solution_run import compile_error
from gradebox.eval.results.record import CaseRecord
from gradebox.sandbox.errors import SandboxError


@dataclass(frozen=True)
class Rerun:
    """The result of running a case again.

    record       made by the same rules as in a run
    outcome      the run behind it; None when the program does not compile
    compile_log  output of the compiler
    verdicts     counts over all runs of --repeat
    """

    record: CaseRecord
    outcome: CaseOutcome | None
    compile_log: bytes = b""
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def output(self) -> bytes:
        """What the program wrote."""
        return (self.outcome.output or b"") if self.outcome is not None else b""


def run_again(case: OpenedCase, repeat: int = 1) -> Rerun:
    """Run a case `repeat` times and return the first run with the counts of all.

    Raises InputError when the sandbox fails or the solution has no code.
    """
    try:
        compiled = case.compile()
        try:
            if not compiled.ok:
                return Rerun(compile_error(case.ref), None, compiled.log, Counter({"CE": 1}))
            grader = case_grader(case.settings, case.solution_run, case.resources, compiled)
            runs = [_run(case, grader) for _ in range(repeat)]
        finally:
            compiled.close()
    except SandboxError as e:
        raise InputError(f"the sandbox failed: {e}; try again") from None
    record, outcome = runs[0]
    return Rerun(record, outcome, compiled.log, Counter(record.verdict for record, _ in runs))


def _run(case: OpenedCase, grader: CaseGrader) -> tuple[CaseRecord, CaseOutcome]:
    outcome = case.settings.retry.call(lambda: grader.attempt(case.test), case.name)
    return grader.record(case.ref, case.test, outcome), outcome


@dataclass(frozen=True)
class Comparison:
    """Whether the verdict differs from the recorded one, and lines that explain it."""

    differs: bool
    lines: tuple[str, ...]


def compare_with_record(case: OpenedCase, rerun: Rerun) -> Comparison:
    """Compare verdict and output with the record, and name what changed since the run."""
    then, now = case.recorded, rerun.record
    lines: list[str] = []
    ran_then = then.get("verdict") not in ("SK", "ER")
    differs = ran_then and (then.get("verdict"), then.get("reason")) != (now.verdict, now.reason)
    if len(rerun.verdicts) > 1:
        counts = ", ".join(f"{v} {n}" for v, n in rerun.verdicts.most_common())
        lines.append(f"FLAKY: {rerun.verdicts.total()} runs gave {counts}")
    if differs and case.unchanged:
        lines.append(
            "DIFFERS from the record although program, test, checker, limits and sandbox are "
            "unchanged. The case is flaky: random, or near its time or memory limit. "
            "--repeat 10 runs it more often."
        )
    elif differs:
        lines.append("DIFFERS from the record")
    elif ran_then:
        lines.append("as recorded")
    else:
        lines.append(f"not judged in the run ({then.get('reason')})")
    if case.unchanged is False:
        lines.append(f"changed since the run: {_changes(case)}")
    if _output_differs(then, now):
        lines.append("the output differs from the recorded one: the program is not deterministic")
    return Comparison(differs, tuple(lines))


def _output_differs(then: Json, now: CaseRecord) -> bool:
    """Return whether two runs that ended normally wrote different outputs."""
    hashes = then.get("output_sha256"), now.output_sha256
    return then.get("exit_code") == 0 == now.exit_code and all(hashes) and len({*hashes}) > 1


def _changes(case: OpenedCase) -> str:
    """Return what differs from the run, as far as the record shows it."""
    changes: list[str] = []
    recorded_sandbox = case.record.get("sandbox")
    if isinstance(recorded_sandbox, dict):
        for name, now in case.solution_run.sandbox.items():
            then = recorded_sandbox.get(name)
            if then != now:
                changes.append(f"sandbox {name} (was {then}, is {now})")
    input_sha256 = hashlib.sha256(case.test.input).hexdigest()
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("the time limit", case.record.get("time_limit_s"), case.bounds.cpu_s),
        ("the memory limit", case.record.get("memory_limit_bytes"), case.bounds.memory_bytes),
        ("the test's input", case.recorded.get("input_sha256") or None, input_sha256),
    )
    changes += [what for what, then, now in pairs if then is not None and then != now]
    return "; ".join(changes) or "the program, the tests, the checker or the flags"
