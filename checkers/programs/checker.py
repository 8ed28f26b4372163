"""A checker program: compiled once, then one clean run for each case."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from typing import Any

from gradebox.checkers.check import Check, CheckerError, unclear
from gradebox.checkers.programs.protocols import ProgramProtocol
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
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
        parts = (
            self.protocol.name,
            self.protocol.args,
            self.program.digest,
            self.extra_args,
            self._limits,
            self.full_points,
            REVISION,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Run the program on one case."""
        protocol = self.protocol
        files = {protocol.input: input, protocol.answer: expected}
        if protocol.output is not None:
            files[protocol.output] = output
        try:
            execution = self.runs.run(
                self._limits,
                stdin=b"" if protocol.output is not None else output,
                args=protocol.arguments(self.extra_args),
                files=files,
                collect=protocol.collect,
            )
        except NotCompiled as error:
            return unclear(f"the checker {error}", error.log[: 64 * 1024])
        return protocol.judge(execution, self._limits, self.full_points)

    def prepare(self) -> None:
        """Compile the program. Raises NotCompiled, BadRequest and SandboxError."""
        _ = self.runs.compiled

    def close(self) -> None:
        """Free the compiled program."""
        self.runs.close()
