"""How a checker program is run: compiled once, then one clean run a case.

Where the sandbox offers `check_session` (a Python that is started once and forks for every
case, `checkers.programs.warm_driver`), Python checkers go through it; anywhere else each case
is a start of its own. Both give the same `Execution`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from sandbox import languages
from sandbox.model import Compiled, Execution, Limits, Program
from sandbox.protocol import Sandbox


@runtime_checkable
class CheckSession(Protocol):
    """A warm place for one Python program. May be used from any thread."""

    def run(
        self,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
    ) -> Execution:
        """One case from a clean state, as `Sandbox.run` would do it."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class OffersCheckSessions(Protocol):
    """What a sandbox has when it can keep a Python warm."""

    def check_session(self, program: Program) -> CheckSession: ...


class ProgramRuns:
    """Runs of one program; it is compiled at the first of them, once for all threads.

    `run` raises NotCompiled when the compiler refuses it, and SandboxError for the machine.
    """

    def __init__(self, sandbox: Sandbox, program: Program) -> None:
        self.program = program
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._compiled: Compiled | None = None
        self._session: CheckSession | None = None

    @property
    def compiled(self) -> Compiled:
        """The program, ready to run."""
        with self._lock:
            if self._compiled is None:
                self._compiled = self._sandbox.compile(self.program)
            if not self._compiled.ok:
                raise NotCompiled(self._compiled.log)
            return self._compiled

    def run(
        self,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
    ) -> Execution:
        compiled = self.compiled
        session = self._warm()
        if session is not None:
            return session.run(limits, stdin=stdin, args=args, files=files, collect=collect)
        return self._sandbox.run(
            compiled, limits, stdin=stdin, args=args, files=files, collect=collect
        )

    def _warm(self) -> CheckSession | None:
        if languages.find(self.program.language).name != "python":
            return None
        if not isinstance(self._sandbox, OffersCheckSessions):
            return None
        with self._lock:
            if self._session is None:
                self._session = self._sandbox.check_session(self.program)
            return self._session

    def close(self) -> None:
        """Frees the session and the compiled program; calling it twice is harmless."""
        with self._lock:
            if self._session is not None:
                self._session.close()
            if self._compiled is not None:
                self._compiled.close()


class NotCompiled(Exception):
    """The compiler refused the checker; `log` is what it said."""

    def __init__(self, log: bytes) -> None:
        super().__init__("the checker does not compile")
        self.log = log
