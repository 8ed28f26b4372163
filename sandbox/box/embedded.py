"""The embedded sandbox: `Sandbox` over box processes on this machine, no server, no root.

compile ─▶ Compiler ─┐
                     ├─ a core ─▶ an idle box ─▶ request ─▶ reply ─▶ Execution
run ─────────────────┘
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sandbox.box import evidence, wire
from sandbox.box.artifact import PROGRAM, Artifact
from sandbox.box.blob import Executable
from sandbox.box.build import launcher
from sandbox.box.compiler import Compiler
from sandbox.box.cores import Cores
from sandbox.box.gcc import PrecompiledHeaders
from sandbox.box.host import look_around
from sandbox.box.interaction import converse
from sandbox.box.levels import BoxFactory, choose, remove_stale_groups
from sandbox.box.limits import check_limits, check_program, check_request
from sandbox.box.order import Order
from sandbox.box.pool import BoxPool
from sandbox.box.process import BoxDied, BoxProcess
from sandbox.box.session import Session
from sandbox.box.toolchain import Tool, resolve
from sandbox.closing import Closing
from sandbox.errors import BadRequest, MissingToolchain, SandboxError
from sandbox.languages import Language
from sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from sandbox.protocol import Capability

LARGEST_PROGRAM = 64 << 20
TRIES = 3  # a box that died is replaced; a program can't make its box die on purpose
SESSION = Limits(
    cpu_s=86_400, wall_s=7 * 86_400, memory_bytes=2 << 30, processes=512, file_size_bytes=1 << 30
)
SELF_TEST = Limits(cpu_s=5, wall_s=20, output_bytes=1024)


class EmbeddedSandbox(Closing):
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
        self._process = os.getpid()
        self._description: Description | None = None
        remove_stale_groups()
        self._cores = Cores(slots)
        self._pool = BoxPool()
        self._host = look_around()
        self._fresh = wire.FRESH if fresh else 0
        self._factory = choose(self._host, self._try_out, level, allow_unsafe)
        self._pool.factory = self._factory
        self._fresh *= self._factory.level.namespaces
        self._background: set[BoxProcess] = set()
        headers = PrecompiledHeaders(self._run_in_background, self._end_background)
        self._compiler = Compiler(
            self._run_compiler,
            self._tool,
            headers,
            in_memory=not self._factory.level.namespaces,
        )
        self._compiler.headers.enabled = not self._programs_are_others

    @property
    def _programs_are_others(self) -> bool:
        """Whether programs run as a user who may not read what is this user's: as root
        without namespaces."""
        return os.geteuid() == 0 and not self._factory.level.namespaces

    def _tool(self, row: Language) -> Tool:
        level = self._factory.level.name
        if row.reads_proc and level == "landlock":
            raise MissingToolchain(
                f"{row.name}: {row.tool[0]} reads /proc, which is hidden at level {level}; allow "
                "user namespaces (sysctl user.max_user_namespaces=10000) or use --sandbox piston"
            )
        return resolve(row, public=self._programs_are_others)

    def _try_out(self, factory: BoxFactory) -> None:
        """Builds a box of the level and runs the launcher's own self-test in it."""
        fresh = self._fresh if factory.level.namespaces else 0
        program = Executable(launcher().read_bytes(), in_memory=not factory.level.namespaces)
        test = Artifact(("launcher", "self-test"), "self-test", program)
        box = factory.box()
        try:
            with Order(test, SELF_TEST, flags=fresh) as order:
                seen = evidence.execution(*order.carry_out(box), SELF_TEST, ())
            if seen.exit_code != 0:
                raise SandboxError(f"self-test: exit {seen.exit_code}, signal {seen.signal}")
        except BaseException:
            box.close()
            raise
        finally:
            program.close()
        self._pool.give_back(box)

    @property
    def capabilities(self) -> frozenset[Capability]:
        some: set[Capability] = {"interact", "collect", "alone"}
        if self._factory.level.grouped:
            some.add("processes")
        return frozenset(some)

    @property
    def slots(self) -> int:
        return self._cores.slots

    def _check_process(self) -> None:
        if os.getpid() != self._process:
            raise SandboxError(
                f"this sandbox belongs to process {self._process}, which forked: its boxes are "
                "not shared; open another one in the child"
            )

    def _carry_out(
        self,
        order: Order,
        alone: bool = False,
        compiler: bool = False,
        noted: set[BoxProcess] | None = None,
    ) -> Execution:
        """Runs it in a box on a core of its own; in another box when that one died.
        `noted`: holds the box while it runs."""
        self._check_process()
        order.flags |= self._fresh
        with order:
            with self._cores.alone() if alone else self._cores.one() as cpu:
                for left in reversed(range(TRIES)):
                    try:
                        with self._pool.box(compiler, order.artifact.digest) as box:
                            box.pin(cpu)
                            box.ran = order.artifact.digest
                            with _noted(box, noted):
                                reply, fds = order.carry_out(box)
                        break
                    except BoxDied:
                        self._pool.distrust()
                        if not left:
                            raise
                sure = self._cores.sure(cpu)
            seen = evidence.execution(reply, fds, order.limits, order.collect)
        return seen if sure else replace(seen, contended=True)

    # ---- the interface ------------------------------------------------------------------

    def _run_compiler(
        self, artifact: Artifact, files: dict[str, bytes], limits: Limits, collect: str
    ) -> Execution:
        order = Order(artifact, limits, files=files, collect=(collect,))
        return self._carry_out(order, compiler=True)

    def _run_in_background(
        self, artifact: Artifact, files: dict[str, bytes], limits: Limits, collect: str
    ) -> Execution:
        order = Order(artifact, limits, files=files, collect=(collect,))
        return self._carry_out(order, compiler=True, noted=self._background)

    def _end_background(self) -> None:
        for box in list(self._background):
            box.abort()

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
        order = Order(_artifact(compiled), limits, stdin, args, files or {}, collect)
        return self._carry_out(order, alone)

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
        for limits in (first_limits, second_limits):
            check_limits(limits)
        check_request(second_args, second_files or (), second_collect)
        self._check_process()
        one = Order(_artifact(first), first_limits, flags=self._fresh)
        two = Order(
            _artifact(second),
            second_limits,
            args=second_args,
            files=second_files or {},
            collect=second_collect,
            flags=self._fresh,
        )
        with (
            one,
            two,
            self._cores.one() as cpu,
            self._pool.box() as here,
            self._pool.box() as there,
        ):
            here.pin(cpu)
            there.pin(cpu)
            return converse((here, there), (one, two), transcript_bytes)

    @property
    def scratch_folders(self) -> tuple[str, ...]:
        """Writable folders beside the working folder."""
        return ("/tmp", "/dev/shm") if self._factory.level.namespaces else ()

    def wait_until_warm(self) -> None:
        """Waits for what is made in the background (precompiled headers)."""
        self._compiler.headers.wait()

    def open_session(
        self, compiled: Compiled, limits: Limits = SESSION, *, args: Sequence[str] = ()
    ) -> Session:
        """Starts a program that stays and is spoken to over pipes; it may fork at any level.

        `limits` are those of its whole life; "{program}" in an argument stands for the folder
        of its files. Not part of the `Sandbox` protocol: callers look whether it is there and
        fall back on `run`.
        """
        check_limits(limits)
        self._check_process()
        box = self._pool.take(compiler=True)
        stdin, stdout = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
        theirs, ours = (stdin[0], stdout[1]), (stdin[1], stdout[0])
        filled = [arg.replace(PROGRAM, box.program_folder) for arg in args]
        try:
            with Order(_artifact(compiled), limits, args=filled) as order:
                order.start(box, *theirs)
        except BaseException:
            for fd in ours:
                os.close(fd)
            box.close()
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        return Session(box, self._cores, ours, lambda box: self._pool.give_back(box, True))

    def describe(self) -> Description:
        """See `Sandbox.describe`."""
        if self._description is None:
            level = self._factory.level
            self._description = Description(
                "box",
                level.name,
                level.exact,
                self._host.versions,
                {"fresh_pid_namespace": bool(self._fresh), "python_numpy": self._has_numpy()},
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
        self._compiler.close()
        if self._pool.close():
            self._cores.close()


@contextlib.contextmanager
def _noted(box: BoxProcess, where: set[BoxProcess] | None) -> Iterator[None]:
    if where is not None:
        where.add(box)
    try:
        yield
    finally:
        if where is not None:
            where.discard(box)


def _artifact(compiled: Compiled) -> Artifact:
    if not compiled.ok or not isinstance(compiled.artifact, Artifact):
        raise BadRequest("only a program that this sandbox compiled can be run")
    return compiled.artifact
