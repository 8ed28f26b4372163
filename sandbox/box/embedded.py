"""The embedded sandbox: `Sandbox` over box processes on this machine, without a server or root.

compile ─▶ Compiler ─┐
                     ├─ a core ─▶ an idle box ─▶ request ─▶ reply ─▶ Execution
run ─────────────────┘
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from gradebox.sandbox import languages
from gradebox.sandbox.box import wire
from gradebox.sandbox.box.build import launcher
from gradebox.sandbox.box.built_program import BuiltProgram, Executable
from gradebox.sandbox.box.cores import Cores
from gradebox.sandbox.box.isolation.cgroup import remove_abandoned
from gradebox.sandbox.box.isolation.host import data_caches, has_ids, inspect_host, with_targets
from gradebox.sandbox.box.isolation.levels import BoxFactory, choose_level
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.python.start import EMPTY, PythonStart
from gradebox.sandbox.box.run_request import (
    BoxRequest,
    LiveRun,
    batches,
    check_limits,
    check_program,
    check_request,
)
from gradebox.sandbox.box.runner import BoxPool, Runner
from gradebox.sandbox.box.toolchains.compiler import LIMITS, Compiler
from gradebox.sandbox.box.toolchains.find import Tool, importable, named_python, resolve
from gradebox.sandbox.box.toolchains.gcc import PrecompiledHeaders
from gradebox.sandbox.box.toolchains.probe import LanguageProbe
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.cpus import physical_cpus
from gradebox.sandbox.common.machine_check import check_machine
from gradebox.sandbox.errors import BadRequest, MissingToolchain, SandboxError
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program
from gradebox.sandbox.protocol import Capability, check_counts

SELF_TEST = Limits(cpu_s=5, wall_s=20, output_bytes=1024)


class EmbeddedSandbox(Closeable):
    """Run programs in boxes of the strongest isolation level that this machine offers.

    slots         programs at once; at most (and by default) one a physical core
    level         name of the level to use (default: SANDBOX_LEVEL, else the strongest)
    allow_unsafe  accept level "none" when no other level works
    hidden        paths that programs must not read, even inside a folder that they are shown; those
                  of the Hugging Face libraries' caches are added
    python_start  "fork": Python programs start from a process that has started already, where that
                  is possible; "exec": each run starts an interpreter
    python        path of the interpreter of Python programs, with the packages of its environment;
                  None: the interpreter of gradebox, outside of its environment
    """

    def __init__(
        self,
        slots: int | None = None,
        *,
        level: str | None = None,
        allow_unsafe: bool = False,
        hidden: Iterable[str | Path] = (),
        python_start: Literal["fork", "exec"] = "fork",
        python: str | None = None,
    ) -> None:
        self._named = {"python": named_python(python)} if python else {}
        self._process = os.getpid()
        self._description: Description | None = None
        slots = slots or len(physical_cpus())
        launcher()  # without it no level works, and its own error says why
        check_machine(slots)
        remove_abandoned()
        private = (*with_targets(hidden), *data_caches())
        self._host = replace(inspect_host(**self._named), private=private)
        self._cores = Cores(slots)
        self._pool = BoxPool()
        self._runner = Runner(self._cores, self._pool)
        try:
            self._factory = choose_level(self._host, self._try_out, level, allow_unsafe)
        except BaseException:
            self._cores.close()
            raise
        self._pool.factory = self._factory
        self._fresh = wire.FRESH * self._factory.level.namespaces
        self._runner.fresh = self._fresh
        self._background: set[BoxProcess] = set()
        in_background = partial(self._run_compiler, running=self._background)
        self._headers = PrecompiledHeaders(in_background, self._end_background)
        # As root without namespaces, programs cannot read this user's private files.
        self._other_users = not self._factory.level.namespaces and has_ids(namespaces=False)
        self._headers.enabled = not self._other_users
        self._compiler = Compiler(
            self._run_compiler,
            self._tool,
            self._headers,
            in_memory=not self._factory.level.namespaces,
            by_fork=self._compile_by_fork,
        )
        self.probe = LanguageProbe(
            self._compiler.compile_anew,
            self._run_hello,
            self._tool,
            (self._factory.level.name, self._fresh),
            self._pool.invalidate,
        )
        self._python: PythonStart | None = None
        if python_start == "fork" and self._fresh:
            with contextlib.suppress(MissingToolchain):
                tool = self._tool(languages.find("python"))
                self._python = PythonStart(
                    tool,
                    self._run_empty,
                    grouped=self._factory.level.grouped,
                )
                self._factory.templates = self._python.templates
                self._runner.python = self._python

    def _tool(self, row: Language) -> Tool:
        level = self._factory.level.name
        if row.reads_proc and level == "landlock":
            raise MissingToolchain(
                f"{row.name}: {row.tool[0]} reads /proc, which is hidden at level {level}; allow "
                "user namespaces (sysctl user.max_user_namespaces=10000) or use --sandbox piston"
            )
        return resolve(row, public=self._other_users, **self._named)

    def _try_out(self, factory: BoxFactory) -> None:
        """Build a box of a level and run the launcher's self-test in it."""
        fresh = wire.FRESH * factory.level.namespaces
        executable = Executable(launcher().read_bytes(), in_memory=not factory.level.namespaces)
        program = BuiltProgram(("launcher", "self-test"), "self-test", executable)
        box = factory.box()
        try:
            with BoxRequest(program, SELF_TEST, flags=fresh) as request:
                request.start(box)
                (reply,), fds = box.replies()
                execution = wire.read_execution(reply, fds, SELF_TEST, ())
            if execution.exit_code != 0:
                raise SandboxError(
                    f"self-test: exit {execution.exit_code}, signal {execution.signal}"
                )
        except BaseException:
            box.close()
            raise
        self._pool.give_back(box)

    @property
    def capabilities(self) -> frozenset[Capability]:
        """See `Sandbox.capabilities`."""
        some: set[Capability] = {"interact", "collect", "alone", "batch"}
        if self._factory.level.grouped:
            some.add("processes")
        return frozenset(some)

    @property
    def slots(self) -> int:
        """See `Sandbox.slots`."""
        return self._cores.slots

    @property
    def lent(self) -> int:
        """See `lent_cores`."""
        return self._cores.lent

    def _execute(
        self,
        request: BoxRequest,
        alone: bool = False,
        compiler: bool = False,
        running: set[BoxProcess] | None = None,
    ) -> Execution:
        """Do the only run of a request; see `Runner.executions`."""
        groups = self._runner.executions(request, alone=alone, compiler=compiler, running=running)
        [[execution]] = groups
        return execution

    # ---- the methods of `Sandbox` ----

    def _run_compiler(
        self,
        program: BuiltProgram,
        files: dict[str, bytes],
        limits: Limits,
        collect: str,
        running: set[BoxProcess] | None = None,
    ) -> Execution:
        wanted = (collect,) if collect else ()
        request = BoxRequest(program, limits, files=files, collect=wanted)
        return self._execute(request, compiler=True, running=running)

    def _run_empty(self, program: BuiltProgram, forks: bool) -> tuple[Execution, wire.Reply]:
        seen: list[wire.Reply] = []
        request = BoxRequest(program, EMPTY, forks=forks, seen=seen)
        return self._execute(request), seen[-1]

    def _run_hello(self, compiled: Compiled, limits: Limits, stdin: bytes) -> Execution:
        return self._execute(BoxRequest(_built(compiled), limits, (stdin,)))

    def _compile_by_fork(self, program: BuiltProgram, limits: Limits) -> Execution | None:
        """Compile a Python program in a forked run; None where programs cannot start by fork."""
        if self._python is None or not self._python_forks():
            return None
        return self._execute(BoxRequest(self._python.compilation(program), limits, forks=True))

    def _end_background(self) -> None:
        for box in list(self._background):
            box.order(wire.OP_ABORT)

    def compile(
        self, program: Program, limits: Limits | None = None, *, interpreted: bool = True
    ) -> Compiled:
        """See `Sandbox.compile`. Raises UnknownLanguage, MissingToolchain, BadRequest."""
        check_program(program)
        if limits is not None:
            check_limits(limits)
        attempt = self.probe.begin(program.language)
        compiled = self._compiler.compile(program, limits, interpreted, attempt.changes)
        return attempt.compiled(compiled, limits or LIMITS)

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
        program = _built(compiled)
        request = BoxRequest(program, limits, (stdin,), args, files or {}, collect)
        # Alone, a run decides in doubt, so it starts as the program would anywhere else.
        request.forks = program.fork is not None and not alone
        attempt = self.probe.begin(compiled.program.language)
        return attempt.run(lambda: self._execute(request, alone), limits)

    def run_many(
        self, compiled: Compiled, limits: Sequence[Limits], stdins: Sequence[bytes]
    ) -> Generator[list[Execution], None, None]:
        """See `BatchSandbox.run_many`. A core is in use until the last group is yielded."""
        check_counts(limits, stdins)
        for one in {id(one): one for one in limits}.values():
            check_limits(one)
        requests = batches(_built(compiled), limits, stdins)
        attempt = self.probe.begin(compiled.program.language)
        groups = self._runner.until_failure(requests)
        return attempt.all_confirmed(groups, limits)

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
    ) -> Interaction:
        """See `Sandbox.interact`."""
        for limits in (first_limits, second_limits):
            check_limits(limits)
        check_request(second_args, second_files or (), second_collect)
        one = BoxRequest(_built(first), first_limits)
        more = (second_args, second_files or {}, second_collect)
        two = BoxRequest(_built(second), second_limits, (b"",), *more)
        for request in (one, two):  # each starts by fork if it can
            request.forks = request.program.fork is not None
        attempts = [self.probe.begin(made.program.language) for made in (first, second)]
        found = self._runner.interaction((one, two))
        attempts[0].confirmed(found.first, first_limits)
        attempts[1].confirmed(found.second, second_limits)
        return found

    def wait_until_warm(self) -> None:
        """Wait for the precompiled headers, which are made in the background."""
        self._headers.wait()

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
        """Run a program like `run`, with the descriptor `line` as its stdin.

        Not part of the `Sandbox` protocol: the server runs programs interactively with it.
        """
        check_limits(limits)
        check_request(args, files or (), ())
        built = _built(compiled)
        request = BoxRequest(built, limits, args=args, files=files or {}, stdin=line, live=live)
        attempt = self.probe.begin(compiled.program.language)
        return attempt.run(lambda: self._execute(request), limits)

    def describe(self) -> Description:
        """See `Sandbox.describe`."""
        if self._description is None:
            level = self._factory.level
            self._description = Description(
                "box",
                level.name,
                level.exact,
                self._host.versions,
                {
                    "fresh_pid_namespace": bool(self._fresh),
                    "python_numpy": "numpy" in self.python_modules(),
                    "python_start": "fork" if self._python_forks() else "exec",
                },
            )
        return self._description

    def _python_forks(self) -> bool:
        return self._python is not None and self._python.calibrated() is not None

    def python_start(self) -> str:
        """Return how Python programs start, and if not by fork, why not."""
        if self._python_forks():
            return "fork"
        if self._python is not None:
            return f"exec: {self._python.reason}"
        if not self._factory.level.namespaces:
            return "exec: a fork needs namespaces"
        return "exec"

    def python_modules(self) -> frozenset[str]:
        """Return the top-level modules that Python programs can import; none without a Python."""
        try:
            return importable(self._tool(languages.find("python")).modules)
        except MissingToolchain:
            return frozenset()

    def abort(self) -> None:
        """End everything that is running: its callers get a SandboxError. To be closed then.

        Not part of the `Sandbox` protocol: only a box can do this at once.
        """
        if os.getpid() == self._process:
            self._cores.refuse()
            self._pool.abort()

    def close(self) -> None:
        """See `Sandbox.close`. In a forked child it has no effect: the boxes are the parent's."""
        if os.getpid() != self._process:
            return
        self._compiler.close()
        self._pool.invalidate(final=True)
        self._cores.close()
        if self._python:
            self._python.hook.close()


def _built(compiled: Compiled) -> BuiltProgram:
    if not compiled.ok or not isinstance(compiled.artifact, BuiltProgram):
        raise BadRequest("only a program that this sandbox compiled can be run")
    return compiled.artifact
