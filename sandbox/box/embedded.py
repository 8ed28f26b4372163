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
from gradebox.sandbox.box.execution import read_execution
from gradebox.sandbox.box.isolation.host import data_caches, inspect_host, with_targets
from gradebox.sandbox.box.isolation.levels import (
    BoxFactory,
    choose_level,
    remove_stale_groups,
)
from gradebox.sandbox.box.isolation.rights import has_ids
from gradebox.sandbox.box.pool import BoxPool
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.python.start import EMPTY, Measured, PythonStart
from gradebox.sandbox.box.run_request import BoxRequest, LiveRequest, LiveRun, batches
from gradebox.sandbox.box.runner import RunAnswer, Runner
from gradebox.sandbox.box.toolchains.compiler import Compiler
from gradebox.sandbox.box.toolchains.find import Tool, resolve
from gradebox.sandbox.box.toolchains.gcc import PrecompiledHeaders
from gradebox.sandbox.box.toolchains.probe import LanguageProbe
from gradebox.sandbox.box.validation import check_limits, check_program, check_request
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
    measured      of another sandbox that was opened here with the same arguments; it is not
                  measured again
    """

    def __init__(
        self,
        slots: int | None = None,
        *,
        level: str | None = None,
        allow_unsafe: bool = False,
        hidden: Iterable[str | Path] = (),
        python_start: Literal["fork", "exec"] = "fork",
        measured: Measured | None = None,
    ) -> None:
        self._process = os.getpid()
        self._description: Description | None = None
        slots = slots or len(physical_cpus())
        launcher()  # without it no level works, and its own error says why
        check_machine(slots)
        remove_stale_groups()
        private = (*with_targets(hidden), *data_caches())
        self._host = replace(inspect_host(), private=private)
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
        self._headers.enabled = not self._programs_are_other_users
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
        self._known = measured
        self._python: PythonStart | None = None
        if python_start == "fork" and self._fresh:
            self._prepare_templates()

    def _prepare_templates(self) -> None:
        with contextlib.suppress(MissingToolchain):
            tool = self._tool(languages.find("python"))
            grouped = self._factory.level.grouped
            known = self._known.calibration if self._known else None
            self._python = PythonStart(tool, self._run_empty, grouped=grouped, known=known)
            self._factory.templates = self._python.templates
            self._runner.python = self._python

    @property
    def _programs_are_other_users(self) -> bool:
        """Whether programs cannot read this user's private files: as root without namespaces."""
        return not self._factory.level.namespaces and has_ids(namespaces=False)

    def _tool(self, row: Language) -> Tool:
        level = self._factory.level.name
        if row.reads_proc and level == "landlock":
            raise MissingToolchain(
                f"{row.name}: {row.tool[0]} reads /proc, which is hidden at level {level}; allow "
                "user namespaces (sysctl user.max_user_namespaces=10000) or use --sandbox piston"
            )
        return resolve(row, public=self._programs_are_other_users)

    def _try_out(self, factory: BoxFactory) -> None:
        """Build a box of a level and run the launcher's self-test in it."""
        fresh = wire.FRESH * factory.level.namespaces
        executable = Executable(launcher().read_bytes(), in_memory=not factory.level.namespaces)
        program = BuiltProgram(("launcher", "self-test"), "self-test", executable)
        with contextlib.ExitStack() as ends:
            ends.callback(executable.close)
            box = factory.box()
            with contextlib.ExitStack() as undo:
                undo.callback(box.close)
                with BoxRequest(program, SELF_TEST, flags=fresh) as request:
                    request.start(box)
                    (reply,), fds = box.replies()
                    execution = read_execution(reply, fds, SELF_TEST, ())
                if execution.exit_code != 0:
                    raise SandboxError(
                        f"self-test: exit {execution.exit_code}, signal {execution.signal}"
                    )
                undo.pop_all()
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
        def read(answer: RunAnswer) -> tuple[Execution, wire.Reply]:
            return read_execution(answer.reply, answer.fds, EMPTY, ()), answer.reply

        [[result]] = self._runner.run(BoxRequest(program, EMPTY, forks=forks), read)
        return result

    def _run_hello(self, compiled: Compiled, limits: Limits, stdin: bytes) -> Execution:
        return self._execute(BoxRequest(_built(compiled), limits, (stdin,)))

    def _compile_by_fork(self, program: BuiltProgram, limits: Limits) -> Execution | None:
        """Compile a Python program in a forked run; None where programs cannot start by fork."""
        if self._python is None or not self._python_forks():
            return None
        return self._execute(BoxRequest(self._python.compilation(program), limits, forks=True))

    def _end_background(self) -> None:
        for box in list(self._background):
            box.abort()

    def compile(
        self, program: Program, limits: Limits | None = None, *, interpreted: bool = True
    ) -> Compiled:
        """See `Sandbox.compile`. Raises UnknownLanguage, MissingToolchain, BadRequest."""
        check_program(program)
        if limits is not None:
            check_limits(limits)
        attempt = self.probe.begin(program.language)
        compiled = self._compiler.compile(program, limits, interpreted, attempt.changes)
        if not compiled.ok:
            attempt.confirm()
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
        program = _built(compiled)
        forks = program.fork is not None
        attempt = self.probe.begin(compiled.program.language)
        groups = self._runner.until_failure(
            BoxRequest(program, batch.limits, batch.stdins, outputs=batch.outputs, forks=forks)
            for batch in batches(limits, stdins)
        )
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
        one = _start_of(_built(first), first_limits)
        two = _start_of(
            _built(second), second_limits, second_args, second_files or {}, second_collect
        )
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
        request = LiveRequest(built, limits, args=args, files=files or {}, line=line, live=live)
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
                    "python_numpy": self._has_numpy(),
                    "python_start": "fork" if self._python_forks() else "exec",
                },
            )
        return self._description

    @property
    def measured(self) -> Measured:
        """What it has found out, for another sandbox on this machine."""
        numpy = self.describe().details["python_numpy"]
        return Measured(numpy, self._python.calibrated() if self._python else None)

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

    def _has_numpy(self) -> bool | None:
        """Return whether programs can import numpy; None without a Python."""
        if self._known is not None:
            return self._known.numpy
        probe = b"import importlib.util as u, sys\nsys.exit(u.find_spec('numpy') is None)\n"
        try:
            compiled = self._compiler.compile_anew(Program("python", {"main.py": probe}))
        except MissingToolchain:
            return None
        return self._run_hello(compiled, Limits(), b"").exit_code == 0

    def close(self) -> None:
        """See `Sandbox.close`. In a forked child it has no effect: the boxes are the parent's."""
        if os.getpid() != self._process:
            return
        self._compiler.close()
        self._pool.close()
        self._cores.close()
        if self._python:
            self._python.close()


def _built(compiled: Compiled) -> BuiltProgram:
    if not compiled.ok or not isinstance(compiled.artifact, BuiltProgram):
        raise BadRequest("only a program that this sandbox compiled can be run")
    return compiled.artifact


def _start_of(
    program: BuiltProgram,
    limits: Limits,
    args: Sequence[str] = (),
    files: Mapping[str, bytes] | None = None,
    collect: Sequence[str] = (),
) -> BoxRequest:
    """Return the request of one of two programs that talk; it starts by fork if it can."""
    forks = program.fork is not None
    return BoxRequest(program, limits, (b"",), args, files or {}, collect, forks=forks)
