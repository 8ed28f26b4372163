"""Runs on a stock Piston server, through a launcher, in one request each.

RunRequest ─▶ Payload ─▶ request ─▶ Stage + Report ─▶ Execution (evidence.py)
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gradebox.sandbox import languages, python_compile
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, Tampered, Transient
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.backend import COMPILE_LIMITS, RunRequest
from gradebox.sandbox.piston.build import CompiledPrograms, c_launcher_source, each_call_files
from gradebox.sandbox.piston.evidence import destroyed_execution, execution
from gradebox.sandbox.piston.execute import QUEUE_S, SentFile, Stage, execute
from gradebox.sandbox.piston.fleet import Endpoint, Lease
from gradebox.sandbox.piston.launcher import (
    BINARY,
    MAGIC,
    PROGRAM,
    REPORT_BYTES,
    Report,
    decode_report,
    job_files,
    launcher_file,
    new_nonce,
)
from gradebox.sandbox.piston.limits import (
    SentLimits,
    launcher_allowance_s,
    limit_too_small,
    plan_limits,
)
from gradebox.sandbox.piston.packages import C_LAUNCHER, PACKAGES, STARTERS, run_command
from gradebox.sandbox.piston.probe import probe

UNLIMITED_CHARS = 1 << 40
PIECE_CHARS = 1 << 16  # the most a server reads of a program's output at once
CONTROL_CHARS = 64 << 20
MESSAGES_BYTES = 1 << 20  # of an interpreter that compiles
CACHE_BYTES = 16 << 20


@dataclass(frozen=True)
class Payload:
    """What goes into the box beside the job and the input.

    argv         the command; `{python}` stands for the interpreter of the box
    files        real names and contents
    binary       the compiled program, gzipped
    head         the main file: the launcher, or what starts it
    runtime      that runs `head`; empty: the package's Python
    build_cpu_s  CPU seconds of a compilation in the same box
    """

    argv: Sequence[str]
    files: Mapping[str, bytes]
    binary: bytes | None = None
    head: Sequence[SentFile] = ()
    runtime: str = ""
    build_cpu_s: float = 0.0

    @property
    def carried_bytes(self) -> int:
        return len(self.binary or b"") + sum(map(len, self.files.values()))


@dataclass(frozen=True)
class Exchange:
    """The answer to one request.

    report  None: missing or damaged
    begun   the output begins as this request's report does
    lost    the report has no end though the launcher exited well: the server lost it, or the
            program read it from the launcher's pipe
    """

    stage: Stage
    report: Report | None
    begun: bool = True
    lost: bool = False


class StockPiston:
    """The backend of endpoints that run a stock Piston."""

    def __init__(self, package: str) -> None:
        self.package = PACKAGES[package]
        self._builds = CompiledPrograms(self.package)
        # Of Python programs, by digest and interpreter; None: not rejected.
        self._rejections = LruCache[tuple[str, str], tuple[bytes | None]](
            CACHE_BYTES, cost=lambda entry: 200 + len(entry[0] or b"")
        )

    def can_run(self, endpoint: Endpoint, row: Language) -> bool:
        return self.package.supports(row) and all(
            name in endpoint.runtimes for name in self.package.needs(row)
        )

    def toolchain(self, endpoint: Endpoint, row: Language) -> str:
        name = self.package.needs(row)[-1]
        return f"{name} {endpoint.runtimes.get(name, '')} ({endpoint.version})"

    def prepare(self, endpoint: Endpoint) -> None:
        with endpoint.probing:
            if not endpoint.probed and self.package.runtime in endpoint.runtimes:
                probe(endpoint, self.package)

    def compile(self, endpoint: Endpoint, program: Program, limits: Limits) -> Compiled:
        row = languages.find(program.language)
        toolchain = self.toolchain(endpoint, row)
        if row.compile is None and row.family != "python":
            return Compiled(program, True, toolchain=toolchain, cached=True)
        if row.compile is None:
            return self._interpret(endpoint, row, program, limits)
        self.prepare(endpoint)
        built, cached = self._builds.get(endpoint, row, program, limits)
        return Compiled(program, built.code == 0, built.log, toolchain, cached=cached)

    def _interpret(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> Compiled:
        """Let the interpreter compile, once a program and version."""
        toolchain = self.toolchain(endpoint, row)
        key = (program.digest, toolchain)
        known = self._rejections.get(key)
        if known is None:
            rejection = self._rejection(endpoint, row, program, limits)
            self._rejections.put(key, (rejection,))
        else:
            (rejection,) = known
        ok, log = rejection is None, rejection or b""
        return Compiled(program, ok, log, toolchain, cached=known is not None)

    def _rejection(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> bytes | None:
        self.prepare(endpoint)
        files = python_compile.files(row.source, next(iter(program.files.values())))
        compiling = Compiled(Program(row.name, files), True)
        request = RunRequest(compiling, replace(limits, output_bytes=MESSAGES_BYTES))
        payload = self._interpreted(endpoint, row, request)
        argv = python_compile.command(payload.argv, ".", row.source)
        execution = self._execute(endpoint, request, replace(payload, argv=argv))
        return python_compile.rejection(execution)

    def run(self, lease: Lease, request: RunRequest) -> Execution:
        """Run a program; see evidence.execution for what is raised."""
        self.prepare(lease.endpoint)
        return self._execute(lease.endpoint, request, self._payload(lease.endpoint, request))

    def _execute(self, endpoint: Endpoint, request: RunRequest, payload: Payload) -> Execution:
        carried_bytes = len(request.stdin) + payload.carried_bytes
        sent = plan_limits(request.limits, endpoint.limits, carried_bytes, payload.build_cpu_s)
        answer = self._exchange(endpoint, request, payload, sent)
        if answer.report is not None:
            printed_s = launcher_allowance_s(endpoint.limits, answer.report.stdout_bytes)
            start_s = launcher_allowance_s(endpoint.limits, 0)
            sent = replace(sent, allowance_s=sent.allowance_s + printed_s - start_s)
        try:
            seen = execution(answer.stage, answer.report, request.limits, sent)
            if answer.begun:
                return seen
            # The launcher begins its report before it starts the program.
            fault = Tampered(f"{endpoint.url}: the answer may belong to another request")
        except Tampered as error:
            seen, fault = destroyed_execution(answer.stage), error
        fault.lost = answer.lost
        if self._carries_a_trusted_report(endpoint, request, payload, answer.stage, fault):
            fault.evidence = seen
        raise fault

    def _payload(self, endpoint: Endpoint, request: RunRequest) -> Payload:
        program, files = request.compiled.program, request.files
        row = languages.find(program.language)
        if row.compile is None:
            return self._interpreted(endpoint, row, request)
        if BINARY in files:
            raise BadRequest(f"file name {BINARY!r} is the compiled program's; choose another")
        built, _ = self._builds.get(endpoint, row, program, COMPILE_LIMITS)
        if built.code != 0:
            raise Transient(f"{endpoint.url}: the program no longer compiles there")
        argv = [f"./{BINARY}", *request.args]
        if built.each_call:
            head = each_call_files(row, program, BINARY)
            return Payload(argv, files, None, head, self.package.compiler(row), built.cpu_s)
        return Payload(argv, files, built.binary)

    def _interpreted(self, endpoint: Endpoint, row: Language, request: RunRequest) -> Payload:
        program = request.compiled.program
        main, *_ = program.files
        files = {**program.files, **request.files}
        runtime = row.piston[0]
        if runtime not in STARTERS:
            own = "" if runtime == "python" else runtime
            return Payload(["{python}", main, *request.args], files, runtime=own)
        launcher = Program("c++17", {"launcher.cpp": c_launcher_source()})
        cpp = languages.find(launcher.language)
        built, _ = self._builds.get(endpoint, cpp, launcher, COMPILE_LIMITS)
        if built.binary is None:
            raise limit_too_small("output", "found by trying", "the launcher to come back")
        name, text = STARTERS[runtime]
        head = [
            SentFile(name, text.encode(), source=True),
            SentFile(C_LAUNCHER, gzip.decompress(built.binary)),
        ]
        argv = run_command(row, main, request.limits, request.args)
        return Payload(argv, files, head=head, runtime=runtime)

    def _exchange(
        self, endpoint: Endpoint, request: RunRequest, payload: Payload, sent: SentLimits
    ) -> Exchange:
        """Send one request and read the launcher's report."""
        nonce = new_nonce()
        job = job_files(
            nonce,
            payload.argv,
            request.limits,
            stdin=request.stdin,
            files=payload.files,
            collect=request.collect,
            output_chars=endpoint.limits.output_chars or UNLIMITED_CHARS,
            only_base64=self.package.codeforces,
            fixed_addresses=endpoint.fixed_addresses,
        )
        binary = [] if payload.binary is None else [SentFile(PROGRAM, payload.binary)]
        extra = self.package.extra_files(sent.wall_s)
        stage = execute(
            endpoint.transport,
            payload.runtime or self.package.runtime,
            [*(payload.head or [launcher_file()]), *job, *binary, *extra],
            sent.fields,
            timeout_s=QUEUE_S + sent.wall_s,
            answer_max=min(request.limits.output_bytes, UNLIMITED_CHARS) * 4 + (16 << 20),
            refused_bytes=endpoint.limits.body_bytes,
        ).run
        try:
            return Exchange(stage, decode_report(stage.stdout, nonce))
        except ValueError:
            begun = stage.stdout.startswith(MAGIC + nonce)
            if stage.stdout.startswith(MAGIC) and not begun:
                raise Transient(f"{endpoint.url}: the answer belongs to another request") from None
            _, found, last = stage.stdout.rpartition(f"Z {nonce} ")
            complete = bool(found) and last.endswith("\n")
            return Exchange(stage, None, begun, lost=stage.status is None and not complete)

    def _carries_a_trusted_report(
        self,
        endpoint: Endpoint,
        request: RunRequest,
        payload: Payload,
        stage: Stage,
        fault: Tampered,
    ) -> bool:
        """Find out why a report is missing: send the same request with a trusted program.

        When the trusted program's report is complete, the program destroyed its own report.
        Raises Refused when the server's output limit is the reason.
        """
        known = endpoint.limits.output_chars
        chars = min(known or len(stage.stdout) + 2 * PIECE_CHARS, CONTROL_CHARS)
        prints = max(0, chars - 2 * REPORT_BYTES)
        code = f"import sys; sys.stdin.buffer.read(); sys.stdout.write('x' * {prints})"
        limits = Limits(output_bytes=chars + 1)
        trusted = replace(payload, argv=["{python}", "-c", code], head=(), runtime="")
        control = self._exchange(
            endpoint,
            replace(request, limits=limits, collect=()),
            trusted,
            plan_limits(limits, endpoint.limits, 0),
        )
        if control.report is not None and control.report.stdout_bytes == prints:
            return True
        if "OL" in (control.stage.status, stage.status):
            kept = max(512, min(len(stage.stdout), len(control.stage.stdout)))
            endpoint.limits = replace(endpoint.limits, output_chars=kept)
            raise limit_too_small("output", f"about {kept}", "more output") from fault
        return False
