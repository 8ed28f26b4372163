"""Runs on a stock Piston server, through a launcher, in one request each.

RunRequest ─▶ Payload ─▶ request ─▶ Stage + Report ─▶ Execution (evidence.py)

The server's own compile stage has no -O2, compiles every utf8 file and runs on every call. So it
only sees a starter of two lines, and a program's compilation is a run too: the launcher runs the
compiler with the flags of the language table, the binary comes back and travels with every run.
Where the server's limits are too small for that, each run compiles before it starts.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gradebox.sandbox import languages, python_compile
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, Refused, Tampered, Transient
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.evidence import NEAR, destroyed_execution, execution
from gradebox.sandbox.piston.execute import QUEUE_S, SentFile, Stage, execute
from gradebox.sandbox.piston.fleet import Endpoint, Lease, RunRequest
from gradebox.sandbox.piston.launcher import (
    BINARY,
    MAGIC,
    OWN,
    PROGRAM,
    REPORT_BYTES,
    Report,
    decode_report,
    job_files,
    launcher_files,
    new_nonce,
)
from gradebox.sandbox.piston.limits import (
    COMPILE_LIMITS,
    SentLimits,
    launcher_allowance_s,
    limit_too_small,
    plan_limits,
)
from gradebox.sandbox.piston.packages import (
    NOTHING,
    PACKAGES,
    STARTERS,
    Beside,
    compile_command,
    run_command,
)
from gradebox.sandbox.piston.probe import probe

log = logging.getLogger("gradebox.piston")

UNLIMITED_CHARS = 1 << 40
PIECE_CHARS = 1 << 16  # the most a server reads of a program's output at once
CONTROL_CHARS = 64 << 20
MESSAGES_BYTES = 1 << 20  # of an interpreter that compiles
BINARY_BYTES = 60 << 20  # of a compiled program, packed
BUILDS_BYTES = 256 << 20
OTHER_BYTES = 40_000  # of a request beside the binary: launcher, job, a small input
COMPILER_BYTES = 1 << 30  # of memory


@dataclass(frozen=True)
class Payload:
    """What goes into the box beside the input.

    argv      the command; `{python}` stands for the launcher's interpreter
    files     real names and contents
    runtime   of the box
    binary    the compiled program, gzipped
    build     the shell's command that compiles in the same box
    """

    argv: Sequence[str]
    files: Mapping[str, bytes]
    runtime: str
    binary: bytes | None = None
    build: str = ""
    beside: Beside = NOTHING

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


@dataclass(frozen=True)
class Built:
    """A program that was compiled.

    binary     gzipped; None for one that is interpreted, was refused, or is compiled in each run
    cpu_s      CPU seconds that compiling took
    """

    ok: bool
    log: bytes = b""
    binary: bytes | None = None
    cpu_s: float = 0.0


class StockPiston:
    """The backend of endpoints that run a stock Piston."""

    def __init__(self, package: str) -> None:
        self.package = PACKAGES[package]
        # By program and platform or interpreter; each is made once.
        self._builds = LruCache[tuple[str, str], Built](
            BUILDS_BYTES, cost=lambda built: 200 + len(built.log) + len(built.binary or b"")
        )
        self._lock = threading.Lock()
        self._building: dict[tuple[str, str], threading.Lock] = {}

    def can_run(self, endpoint: Endpoint, row: Language) -> bool:
        return self.package.supports(row) and all(
            name in endpoint.runtimes for name in self.package.needs(row)
        )

    def toolchain(self, endpoint: Endpoint, row: Language) -> str:
        """Return the name and version of what runs a language, for records."""
        name = self.package.needs(row)[-1]
        return f"{name} {endpoint.runtimes.get(name, '')} ({endpoint.version})"

    def prepare(self, endpoint: Endpoint) -> None:
        """Find out what the endpoint allows, at its first use."""
        with endpoint.probing:
            if not endpoint.probed and self.package.runtime in endpoint.runtimes:
                probe(endpoint, self.package)

    # ---- compiling ----

    def compile(self, endpoint: Endpoint, program: Program, limits: Limits) -> Compiled:
        row = languages.find(program.language)
        toolchain = self.toolchain(endpoint, row)
        if row.compile is None and row.family != "python":
            return Compiled(program, True, toolchain=toolchain, cached=True)
        self.prepare(endpoint)
        built, cached = self._built(endpoint, row, program, limits)
        return Compiled(program, built.ok, built.log, toolchain, cached=cached)

    def _built(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> tuple[Built, bool]:
        """Return a program compiled for this endpoint, and whether it was already.

        Of several threads that want the same program one compiles and the others wait. A fault is
        raised in the thread that compiled; the next one tries again.
        """
        of = self.toolchain(endpoint, row) if row.compile is None else endpoint.platform
        key = (program.digest, of)
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        try:
            with building:
                found = self._builds.get(key)
                if found is not None:
                    return found, True
                build = self._interpret if row.compile is None else self._compile
                built = build(endpoint, row, program, limits)
                self._builds.put(key, built)
                return built, False
        finally:
            with self._lock:
                self._building.pop(key, None)

    def _interpret(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> Built:
        """Let the interpreter compile."""
        files = python_compile.files(row.source, next(iter(program.files.values())))
        compiling = Compiled(Program(row.name, files), True)
        request = RunRequest(compiling, replace(limits, output_bytes=MESSAGES_BYTES))
        payload = self._interpreted(row, request)
        argv = python_compile.command(payload.argv, ".", row.source)
        found = self._execute(endpoint, request, replace(payload, argv=argv))
        rejection = python_compile.rejection(found)
        return Built(rejection is None, rejection or b"")

    def _compile(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> Built:
        """Compile; where the binary can't come back or travel, note what each run will cost."""
        try:
            built = self._once(endpoint, row, program, limits, keep=True)
            size = len(built.binary or b"") * 4 // 3 + OTHER_BYTES
            refused = endpoint.limits.body_bytes
            if not built.ok or refused is None or size < refused:
                return built
            reason = f"requests of {size} bytes are refused"
        except Refused as fault:
            if fault.limit != "output":
                raise
            reason = "its output limit is too small for a compiled program"
        built = self._once(endpoint, row, program, limits, keep=False)
        cost = f"{endpoint.url}: {reason}, so every {row.name} run compiles again"
        if built.ok and not any(line.startswith(cost[:60]) for line in endpoint.limits.advice):
            advice = f"{cost}: {built.cpu_s:.1f} s of CPU each for the first"
            log.warning("%s", advice)
            endpoint.limits = replace(endpoint.limits, advice=(*endpoint.limits.advice, advice))
        return built

    def _once(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits, *, keep: bool
    ) -> Built:
        """Run the compiler on a server; `keep` asks for the binary."""
        binary = f"{OWN}binary"
        command = compile_command(row, program, binary)
        collect = (PROGRAM,) if keep else ()
        if keep:
            command += f" && gzip -c {binary} >{PROGRAM}"
        request = RunRequest(
            Compiled(program, True), replace(limits, output_bytes=BINARY_BYTES), collect=collect
        )
        runtime = self.package.box_of(row)
        payload = Payload(["/bin/sh", "-c", command], program.files, runtime)
        found = self._execute(endpoint, request, payload)
        said = found.stderr[-200:].decode("utf-8", "replace").strip()
        if found.exit_code in (126, 127):  # from env: the compiler is missing or can't start
            raise Refused(
                f"{endpoint.url}: its package {runtime!r} can't start the compiler of {row.name} "
                f"({said}); install the package again"
            )
        if found.killed_for == "wall" and found.cpu_s < limits.cpu_s * NEAR:
            raise Transient(f"{endpoint.url}: compiling waited {found.wall_s:.0f} s there")
        if found.killed_for:
            ended = f"compiling was ended: its limit of {found.killed_for} was exceeded"
            return Built(False, ended.encode())
        if found.exit_code != 0:
            return Built(False, found.stderr)
        packed = found.files.get(PROGRAM)
        if keep and (packed is None or len(packed) >= BINARY_BYTES):
            raise Transient(f"{endpoint.url}: the compiler succeeded and no binary came back")
        return Built(True, found.stderr, packed, found.cpu_s)

    # ---- running ----

    def run(self, lease: Lease, request: RunRequest) -> Execution:
        """Run a program; see evidence.execution for what is raised."""
        self.prepare(lease.endpoint)
        return self._execute(lease.endpoint, request, self._payload(lease.endpoint, request))

    def _payload(self, endpoint: Endpoint, request: RunRequest) -> Payload:
        program, files = request.compiled.program, request.files
        row = languages.find(program.language)
        if row.compile is None:
            return self._interpreted(row, request)
        if BINARY in files:
            raise BadRequest(f"file name {BINARY!r} is the compiled program's; choose another")
        built, _ = self._built(endpoint, row, program, COMPILE_LIMITS)
        if not built.ok:
            raise Transient(f"{endpoint.url}: the program no longer compiles there")
        argv = [f"./{BINARY}", *request.args]
        if built.binary is not None:
            return Payload(argv, files, self.package.runtime, built.binary)
        return Payload(
            argv,
            {**program.files, **files},
            self.package.box_of(row),
            build=compile_command(row, program, BINARY),
            beside=Beside(1.5 * built.cpu_s, COMPILER_BYTES),
        )

    def _interpreted(self, row: Language, request: RunRequest) -> Payload:
        program, runtime = request.compiled.program, self.package.box_of(row)
        main, *_ = program.files
        argv = run_command(row, main, request.limits, request.args)
        starter = STARTERS.get(runtime)
        beside = NOTHING if starter is None else starter.uses
        return Payload(argv, {**program.files, **request.files}, runtime, beside=beside)

    def _execute(self, endpoint: Endpoint, request: RunRequest, payload: Payload) -> Execution:
        carried_bytes = len(request.stdin) + payload.carried_bytes
        sent = plan_limits(request.limits, endpoint.limits, carried_bytes, payload.beside)
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

    def _exchange(
        self, endpoint: Endpoint, request: RunRequest, payload: Payload, sent: SentLimits
    ) -> Exchange:
        """Send one request and read the launcher's report."""
        nonce = new_nonce()
        job = job_files(
            nonce,
            payload.argv,
            request.limits,
            build=payload.build,
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
            payload.runtime,
            [*launcher_files(payload.runtime), *job, *binary, *extra],
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
        trusted = replace(payload, argv=["{python}", "-c", code], build="")
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
