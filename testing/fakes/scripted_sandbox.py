"""A sandbox that runs nothing: a function of the program and its input returns the result.

    FakeSandbox(script)       script(Call) -> Execution | bytes | Exception
    ready("42\\n", cpu_s=0.1)  an Execution without an error

Runs (`calls`) and compilations (`compiled`) are recorded unless `record` is off.
"""

import os
import select
import socket
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gradebox.sandbox.box.run_request import LiveRun
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.languages import find
from gradebox.sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program


@dataclass(frozen=True)
class Call:
    """One run that was requested."""

    program: Program
    limits: Limits
    stdin: bytes
    files: Mapping[str, bytes]
    args: tuple[str, ...]
    collect: tuple[str, ...]
    alone: bool

    @property
    def source(self) -> str:
        return next(iter(self.program.files.values())).decode(errors="replace")


Answer = Execution | bytes | Exception


def ready(stdout: bytes | str = b"", **fields: Any) -> Execution:
    """Return an execution without an error, except for the given fields."""
    data = stdout.encode() if isinstance(stdout, str) else stdout
    known: dict[str, Any] = {
        "exit_code": 0,
        "signal": None,
        "cpu_s": 0.01,
        "wall_s": 0.02,
        "memory_bytes": 1 << 20,
        "stdout": data,
        "stdout_bytes": len(data),
    }
    return Execution(**{**known, **fields})


def ending(fields: Mapping[str, Any]) -> Execution:
    """Return `ready` with the fields of a row of JSON: bytes as Latin-1, limits as a list."""
    found = {
        name: value.encode("latin-1") if isinstance(value, str) and name != "killed_for" else value
        for name, value in fields.items()
    }
    files = {name: text.encode("latin-1") for name, text in fields.get("files", {}).items()}
    return ready(**found | {"files": files, "limits_hit": frozenset(fields.get("limits_hit", ()))})


def echo(call: Call) -> Answer:
    """Return the input as the output."""
    return call.stdin


def _is_ready(fd: int, event: int) -> bool:
    """Wait a moment; `select` refuses the descriptors of a process that has many open."""
    poll = select.poll()
    poll.register(fd, event)
    return bool(poll.poll(10))


@dataclass
class FakeSandbox(Closeable):
    """A `gradebox.sandbox.protocol.Sandbox`. An exception that the script returns is raised.

    compile_log  return the compiler's messages for a source that it rejects, else None
    """

    script: Callable[[Call], Answer] = echo
    compile_log: Callable[[str], bytes | Exception | None] = lambda source: None
    backend: str = "box"
    level: str = "full"
    toolchains: Mapping[str, str] = field(
        default_factory=lambda: {"python": "Python 3.11", "c++17": "g++ 12"}
    )
    slots: int = 2
    record: bool = True
    calls: list[Call] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)
    running: int = 0
    most_running: int = 0
    capabilities: frozenset[Any] = frozenset({"collect", "alone", "batch"})

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def compile(
        self, program: Program, limits: Limits | None = None, *, interpreted: bool = True
    ) -> Compiled:
        source = next(iter(program.files.values())).decode(errors="replace")
        if self.record:
            with self._lock:
                self.compiled.append(source)
        compiles = interpreted or find(program.language).compile is not None
        log = self.compile_log(source) if compiles else None
        if isinstance(log, Exception):
            raise log
        return Compiled(program, ok=log is None, log=log or b"")

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
        call = Call(
            compiled.program, limits, stdin, files or {}, tuple(args), tuple(collect), alone
        )
        if self.record:
            with self._lock:
                self.calls.append(call)
                self.running += 1
                self.most_running = max(self.most_running, self.running)
        try:
            answer = self.script(call)
        finally:
            if self.record:
                with self._lock:
                    self.running -= 1
        if isinstance(answer, Exception):
            raise answer
        return ready(answer) if isinstance(answer, bytes) else answer

    def run_many(
        self, compiled: Compiled, limits: Sequence[Limits], stdins: Sequence[bytes]
    ) -> Generator[list[Execution], None, None]:
        for limit, stdin in zip(limits, stdins, strict=True):
            execution = self.run(compiled, limit, stdin=stdin)
            yield [execution]
            if execution.exit_code or execution.signal or execution.killed_for:
                break

    def converse(
        self,
        compiled: Compiled,
        limits: Limits,
        line: int,
        live: LiveRun,
        *,
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
    ) -> Execution:
        """Read the whole input, then run the script and write what it returns."""
        with socket.socket(fileno=os.dup(line)) as receiver:
            _, streams, _, _ = socket.recv_fds(receiver, 1, 3)
        stdin, stdout, _ = streams
        try:
            data = b""
            while not live.ended:
                if _is_ready(stdin, select.POLLIN):
                    piece = os.read(stdin, 1 << 16)
                    if not piece:
                        break
                    data += piece
            execution = self.run(compiled, limits, stdin=data, args=args, files=files)
            left = execution.stdout
            os.set_blocking(stdout, False)
            while left and not live.ended:
                if _is_ready(stdout, select.POLLOUT):
                    left = left[os.write(stdout, left[: 1 << 16]) :]
            return replace(execution, stdout=b"")
        finally:
            for fd in streams:
                os.close(fd)

    def interact(self, *args: Any, **kwargs: Any) -> Interaction:
        raise AssertionError("this fake has no interactor")

    def describe(self) -> Description:
        return Description(self.backend, self.level, frozenset({"cpu"}), self.toolchains)

    def close(self) -> None:
        pass
