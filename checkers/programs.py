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
from typing import TYPE_CHECKING, Any, NamedTuple

from gradebox.checkers.check import Check, Checker, CheckerError, unclear
from gradebox.checkers.error_lines import error_line
from gradebox.checkers.protocols import KATTIS_ACCEPTED, KATTIS_NEXT_PASS, ProgramProtocol
from gradebox.sandbox.model import FOLDER, MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from typing_extensions import Self

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


def not_compiled(log: bytes) -> CheckerError:
    """Return the error of a program that the compiler refused with these messages."""
    return CheckerError(f"does not compile: {_first_error(log)}", log)


def _first_error(log: bytes) -> str:
    """Return the first error in a compiler's messages as one line of at most 300 characters."""
    line = error_line(log[: 64 * 1024].decode("utf-8", "replace")) or "no reason"
    return "".join(c for c in " ".join(line.split())[:300] if c.isprintable())


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


class ProgramJudge:
    """A program that judges by a protocol, compiled at its first use, once for all threads.

    extra_args   appended to the protocol's arguments (a validator's flags)
    full_points  the full mark; None: see `gradebox.checkers.check`
    """

    def __init__(
        self,
        sandbox: Sandbox,
        protocol: ProgramProtocol,
        program: Program,
        *,
        name: str = "",
        extra_args: Sequence[str] = (),
        full_points: float | None = None,
    ) -> None:
        self.name = name or protocol.name
        self.protocol = protocol
        self.program = program
        self.extra_args = tuple(extra_args)
        self.full_points = full_points
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._compiled: list[Compiled] = []  # one for all copies

    def for_test(self, args: Sequence[str], points: float | None) -> Self:
        """Return the judge of one test, with further arguments and the test's full mark."""
        if not args and points is None:
            return self
        found = copy.copy(self)
        found.extra_args = (*self.extra_args, *args)
        found.full_points = self.full_points if points is None else points
        return found

    @property
    def compiled(self) -> Compiled:
        """The program, ready to run. Raises CheckerError, and SandboxError for the machine."""
        with self._lock:
            if not self._compiled:
                self._compiled.append(self._sandbox.compile(self.program))
            if not self._compiled[0].ok:
                raise not_compiled(self._compiled[0].log)
            return self._compiled[0]

    def prepare(self) -> None:
        """Compile the program. Raises CheckerError, BadRequest and SandboxError."""
        _ = self.compiled


class ProgramChecker(ProgramJudge, Checker):
    """A `Checker` that asks one program.

    answer_is_output  whether the expected output is accepted without being asked about
    asked             of `for_pass`: the pass, once it was checked

    `check` returns an unclear Check for every failure of the program, its compile error
    included; only faults of the machine are raised (SandboxError).
    """

    def __init__(
        self,
        sandbox: Sandbox,
        protocol: ProgramProtocol,
        program: Program,
        *,
        limits: Limits = CHECKER_LIMITS,
        **more: Any,
    ) -> None:
        super().__init__(sandbox, protocol, program, **more)
        self.answer_is_output = protocol.answer_is_output
        self.asked: Pass | None = None
        self._limits = limits
        self._feedback: Mapping[str, bytes] | None = None

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
        if not self.protocol.answer_is_output:
            parts = (*parts, "asked about expected outputs")
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def for_pass(self, feedback: Mapping[str, bytes]) -> Self:
        """Return the checker of one of several passes; `feedback`: its folder after the last."""
        found = copy.copy(self)
        found.answer_is_output, found.asked, found._feedback = False, None, feedback
        return found

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Run the program on one case."""
        protocol, limits, feedback = self.protocol, self._limits, self._feedback
        files = {**(feedback or {}), protocol.input: input, protocol.answer: expected}
        if protocol.output is not None:
            files[protocol.output] = output
        if feedback is not None:  # the files that it is given are in its folder as well
            size = sum(map(len, files.values()))
            limits = dataclasses.replace(limits, output_bytes=limits.output_bytes + size)
        try:
            execution = self._run(
                limits,
                stdin=b"" if protocol.output is not None else output,
                args=protocol.arguments(self.extra_args),
                files=files,
                collect=protocol.collect if feedback is None else (FOLDER,),
            )
        except CheckerError as error:
            return unclear(f"the checker {error}", error.log[: 64 * 1024])
        check = protocol.judge(execution, limits, self.full_points)
        if feedback is None:
            return check
        self.asked = read_pass(protocol, execution, check)
        return self.asked.check

    def _run(self, limits: Limits, **case: Any) -> Execution:
        """Run one case from a clean state; `case` as in `Sandbox.run`."""
        execution = self._sandbox.run(self.compiled, limits, **case)
        memory = execution.memory_bytes or 0
        if execution.forked and memory >= NEAR_FROM * limits.memory_bytes:
            return self._sandbox.run(self.compiled, limits, **case, alone=True)
        return execution
