"""A Python checker kept warm: one start of `warm_driver` in a box, one fork for each case.

check ─▶ an idle session, else a new one ─▶ WarmClient ─▶ Execution
                 ├── not clean: closed
                 └── broken: closed; this case and all later ones run by plain starts
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Protocol, runtime_checkable

from gradebox.checkers.programs.warm import DRIVER_FILES, SessionBroken, WarmClient
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program

CHECKER = "checker.py"
SLACK_S = 5.0  # beyond a case's wall limit, before a silent driver is killed
START_S = 60.0
DAY_S = 86_400.0
DRIVER_BYTES = 64 * MIB


class StayingProgram(Protocol):
    """A running program with pipes, such as `gradebox.sandbox.box.session.Session`."""

    requests: BinaryIO
    replies: BinaryIO

    def exchange(self, timeout_s: float) -> contextlib.AbstractContextManager[None]: ...

    def close(self) -> None: ...


@runtime_checkable
class KeepsPrograms(Protocol):
    """A sandbox in which programs can stay."""

    @property
    def scratch_folders(self) -> tuple[str, ...]: ...

    @property
    def counts_processes(self) -> bool: ...

    def compile(self, program: Program, limits: Limits | None = None) -> Compiled: ...

    def open_session(
        self, compiled: Compiled, limits: Limits, *, args: Sequence[str]
    ) -> StayingProgram: ...


class WarmSessions:
    """Warm starts of one checker, as many as are used at once. Any thread may call any method.

    plain    runs a case by a start of its own, after a session broke
    """

    def __init__(
        self, sandbox: KeepsPrograms, program: Program, plain: Callable[..., Execution]
    ) -> None:
        files = {path.name: path.read_bytes() for path in DRIVER_FILES}
        source = next(iter(program.files.values()))
        self._sandbox = sandbox
        files |= {CHECKER: source}
        self._program = Program("python", files)
        self._plain = plain
        self._lock = threading.Lock()
        self._idle: list[tuple[StayingProgram, WarmClient]] = []
        self._compiled: Compiled | None = None
        self._closed = False
        self._broken = False

    def run(self, limits: Limits, **case: Any) -> Execution:
        """Run one case from a clean state; `case` as in `Sandbox.run`."""
        if self._broken:
            return self._plain(limits, **case)
        session = client = None
        with contextlib.suppress(SandboxError):
            session, client = self._take(limits)
            with session.exchange(limits.wall_s + SLACK_S):
                execution = client.run(limits, **case)
            self._put_back(session, client)
            return execution
        self._broken = True
        if session is not None:
            session.close()
        return self._plain(limits, **case)

    def _take(self, limits: Limits) -> tuple[StayingProgram, WarmClient]:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._compiled is None:
                self._compiled = self._sandbox.compile(self._program)
        arguments = ("{program}/" + CHECKER, ".", *self._sandbox.scratch_folders)
        session = self._sandbox.open_session(self._compiled, _of_all(limits), args=arguments)
        try:
            with session.exchange(START_S):
                return session, WarmClient(session.requests, session.replies)
        except SessionBroken:
            session.close()
            raise

    def _put_back(self, session: StayingProgram, client: WarmClient) -> None:
        with self._lock:
            if client.clean and not self._closed:
                self._idle.append((session, client))
                return
        session.close()

    def close(self) -> None:
        """End every session; calling it twice is harmless."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            compiled, self._compiled = self._compiled, None
        for session, _ in idle:
            session.close()
        if compiled is not None:
            compiled.close()


def _of_all(limits: Limits) -> Limits:
    """Return the limits of a session: those of a case, for all its processes, and the driver's."""
    return Limits(
        cpu_s=DAY_S,
        wall_s=7 * DAY_S,
        memory_bytes=limits.memory_bytes + DRIVER_BYTES,
        processes=limits.processes + 1,
        file_size_bytes=limits.file_size_bytes,
    )
