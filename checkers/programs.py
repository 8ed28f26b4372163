"""Checkers that are programs. Each runs in a box of its own, with the test and the output only.

    PROTOCOLS["testlib"]  ─┐
    Program (its source)  ─┴─▶ ProgramChecker(sandbox, …).check(input, output, expected) ─▶ Check

A validator of Kattis may ask for a further run of the solution (`Pass`).
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeVar

from gradebox.checkers.check import Check, CheckerError, unclear
from gradebox.checkers.protocols import KATTIS_ACCEPTED, KATTIS_NEXT_PASS, ProgramProtocol
from gradebox.sandbox.model import FOLDER, MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox

# A checker's own limits, whatever those of the problem are.
CHECKER_LIMITS = Limits(
    cpu_s=10.0,
    wall_s=32.0,
    memory_bytes=512 * MIB,
    output_bytes=1 * MIB,
    stderr_bytes=64 * 1024,
    processes=64,
)

# A run that started by fork and used this share of its memory limit is repeated alone, which starts
# it as anywhere else, and that run counts.
NEAR_FROM = 0.9

# Raise it when answers of programs are read differently: it is part of records' keys.
REVISION = 1


class NotCompiled(CheckerError):
    """The compiler refused the program; `log` holds its messages."""

    def __init__(self, log: bytes) -> None:
        super().__init__(f"does not compile: {_first_error(log)}")
        self.log = log


def _first_error(log: bytes) -> str:
    """Return the first error in a compiler's messages as one line of at most 300 characters."""
    text = log[: 64 * 1024].decode("utf-8", "replace")
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    found = next((line for line in lines if "error" in line.lower()), (lines or ["no reason"])[0])
    return "".join(c for c in found[:300] if c.isprintable())


class ProgramRuns:
    """Runs one program, which is compiled at the first run, once for all threads.

    `run` raises NotCompiled when the compiler refuses it, and SandboxError for the machine.
    """

    def __init__(self, sandbox: Sandbox, program: Program) -> None:
        self.program = program
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._compiled: Compiled | None = None

    @property
    def compiled(self) -> Compiled:
        """The program, ready to run."""
        with self._lock:
            if self._compiled is None:
                self._compiled = self._sandbox.compile(self.program)
            if not self._compiled.ok:
                raise NotCompiled(self._compiled.log)
            return self._compiled

    def run(self, limits: Limits, **case: Any) -> Execution:
        """Run one case from a clean state; `case` as in `Sandbox.run`."""
        execution = self._sandbox.run(self.compiled, limits, **case)
        memory = execution.memory_bytes or 0
        if execution.forked and memory >= NEAR_FROM * limits.memory_bytes:
            return self._sandbox.run(self.compiled, limits, **case, alone=True)
        return execution

    def close(self) -> None:
        """Free the compiled program; calling it twice is harmless."""
        with self._lock:
            if self._compiled is not None:
                self._compiled.close()


class Pass(NamedTuple):
    """A judged run of a solution for a test, of which a validator may ask for several.

    next_input  of the run that it asks for; None: this was the last one
    feedback    the files in its folder, which it finds there again
    """

    check: Check
    next_input: bytes | None = None
    feedback: Mapping[str, bytes] = {}


def read_pass(protocol: ProgramProtocol, execution: Execution, check: Check) -> Pass:
    """Return the pass of a validator's run that left its folder in `execution.files`."""
    files = dict(execution.files)
    for name in (protocol.input, protocol.answer):
        files.pop(name, None)
    next_input = files.pop(KATTIS_NEXT_PASS, None)
    if next_input is not None and check.outcome != "unclear":
        if execution.exit_code == KATTIS_ACCEPTED:
            return Pass(check, next_input, files)
        check = unclear(f"the validator left {KATTIS_NEXT_PASS} beside a rejection")
    return Pass(check)


class _Judge(Protocol):
    extra_args: tuple[str, ...]
    full_points: float | None


J = TypeVar("J", bound=_Judge)


