"""Runs on a stock Piston server, through a launcher, in one request each.

RunRequest ─▶ Payload ─▶ request ─▶ Stage + Report ─▶ Execution (launcher.py)

The server's own compile stage has no -O2, compiles every utf8 file and runs on every call. So it
only sees a starter of two lines, and a program's compilation is a run too: the launcher runs the
compiler with the flags of the language table, the binary comes back and travels with every run.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gradebox.sandbox import languages, python_compile
from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, Refused, Transient
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.execute import (
    COMPILE_LIMITS,
    QUEUE_S,
    SentFile,
    carrying_s,
    execute,
    plan_limits,
)
from gradebox.sandbox.piston.fleet import Endpoint, Lease, RunRequest
from gradebox.sandbox.piston.launcher import (
    BINARY,
    NEAR,
    OWN,
    PROGRAM,
    decode_report,
    evidence_of,
    job_files,
    launcher_files,
    without_report,
)
from gradebox.sandbox.piston.packages import (
    PACKAGES,
    STARTER_BYTES,
    compile_command,
    run_command,
)
from gradebox.sandbox.piston.probe import probe

UNLIMITED_CHARS = 1 << 40
PIECE_CHARS = 1 << 16  # the most a server reads, and drops, of a program's output at once
MESSAGES_BYTES = 1 << 20  # of an interpreter that compiles
BINARY_BYTES = 60 << 20  # of a compiled program, packed
BUILDS_BYTES = 256 << 20


@dataclass(frozen=True)
class Payload:
    """What goes into the box beside the input.

    argv      the command; `{python}` stands for the launcher's interpreter
    files     real names and contents
    runtime   of the box
    binary    the compiled program, gzipped; empty where there is none
    """

    argv: Sequence[str]
    files: Mapping[str, bytes]
    runtime: str
    binary: bytes = b""


class StockPiston:
    """The backend of endpoints that run a stock Piston."""

    def __init__(self, package: str) -> None:
        self.package = PACKAGES[package]
        # By program and platform or interpreter; each is made once. The artifact is the binary,
        # gzipped; empty for a program that is interpreted or was refused.
        self._builds = LruCache[tuple[str, str], Compiled](BUILDS_BYTES, cost=_size)
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
        found = self._built(endpoint, row, program, limits)
        return replace(found, toolchain=toolchain, artifact=None)

    def _built(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> Compiled:
        """Return a program compiled for this endpoint.

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
                    return found
                build = self._interpret if row.compile is None else self._compile
                built = build(endpoint, row, program, limits)
                self._builds.put(key, replace(built, cached=True))
                return built
        finally:
            with self._lock:
                self._building.pop(key, None)

    def _interpret(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> Compiled:
        """Let the interpreter compile."""
        files = python_compile.files(row.source, next(iter(program.files.values())))
        compiling = Compiled(Program(row.name, files), True)
        request = RunRequest(compiling, replace(limits, output_bytes=MESSAGES_BYTES))
        payload = self._interpreted(row, request)
        argv = python_compile.command(payload.argv, ".", row.source)
        found = self._execute(endpoint, request, replace(payload, argv=argv))
        rejection = python_compile.rejection(found)
        return Compiled(program, rejection is None, rejection or b"", artifact=b"")

    def _compile(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> Compiled:
        """Run the compiler on a server, and fetch the binary."""
        binary = f"{OWN}binary"
        command = f"{compile_command(row, program, binary)} && gzip -c {binary} >{PROGRAM}"
        within = replace(limits, output_bytes=BINARY_BYTES)
        request = RunRequest(Compiled(program, True), within, collect=(PROGRAM,))
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
            return Compiled(program, False, ended.encode(), artifact=b"")
        if found.exit_code != 0:
            return Compiled(program, False, found.stderr, artifact=b"")
        packed = found.files.get(PROGRAM)
        if packed is None or len(packed) >= BINARY_BYTES:
            raise Transient(f"{endpoint.url}: the compiler succeeded and no binary came back")
        return Compiled(program, True, found.stderr, artifact=packed)

    # ---- running ----

    def run(self, lease: Lease, request: RunRequest) -> Execution:
        """Run a program; see launcher.evidence_of for what is raised."""
        self.prepare(lease.endpoint)
        return self._execute(lease.endpoint, request, self._payload(lease.endpoint, request))

    def _payload(self, endpoint: Endpoint, request: RunRequest) -> Payload:
        program, files = request.compiled.program, request.files
        row = languages.find(program.language)
        if row.compile is None:
            return self._interpreted(row, request)
        if BINARY in files:
            raise BadRequest(f"file name {BINARY!r} is the compiled program's; choose another")
        built = self._built(endpoint, row, program, COMPILE_LIMITS)
        if not built.ok:
            raise Transient(f"{endpoint.url}: the program no longer compiles there")
        argv = [f"./{BINARY}", *request.args]
        return Payload(argv, files, self.package.runtime, built.artifact)

    def _interpreted(self, row: Language, request: RunRequest) -> Payload:
        program, runtime = request.compiled.program, self.package.box_of(row)
        main, *_ = program.files
        argv = run_command(row, main, request.limits, request.args)
        return Payload(argv, {**program.files, **request.files}, runtime)

    def _execute(self, endpoint: Endpoint, request: RunRequest, payload: Payload) -> Execution:
        """Send one request and return the evidence of its run."""
        carried = (request.stdin, payload.binary, *payload.files.values())
        starter_bytes = STARTER_BYTES.get(payload.runtime, 0)
        sent = plan_limits(request.limits, endpoint.limits, sum(map(len, carried)), starter_bytes)
        nonce = secrets.token_hex(8)
        job = job_files(
            nonce,
            payload.argv,
            request.limits,
            stdin=request.stdin,
            files=payload.files,
            collect=request.collect,
            output_chars=endpoint.limits.output_chars or UNLIMITED_CHARS,
            fixed_addresses=endpoint.fixed_addresses,
        )
        binary = [SentFile(PROGRAM, payload.binary)] if payload.binary else []
        extra = self.package.extra_files(sent.wall_s)
        stage = execute(
            endpoint.transport,
            payload.runtime,
            [*launcher_files(payload.runtime), *job, *binary, *extra],
            sent.fields,
            timeout_s=QUEUE_S + sent.wall_s,
            answer_max=min(request.limits.output_bytes, UNLIMITED_CHARS) * 4 + (16 << 20),
            refused_bytes=endpoint.limits.body_bytes,
        )
        known = endpoint.limits.output_chars or UNLIMITED_CHARS
        if stage.status == "OL" and len(stage.stdout) + PIECE_CHARS < known:
            # from here on the launcher keeps to the limit: what exceeds it is not the launcher's
            kept = max(512, len(stage.stdout))
            endpoint.limits = replace(endpoint.limits, output_chars=kept)
            fault = Transient(f"{endpoint.url}: its output limit is about {kept} characters")
            fault.server_failed = False
            raise fault
        try:
            report = decode_report(stage.stdout, nonce)
        except ValueError:
            return without_report(stage, nonce, request.limits, sent)
        allowance_s = sent.allowance_s + carrying_s(report.execution.stdout_bytes)
        return evidence_of(stage, report, request.limits, replace(sent, allowance_s=allowance_s))


def _size(compiled: Compiled) -> int:
    sources = sum(map(len, compiled.program.files.values()))
    return 200 + sources + len(compiled.log) + len(compiled.artifact)
