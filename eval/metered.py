"""A sandbox seen by one batch: it counts the time the batch's programs really ran.

busy_s = sum of wall_s over runs and compilers      waiting for a core is in none of them
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from sandbox.closing import Closing
from sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from sandbox.protocol import Capability, Sandbox


class Meter:
    """Seconds of running; `over` is called once when they pass `most_s`."""

    def __init__(self, most_s: float | None, over: Callable[[], None]) -> None:
        self.busy_s = 0.0
        self.spent = False
        self._most_s = most_s
        self._over = over
        self._lock = threading.Lock()

    def add(self, execution: Execution | None) -> None:
        """Counts what was seen of a run."""
        if execution is None:
            return
        with self._lock:
            self.busy_s += max(0.0, execution.wall_s)
            first = not self.spent and self._most_s is not None and self.busy_s > self._most_s
            self.spent = self.spent or first
        if first:
            self._over()


class MeteredSandbox(Closing):
    """`Sandbox`, every call handed on to another one, which it does not own."""

    def __init__(self, sandbox: Sandbox, meter: Meter) -> None:
        self._sandbox = sandbox
        self._meter = meter

    @property
    def capabilities(self) -> frozenset[Capability]:
        return self._sandbox.capabilities

    @property
    def slots(self) -> int:
        return self._sandbox.slots

    def compile(self, program: Program, limits: Limits | None = None) -> Compiled:
        compiled = self._sandbox.compile(program, limits)
        if not compiled.cached:
            self._meter.add(compiled.execution)
        return compiled

    def run(
        self,
        compiled: Compiled,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        alone: bool = False,
    ) -> Execution:
        seen = self._sandbox.run(
            compiled, limits, stdin=stdin, args=args, files=files, collect=collect, alone=alone
        )
        self._meter.add(seen)
        return seen

    def interact(
        self,
        first: Compiled,
        second: Compiled,
        first_limits: Limits,
        second_limits: Limits,
        *,
        second_args: Sequence[str] = (),
        second_files: Mapping[str, bytes] | None = None,
        second_collect: Sequence[str] = (),
        transcript_bytes: int = 65536,
    ) -> Interaction:
        seen = self._sandbox.interact(
            first,
            second,
            first_limits,
            second_limits,
            second_args=second_args,
            second_files=second_files,
            second_collect=second_collect,
            transcript_bytes=transcript_bytes,
        )
        self._meter.add(seen.first)
        return seen

    def describe(self) -> Description:
        return self._sandbox.describe()

    def close(self) -> None:
        """Nothing: the sandbox is another's."""