def for_test(judge: J, args: Sequence[str], points: float | None) -> J:
    """Return a judge with further arguments and a full mark, which shares the compiled program."""
    if not args and points is None:
        return judge
    found = copy.copy(judge)
    found.extra_args = (*judge.extra_args, *args)
    found.full_points = judge.full_points if points is None else points
    return found


class ProgramChecker:
    """A `Checker` that asks one program by one protocol.

    extra_args    appended to the protocol's arguments (a validator's flags)
    full_points   the full mark; None: see `gradebox.checkers.check`

    `check` returns an unclear Check for every failure of the program, its compile error
    included; only faults of the machine are raised (SandboxError).
    """

    def __init__(
        self,
        sandbox: Sandbox,
        protocol: ProgramProtocol,
        program: Program,
        *,
        name: str = "",
        limits: Limits = CHECKER_LIMITS,
        extra_args: Sequence[str] = (),
        full_points: float | None = None,
    ) -> None:
        self.name = name or protocol.name
        self.protocol = protocol
        self.program = program
        self.extra_args = tuple(extra_args)
        self.runs = ProgramRuns(sandbox, program)
        self._limits = limits
        self.full_points = full_points

    @property
    def digest(self) -> str:
        parts: tuple[object, ...] = (
            self.protocol.name,
            self.protocol.args,
            self.program.digest,
            self.extra_args,
            self._limits,
            self.full_points,
            REVISION,
        )
        if not self.answer_is_output:
            parts = (*parts, "asked about expected outputs")
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    @property
    def answer_is_output(self) -> bool:
        """Whether the expected output is accepted without being asked about."""
        return self.protocol.answer_is_output

    def for_test(self, args: Sequence[str], points: float | None) -> ProgramChecker:
        """Return the checker of one test, with further arguments and the test's full mark."""
        return for_test(self, args, points)

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Run the program on one case."""
        return self.check_pass(input, output, expected, None).check

    def check_pass(
        self,
        input: bytes,
        output: bytes,
        expected: bytes,
        feedback: Mapping[str, bytes] | None,
    ) -> Pass:
        """Run the program on one pass of a case.

        feedback  its folder after the pass before, {} at first; None: there is one pass
        """
        protocol = self.protocol
        files = {**(feedback or {}), protocol.input: input, protocol.answer: expected}
        if protocol.output is not None:
            files[protocol.output] = output
        limits = self._limits
        if feedback is not None:  # the files that it is given are in its folder as well
            size = sum(map(len, files.values()))
            limits = dataclasses.replace(limits, output_bytes=limits.output_bytes + size)
        try:
            execution = self.runs.run(
                limits,
                stdin=b"" if protocol.output is not None else output,
                args=protocol.arguments(self.extra_args),
                files=files,
                collect=protocol.collect if feedback is None else (FOLDER,),
            )
        except NotCompiled as error:
            return Pass(unclear(f"the checker {error}", error.log[: 64 * 1024]))
        check = protocol.judge(execution, limits, self.full_points)
        return Pass(check) if feedback is None else read_pass(protocol, execution, check)

    def prepare(self) -> None:
        """Compile the program. Raises NotCompiled, BadRequest and SandboxError."""
        _ = self.runs.compiled

    def close(self) -> None:
        """Free the compiled program."""
        self.runs.close()


class PassChecker:
    """A `Checker` of one pass of a case.

    found  the pass, once it was checked
    """

    def __init__(self, checker: ProgramChecker, feedback: Mapping[str, bytes]) -> None:
        self._checker = checker
        self._feedback = feedback
        self.name, self.digest = checker.name, checker.digest
        self.answer_is_output = False
        self.found: Pass | None = None

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Run the validator with what it left after the pass before."""
        self.found = self._checker.check_pass(input, output, expected, self._feedback)
        return self.found.check

    def prepare(self) -> None:
        """Do nothing: the checker is compiled once for all passes."""

    def close(self) -> None:
        """Do nothing."""
