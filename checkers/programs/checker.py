"""A program as a `checkers.protocol.Checker`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from checkers.model import Check
from checkers.programs.protocols import ProgramProtocol
from checkers.programs.runs import NotCompiled, ProgramRuns
from sandbox.model import MIB, Limits, Program
from sandbox.protocol import Sandbox

# A checker's own limits, whatever those of the problem are.
CHECKER_LIMITS = Limits(
    cpu_s=10.0,
    wall_s=32.0,
    memory_bytes=512 * MIB,
    output_bytes=1 * MIB,
    stderr_bytes=64 * 1024,
    processes=64,
)

# Raise it when answers of programs are read differently: it is part of records' keys.
REVISION = 1


class ProgramChecker:
    """One checker program by one protocol; compiled at its first use.

    extra_args    appended to the protocol's arguments (a validator's flags)
    full_points   what a full mark is; None: see `checkers.points`

    `check` returns an unclear Check for whatever the program does wrong, its compile error
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
        self._runs = ProgramRuns(sandbox, program)
        self._limits = limits
        self.extra_args = tuple(extra_args)
        self._full_points = full_points

    @property
    def program(self) -> Program:
        """The program's sources."""
        return self._runs.program

    @property
    def digest(self) -> str:
        parts = (
            self.protocol.name,
            self.protocol.args,
            self._runs.program.digest,
            self.extra_args,
            self._limits,
            self._full_points,
            REVISION,
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check:
        """Runs the program on one case."""
        row = self.protocol
        files = {row.input: input, row.answer: expected}
        if row.output is not None:
            files[row.output] = output
        try:
            execution = self._runs.run(
                self._limits,
                stdin=b"" if row.output is not None else output,
                args=row.arguments(self.extra_args),
                files=files,
                collect=row.collect,
            )
        except NotCompiled as refused:
            return Check("unclear", "FAIL", None, str(refused), stderr=refused.log[: 64 * 1024])
        return row.judge(execution, self._limits, self._full_points)

    def close(self) -> None:
        """Frees the compiled program."""
        self._runs.close()
