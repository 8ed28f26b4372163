"""The embedded sandbox: `Sandbox` over box processes on this machine, no server, no root.

compile ─▶ Compiler ─┐
                     ├─ a core ─▶ an idle box ─▶ request ─▶ reply ─▶ Execution
run ─────────────────┘
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType

from sandbox import languages
from sandbox.box import evidence, wire
from sandbox.box.artifact import Artifact
from sandbox.box.blob import Executable, memory_file
from sandbox.box.build import launcher
from sandbox.box.compiler import Compiler
from sandbox.box.cores import Cores
from sandbox.box.levels import BoxFactory, Host, choose, hidden_folders, remove_stale_groups
from sandbox.box.limits import check_limits, check_program, check_request
from sandbox.box.process import BoxDied, BoxProcess
from sandbox.box.session import Session
from sandbox.box.toolchain import Tool, resolve
from sandbox.errors import BadRequest, MissingToolchain, SandboxError
from sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from sandbox.protocol import Capability

LARGEST_PROGRAM = 64 << 20
TRIES = 3  # a box that died is replaced; a program can't make its box die on purpose
SESSION = Limits(
    cpu_s=86_400, wall_s=7 * 86_400, memory_bytes=2 << 30, processes=512, file_size_bytes=1 << 30
)
SELF_TEST = Limits(cpu_s=5, wall_s=20, output_bytes=1024)


class EmbeddedSandbox:
    """Runs programs in boxes of the strongest isolation this machine offers.

    slots   programs at once, at most (and by default) one a physical core
    level   forces a level by name (else SANDBOX_LEVEL, else the strongest)
    fresh   a fresh PID namespace for every run; without it everything is killed between
            runs, which is faster
    allow_unsafe  take level "none" when nothing better works
    """

    def __init__(
        self,
        slots: int | None = None,
        *,
        level: str | None = None,
        fresh: bool = True,
        allow_unsafe: bool = False,
    ) -> None:
        self._fresh = fresh
        self._lock = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        self._idle: dict[bool, list[BoxProcess]] = {False: [], True: []}
        self._tools: dict[str, str] = {}
        self._emptied: list[str] = []
        self._description: Description | None = None
        remove_stale_groups()
        self._cores = Cores(slots)
        self._compiler = Compiler(self._run_compiler, self._tool)
        self._namespaces = True
        host = Host(self._find_tools(), tuple(self._emptied), hidden_folders())
        self._factory = choose(host, self._try_out, level, allow_unsafe)
        self._compiler.headers.enabled = self._namespaces or os.geteuid() != 0

    def _tool(self, row: languages.Language) -> Tool:
        """A tool that programs may run: as root without namespaces they are another user."""
        return resolve(row, public=os.geteuid() == 0 and not self._namespaces)

    def _find_tools(self) -> tuple[str, ...]:
        """Every language's version, and the host folders their tools need to be shown."""
        binds: list[str] = []
        for row in languages.TABLE.values():
            try:
                tool = resolve(row)
            except MissingToolchain:
                continue
            self._tools[row.name] = tool.version
            binds += tool.binds
            self._emptied += tool.startup_files
        return tuple(dict.fromkeys(binds))

    def _try_out(self, factory: BoxFactory) -> None:
        """Builds a box of the level and runs the launcher's own self-test in it."""
        self._namespaces = factory.level.namespaces
        box = factory.box()
        try:
            program = Executable(launcher().read_bytes())
            try:
                request = self._request(SELF_TEST, ("launcher", "self-test"), flags=wire.EXEC_FD)
                reply, fds = box.run(request, [program.fd], 60.0)
            finally:
                program.close()
            seen = evidence.execution(reply, fds, SELF_TEST, ())
            if seen.exit_code != 0:
                raise SandboxError(f"self-test: exit {seen.exit_code}, signal {seen.signal}")
        except BaseException:
            box.close()
            raise
        self._idle[False].append(box)

    @property
    def capabilities(self) -> frozenset[Capability]:
        some: set[Capability] = {"interact", "collect", "alone"}
        if self._factory.level.grouped:
            some.add("processes")
        return frozenset(some)

    @property
    def slots(self) -> int:
        return len(self._cores.cpus)

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise SandboxError(
                f"this sandbox belongs to process {self._process}, which forked: its boxes are "
                "not shared; open another one in the child"
            )

    # ---- boxes --------------------------------------------------------------------------

    def _take(self, compiler: bool) -> BoxProcess:
        with self._lock:
            if self._closed:
                raise SandboxError("the sandbox is closed")
            idle = self._idle[compiler]
            box = idle.pop() if idle else None
        return box or self._factory.box(compiler=compiler)

    @contextmanager
    def _box(self, compiler: bool = False) -> Iterator[BoxProcess]:
        box = self._take(compiler)
        try:
            yield box
        except BadRequest:
            self._give_back(box, compiler)
            raise
        except BaseException:
            box.close()  # whatever happened: this box is not trusted any more
            raise
        self._give_back(box, compiler)

    def _give_back(self, box: BoxProcess, compiler: bool) -> None:
        with self._lock:
            if not self._closed and not box.worn:
                self._idle[compiler].append(box)
                return
        box.close()

    def _request(
        self,
        limits: Limits,
        argv: Sequence[str],
        files: Sequence[str] = (),
        collect: Sequence[str] = (),
        stdin: bytes = b"",
        flags: int = 0,
        fresh: bool = True,
    ) -> bytes:
        sizes = (
            int(limits.cpu_s * 1e9),
            int(limits.wall_s * 1e9),
            limits.memory_bytes,
            limits.output_bytes,
            limits.file_size_bytes,
            limits.disk_bytes,
        )
        counts = (min(limits.stderr_bytes, wire.ERR_CAP), limits.processes, limits.open_files)
        flags |= wire.FRESH if fresh and self._fresh and self._namespaces else 0
        return wire.pack_request(wire.OP_RUN, flags, sizes, counts, 0, argv, files, collect, stdin)

    def _once(
        self,
        artifact: Artifact,
        limits: Limits,
        cpu: int,
        stdin: bytes,
        args: Sequence[str],
        files: Mapping[str, bytes],
        collect: Sequence[str],
        compiler: bool,
    ) -> Execution:
        flags, fds, own = 0, [], []
        try:
            if artifact.executable is not None:
                flags |= wire.EXEC_FD
                fds.append(artifact.executable.fd)
            if len(stdin) > wire.INLINE_STDIN:
                flags |= wire.STDIN_FD
                own.append(memory_file(stdin))
                fds.append(own[-1])
                stdin = b""
            for data in files.values():
                own.append(memory_file(data))
                fds.append(own[-1])
            with self._box(compiler) as box:
                box.pin(cpu)
                argv = (*artifact.command(box.program_folder), *args)
                request = self._request(limits, argv, list(files), collect, stdin, flags)
                if artifact.files:
                    box.load(artifact.digest, artifact.files)
                reply, got = box.run(request, fds, _patience(limits))
        finally:
            for fd in own:
                os.close(fd)
        return evidence.execution(reply, got, limits, collect)

    def _run_artifact(
        self,
        artifact: Artifact,
        limits: Limits,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        alone: bool = False,
        compiler: bool = False,
    ) -> Execution:
        self._check_process()
        with self._cores.alone() if alone else self._cores.one() as cpu:
            for left in reversed(range(TRIES)):
                try:
                    seen = self._once(
                        artifact, limits, cpu, stdin, args, files or {}, collect, compiler
                    )
                    return seen if self._cores.sure(cpu) else replace(seen, contended=True)
                except BoxDied:
                    if not left:
                        raise
        raise AssertionError("unreachable")

    # ---- the interface ------------------------------------------------------------------

    def _run_compiler(
        self, artifact: Artifact, files: dict[str, bytes], limits: Limits, collect: str
    ) -> Execution:
        return self._run_artifact(artifact, limits, files=files, collect=(collect,), compiler=True)

    def compile(self, program: Program, limits: Limits | None = None) -> Compiled:
        """See `Sandbox.compile`. Raises UnknownLanguage, MissingToolchain, BadRequest."""
        check_program(program, LARGEST_PROGRAM)
        if limits is not None:
            check_limits(limits)
        return self._compiler.compile(program, limits)

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
        """See `Sandbox.run`."""
        check_limits(limits)
        check_request(args, files or (), collect)
        return self._run_artifact(_artifact(compiled), limits, stdin, args, files, collect, alone)

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
        """See `Sandbox.interact`."""
        from sandbox.box.interaction import Side, converse

        for limits in (first_limits, second_limits):
            check_limits(limits)
        check_request(second_args, second_files or (), second_collect)
        sides = (
            Side(_artifact(first), first_limits),
            Side(_artifact(second), second_limits, second_args, second_files or {}, second_collect),
        )
        self._check_process()
        with self._cores.one() as cpu, self._box() as one, self._box() as two:
            one.pin(cpu)
            two.pin(cpu)
            return converse((one, two), sides, self._request, transcript_bytes)

    def wait_until_warm(self) -> None:
        """Waits for what is made in the background (precompiled headers)."""
        self._compiler.headers.wait()

    def open_session(
        self, compiled: Compiled, limits: Limits = SESSION, args: Sequence[str] = ()
    ) -> Session:
        """Starts a program that stays and is spoken to over pipes; it may fork at any level.

        `limits` are those of its whole life. Not part of the `Sandbox` protocol: callers ask
        with `hasattr` and fall back on `run`.
        """
        check_limits(limits)
        artifact = _artifact(compiled)
        box = self._take(compiler=True)
        stdin, stdout = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
        theirs, ours = (stdin[0], stdout[1]), (stdin[1], stdout[0])
        try:
            if artifact.files:
                box.load(artifact.digest, artifact.files)
            argv = (*artifact.command(box.program_folder), *args)
            flags = wire.STDIN_FD | wire.STDOUT_FD
            program = [] if artifact.executable is None else [artifact.executable.fd]
            flags |= wire.EXEC_FD if program else 0
            box.start(self._request(limits, argv, flags=flags, fresh=False), [*program, *theirs])
        except BaseException:
            for fd in ours:
                os.close(fd)
            box.close()
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return Session(box, self._cores, ours, lambda box: self._give_back(box, True))

    def describe(self) -> Description:
        """See `Sandbox.describe`."""
        if self._description is None:
            level = self._factory.level
            self._description = Description(
                "box",
                level.name,
                level.exact,
                dict(self._tools),
                {"fresh_pid_namespace": self._fresh, "python_numpy": self._has_numpy()},
            )
        return self._description

    def _has_numpy(self) -> bool | None:
        """Whether programs can import numpy, asked of the interpreter in the box."""
        probe = b"import importlib.util as u, sys\nsys.exit(u.find_spec('numpy') is None)\n"
        try:
            compiled = self.compile(Program("python", {"main.py": probe}))
        except MissingToolchain:
            return None
        return self.run(compiled, Limits()).exit_code == 0

    def close(self) -> None:
        """See `Sandbox.close`. In a forked child it does nothing: the boxes are the parent's."""
        if os.getpid() != self._process:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            boxes = [box for idle in self._idle.values() for box in idle]
            self._idle = {False: [], True: []}
        self._compiler.close()
        for box in boxes:
            box.close()
        self._cores.close()

    def __enter__(self) -> EmbeddedSandbox:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _artifact(compiled: Compiled) -> Artifact:
    if not compiled.ok or not isinstance(compiled.artifact, Artifact):
        raise BadRequest("only a program that this sandbox compiled can be run")
    return compiled.artifact


def _patience(limits: Limits) -> float:
    """Seconds after which a silent box counts as broken; generous, a starved one is slow."""
    return 60.0 + 20.0 * limits.wall_s
