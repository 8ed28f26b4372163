"""How a checker program is run: compiled once, then one clean run a case.

Where programs can stay in the sandbox, a Python checker is started once and forks for every
case (`checkers.programs.session`); anywhere else each case is a start of its own. Both give
the same `Execution`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from checkers.programs.session import KeepsPrograms, WarmSessions
from sandbox import languages
from sandbox.model import Compiled, Execution, Limits, Program
from sandbox.protocol import Sandbox


class ProgramRuns:
    """Runs of one program; it is compiled at the first of them, once for all threads.

    `run` raises NotCompiled when the compiler refuses it, and SandboxError for the machine.
    """

    def __init__(self, sandbox: Sandbox, program: Program) -> None:
        self.program = program
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._compiled: Compiled | None = None
        self._session: WarmSessions | None = None

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
        warm = self._warm()
        run = self._start if warm is None else warm.run
        return run(limits, stdin=stdin, args=args, files=files, collect=collect)

    def _warm(self) -> WarmSessions | None:
        if languages.find(self.program.language).name != "python":
            return None
        if not isinstance(self._sandbox, KeepsPrograms):
            return None
        with self._lock:
            if self._session is None:
                self._session = WarmSessions(self._sandbox, self.program, self._start)
            return self._session

    def _start(
        self,
        limits: Limits,
        *,
        stdin: bytes,
        args: Sequence[str],
        files: Mapping[str, bytes] | None,
        collect: Sequence[str],
    ) -> Execution:
        """One case by a start of its own."""
        return self._sandbox.run(
            self.compiled, limits, stdin=stdin, args=args, files=files, collect=collect
        )

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
