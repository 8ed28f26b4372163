"""One case run again: what came of it now, beside the record of then.

CaseAtHand ─ compile, run, check ─▶ Again(case record, execution, output, checker's words)
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from eval.debugging.find import Json
from eval.debugging.reopen import CaseAtHand
from eval.grade_case import CaseGrader, Seen, unjudged
from eval.grade_solution import program_of
from eval.input_error import InputError
from eval.interactive import interactive_attempt
from eval.model import CaseRecord
from sandbox.errors import BadRequest, SandboxError
from sandbox.model import Compiled


@dataclass(frozen=True)
class Again:
    """What came of running a case again.

    now       its record, made by the same rules as in a run
    seen      the run behind it; None where the program does not compile
    compile_log  the compiler's words
    verdicts  of all runs under --repeat
    """

    now: CaseRecord
    seen: Seen | None
    compile_log: bytes = b""
    verdicts: Counter[str] = field(default_factory=Counter)

    @property
    def output(self) -> bytes:
        """What the program wrote."""
        return (self.seen.output or b"") if self.seen is not None else b""


def run_again(hand: CaseAtHand, repeat: int = 1) -> Again:
    """Grades the case `repeat` times; the first run is shown.

    Raises InputError where the machine can't: no compiler, a sandbox that fails.
    """
    try:
        compiled = compiled_of(hand)
        try:
            if not compiled.ok:
                now = unjudged(hand.ref, "CE", "compile_error", "the program does not compile")
                return Again(now, None, compiled.log, Counter({"CE": 1}))
            grader = grader_of(hand, compiled)
            runs = [_graded(hand, grader) for _ in range(max(1, repeat))]
        finally:
            compiled.close()
    except SandboxError as e:
        raise InputError(f"the sandbox failed: {e}; try again") from None
    now, seen = runs[0]
    return Again(now, seen, compiled.log, Counter(case.verdict for case, _ in runs))


def compiled_of(hand: CaseAtHand) -> Compiled:
    """The program ready to run, or with the compiler's refusal."""
    solution = hand.subject.solution
    if solution.code is None:
        raise InputError(f"line {solution.line} has no code: there is nothing to run")
    program = program_of(solution.code, hand.subject.language)
    try:
        return hand.bench.retry.call(lambda: hand.bench.sandbox.compile(program), "compiling")
    except BadRequest as e:
        return Compiled(program, ok=False, log=str(e).encode())


def grader_of(hand: CaseAtHand, compiled: Compiled) -> CaseGrader:
    """Grades this case as a run does."""
    attempt = None
    if hand.kit.interactor is not None:
        attempt = interactive_attempt(hand.bench, hand.bounds, compiled, hand.kit.interactor)
    return CaseGrader(
        hand.bench,
        hand.subject.problem,
        hand.bounds,
        compiled,
        hand.kit.checker,
        hand.kit.tests,
        attempt=attempt,
        hashes=hand.kit.hashes,
    )


def _graded(hand: CaseAtHand, grader: CaseGrader) -> tuple[CaseRecord, Seen]:
    seen = hand.bench.retry.call(lambda: grader.attempt(hand.test), hand.name)
    return grader.record(hand.ref, hand.test, seen), seen


def stored_output(case: Json) -> bytes | None:
    """The whole output out of a record; None where it was cut, or could not be kept as text."""
    data = str(case.get("output") or "").encode("utf-8", "surrogatepass")
    if len(data) != case.get("output_bytes"):
        return None
    return data if hashlib.sha256(data).hexdigest() == case.get("output_sha256") else None


@dataclass(frozen=True)
class Findings:
    """What then and now say together, each a line for people.

    differs  the verdict is another one
    """

    differs: bool
    lines: tuple[str, ...]


def compare(hand: CaseAtHand, again: Again) -> Findings:
    """Whether the verdict is as recorded, and what may have changed it."""
    then, now = hand.then, again.now
    lines: list[str] = []
    ran_then = then.get("verdict") not in ("SK", "ER")
    differs = ran_then and (then.get("verdict"), then.get("reason")) != (now.verdict, now.reason)
    if len(again.verdicts) > 1:
        told = ", ".join(f"{v} {n}" for v, n in again.verdicts.most_common())
        lines.append(f"FLAKY: {again.verdicts.total()} runs gave {told}")
    if differs and hand.as_before:
        lines.append(
            "DIFFERS from the record although program, test, checker, limits and sandbox are the "
            "same: the case is flaky (random, time, memory near a limit); --repeat 10 runs it "
            "more often"
        )
    elif differs:
        lines.append("DIFFERS from the record")
    elif ran_then:
        lines.append("as recorded")
    else:
        lines.append(f"not judged then ({then.get('reason')})")
    if hand.as_before is False:
        lines.append(f"the record was made with something else: {_changed(hand)}")
    if _other_output(then, again):
        lines.append("the output is not the recorded one: the program is not deterministic")
    return Findings(differs, tuple(lines))


def _other_output(then: Json, again: Again) -> bool:
    """Whether two runs that ended well wrote different things."""
    hashes = then.get("output_sha256"), again.now.output_sha256
    return then.get("exit_code") == 0 == again.now.exit_code and all(hashes) and len({*hashes}) > 1


def _changed(hand: CaseAtHand) -> str:
    """The parts of a key that are seen to be others now."""
    box, now = hand.record.get("sandbox"), hand.subject.sandbox
    changed: list[str] = []
    if isinstance(box, dict):
        for name, value in now.items():
            if box.get(name) != value:
                changed.append(f"sandbox {name} (then {box.get(name)}, now {value})")
    pairs: tuple[tuple[str, Any, Any], ...] = (
        ("the time limit", hand.record.get("time_limit_s"), hand.bounds.cpu_s),
        ("the memory limit", hand.record.get("memory_limit_bytes"), hand.bounds.memory_bytes),
        ("the test's input", hand.then.get("input_sha256") or None, _input_sha256(hand)),
    )
    changed += [what for what, old, new in pairs if old is not None and old != new]
    return "; ".join(changed) or "the program, the tests, the checker or the flags"


def _input_sha256(hand: CaseAtHand) -> str:
    return hashlib.sha256(hand.test.input).hexdigest()
