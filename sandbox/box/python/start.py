"""Python programs that start by fork: whether they do, and what each run was spared."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.build import TEMPLATE, binary
from gradebox.sandbox.box.built_program import BuiltProgram, Executable, ForkedStart
from gradebox.sandbox.box.plan import Templates
from gradebox.sandbox.box.python.compiled import forked_start
from gradebox.sandbox.box.python.figures import Calibration, as_plain
from gradebox.sandbox.box.python.texts import compile_only, prelude
from gradebox.sandbox.box.toolchains.find import Tool
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Execution, Limits

SCRIPT = "/program/main.py"
EMPTY = Limits(cpu_s=5, wall_s=30)
PLAIN_RUNS, FORKED_RUNS = 5, 3

# Run a program, by fork if the second argument says so. Return the box's own figures as well.
RunEmpty = Callable[[BuiltProgram, bool], tuple[Execution, wire.Reply]]


class Measured(NamedTuple):
    """What a sandbox has found out about Python programs; another one of this machine may use it.

    numpy        whether they can import it; None without a Python
    calibration  of their start by fork; None where it was not measured
    """

    numpy: bool | None
    calibration: Calibration | None


class PythonStart:
    """The templates of a sandbox's boxes, and what they spare.

    tool     the interpreter
    run      see `RunEmpty`
    grouped  the memory figure is that of a control group
    known    the calibration, if another sandbox has measured it
    """

    def __init__(
        self, tool: Tool, run: RunEmpty, *, grouped: bool, known: Calibration | None = None
    ) -> None:
        self._run = run
        self._grouped = grouped
        self._lock = threading.Lock()
        self._tried = known is not None
        self._calibration = known
        self._hook = Executable(binary(TEMPLATE).read_bytes(), in_memory=True)
        self.templates = Templates(
            self._hook.fd, tool.path, SCRIPT, prelude(), environment=tool.environment
        )
        argv = tool.started([tool.path, "{program}/main.py"])
        files = {"main.py": b""}
        self._empty = BuiltProgram(argv, "empty program", files=files)
        self.reason = ""  # why programs are executed, if they are

    def calibrated(self) -> Calibration | None:
        """Return what a forked run is spared; None where programs cannot start by fork."""
        with self._lock:
            if not self._tried:
                self._tried = True
                self._calibration = self._calibrate()
            return self._calibration

    def _calibrate(self) -> Calibration | None:
        empty = self._empty
        try:
            execution, _ = self._run(self.compilation(empty), True)
            empty.fork = forked_start(execution, alone=True)
            forked = [self._run(empty, True)[1] for _ in range(FORKED_RUNS)]
            if empty.fork is None or not all(
                reply.forked and reply.wstatus == 0 for reply in forked
            ):
                self.reason = "the interpreter cannot be a template"
                return None
            other = replace(empty, fork=replace(empty.fork, imports="sys"))
            plain = [self._run(empty, False)[1] for _ in range(PLAIN_RUNS)]
            return Calibration.of(plain, forked, self._run(other, True)[1])
        except SandboxError as error:
            self.reason = str(error)
            return None

    def as_plain(self, reply: wire.Reply, program: BuiltProgram) -> wire.Reply:
        """Return the reply to a run with the figures of a plain start."""
        if not reply.forked or self._calibration is None or program.fork is None:
            return reply
        compile_ns = int(program.fork.compile_s * 1e9)
        return as_plain(reply, self._calibration, grouped=self._grouped, compile_ns=compile_ns)

    def compilation(self, program: BuiltProgram) -> BuiltProgram:
        """Return the program that compiles a program, in a run of its own."""
        start = ForkedStart(prologue=compile_only(SCRIPT))
        return BuiltProgram(program.argv, program.digest, files=program.files, fork=start)

    def close(self) -> None:
        """Free the library that makes an interpreter a template."""
        self._hook.close()
