"""Runs on a real Piston server: through the launcher, in one request a run."""

from __future__ import annotations

import gzip
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox import languages
from sandbox.errors import BadRequest, MissingToolchain
from sandbox.languages import Language
from sandbox.model import Compiled, Execution, Limits, Program
from sandbox.piston.answer import Stage, read_answer
from sandbox.piston.build import Built, build_files, each_call_files, read_built
from sandbox.piston.compile_cache import CompileCache
from sandbox.piston.evidence import NEAR, LimitTooSmall, Tampered, execution
from sandbox.piston.faults import BodyTooLarge, Refused, Transient
from sandbox.piston.fleet import Endpoint
from sandbox.piston.job import REPORT_BYTES, BadReport, Report, decode_report, encode_job
from sandbox.piston.limits import Sent, allowance, plan_limits
from sandbox.piston.probe import learn
from sandbox.piston.request import (
    BINARY,
    JOB,
    LAUNCHER,
    PROGRAM,
    PYTHON_RUNTIME,
    STDIN,
    File,
    codeforces_files,
    encode,
    launcher_source,
    nonce,
)
from sandbox.piston.runners import (
    IN_CODEFORCES,
    LANGUAGES,
    NATIVE_LAUNCHER,
    STARTERS,
    command,
)

log = logging.getLogger("gradebox.piston")

HEAD = "GBX1 "  # how every report begins, its request's mark behind it
OTHER_BYTES = 40_000  # of a request beside the binary: launcher, job, a small input
UNLIMITED_CHARS = 1 << 40
PIECE_CHARS = 1 << 16  # the most a server reads of a program's output at once
CONTROL_CHARS = 64 << 20
QUEUE_S = 120.0  # how long a request may wait in the server's queue before it is given up


@dataclass(frozen=True)
class RunRequest:
    """One run as the caller asked for it."""

    compiled: Compiled
    limits: Limits
    stdin: bytes = b""
    args: Sequence[str] = ()
    files: Mapping[str, bytes] | None = None
    collect: Sequence[str] = ()


@dataclass(frozen=True)
class Launch:
    """What came of one request to a launcher.

    report  None: it is missing or damaged
    lost    it is, though the launcher ended well: no program can do that, so it was on the way
    """

    stage: Stage
    report: Report | None
    lost: bool = False


@dataclass(frozen=True)
class Load:
    """What goes into the box beside the launcher and the input.

    argv    the command; `{python}` stands for the interpreter of the box
    files   real names and contents; they travel under names that mean nothing to a package
    binary  the compiled program, gzipped
    head    what is sent in the launcher's place when the box compiles first, to which
            `runtime`, and the CPU seconds that takes
    """

    argv: Sequence[str]
    files: Mapping[str, bytes]
    binary: bytes | None = None
    head: Sequence[File] = ()
    runtime: str = ""
    build_cpu_s: float = 0.0

    def as_files(self) -> list[File]:
        head = [] if self.binary is None else [File(PROGRAM, self.binary)]
        return [*head, *(File(f"gbx-{i}", c) for i, c in enumerate(self.files.values()))]


class Launched:
    """What a client does with an endpoint that is a real Piston."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.runtime = PYTHON_RUNTIME[package]
        self.only_base64 = package == "codeforces"
        self.cache = CompileCache()

    def able(self, endpoint: Endpoint, row: Language) -> bool:
        """Whether the endpoint has the runtimes that this language needs."""
        return all(name in endpoint.runtimes for name in self.needs(row))

    def needs(self, row: Language) -> tuple[str, ...]:
        """Runtimes a language needs: one for launchers, one of its own or that compiles."""
        package = row.piston[0]
        if package == "python":
            return (self.runtime,)
        if package in STARTERS:
            return (self.runtime, "c++", package)
        return (self.runtime, self._builder(row))

    def runnable(self, row: Language) -> bool:
        """Whether a launcher can run this language at all."""
        return row.piston[0] in (IN_CODEFORCES if self.package == "codeforces" else LANGUAGES)

    def prepare(self, endpoint: Endpoint) -> None:
        """Learns the endpoint's limits, the first time it is used."""
        if endpoint.probed:
            return
        with endpoint.probing:
            if not endpoint.probed:
                learn(endpoint, self.runtime, only_base64=self.only_base64, extra=self._extra(60.0))

    def compile(
        self, endpoint: Endpoint, program: Program, limits: Limits
    ) -> tuple[Built | None, bool]:
        """The binary for this endpoint's platform (None: the language needs none)."""
        row = languages.find(program.language)
        if row.compile is None:
            return None, True
        self.prepare(endpoint)
        key = (program.digest, endpoint.platform)
        return self.cache.get(key, lambda: self._build(endpoint, row, program, limits))

    def run(
        self,
        endpoint: Endpoint,
        request: RunRequest,
        compile_limits: Limits,
        waited: Callable[[float], None],
    ) -> Execution:
        """One run; see sandbox/piston/evidence.py for what it raises.

        `waited` is told the seconds that the request took beyond the run.
        """
        self.prepare(endpoint)
        row = languages.find(request.compiled.program.language)
        if not self.runnable(row):
            raise MissingToolchain(
                f"{row.name} can't be run on a Piston server; use --sandbox local"
            )
        load = self._load(endpoint, row, request, compile_limits)
        carried = len(request.stdin) + sum(len(f.content) for f in load.as_files())
        sent = plan_limits(request.limits, endpoint.learnt, carried, load.build_cpu_s)
        began = time.monotonic()
        launch = self._launch(endpoint, request, load, sent)
        stage, report = launch.stage, launch.report
        waited(time.monotonic() - began - (stage.wall_s or 0.0))
        if report is not None:
            more = allowance(endpoint.learnt, report.stdout_bytes) - allowance(endpoint.learnt, 0)
            sent = replace(sent, allowance_s=sent.allowance_s + more)
        try:
            return execution(stage, report, request.limits, sent, contended=False)
        except Tampered as fault:
            if not launch.lost:
                self._examine(endpoint, request, load, fault, stage)
            raise

    def _builder(self, row: Language) -> str:
        return self.runtime if self.package == "codeforces" else row.piston[0]

    def _extra(self, wall_s: float) -> list[File]:
        return codeforces_files(wall_s) if self.package == "codeforces" else []

    def _load(
        self, endpoint: Endpoint, row: Language, request: RunRequest, compile_limits: Limits
    ) -> Load:
        program, files = request.compiled.program, request.files or {}
        if row.compile is None:
            return self._interpreted(endpoint, row, request, compile_limits)
        if BINARY in files:
            raise BadRequest(f"file name {BINARY!r} is the compiled program's; choose another")
        built, _ = self.compile(endpoint, program, compile_limits)
        if built is None or built.code != 0:
            raise Transient(f"{endpoint.url}: the program does not compile there any more")
        if built.each_call:
            head = each_call_files(row, program, BINARY)
            argv = [f"./{BINARY}", *request.args]
            return Load(argv, files, None, head, self._builder(row), built.cpu_s)
        return Load([f"./{BINARY}", *request.args], files, built.binary)

    def _interpreted(
        self, endpoint: Endpoint, row: Language, request: RunRequest, compile_limits: Limits
    ) -> Load:
        program = request.compiled.program
        main, *_ = program.files
        files = {**program.files, **(request.files or {})}
        package = row.piston[0]
        if package not in STARTERS:
            runtime = "" if package == "python" else package
            return Load(["{python}", main, *request.args], files, runtime=runtime)
        source = Path(__file__).with_name("box_launcher.c").read_bytes()
        launcher = Program("c++17", {"launcher.cpp": source})
        built, _ = self.compile(endpoint, launcher, compile_limits)
        if built is None or built.binary is None:
            raise LimitTooSmall("output", "learnt", "the launcher to come back")
        name, text = STARTERS[package]
        head = [
            File(name, text.encode(), source=True),
            File(NATIVE_LAUNCHER, gzip.decompress(built.binary)),
        ]
        argv = command(row, main, request.limits, request.args)
        return Load(argv, files, head=head, runtime=package)

    def _launch(
        self,
        endpoint: Endpoint,
        request: RunRequest,
        load: Load,
        sent: Sent,
    ) -> Launch:
        mark = nonce()
        job = encode_job(
            mark,
            load.argv,
            request.limits,
            budget=endpoint.learnt.output_chars or UNLIMITED_CHARS,
            files=list(load.files),
            collect=request.collect,
            only_base64=self.only_base64,
            fixed_addresses=endpoint.fixed_addresses,
        )
        head = load.head or [File(LAUNCHER, launcher_source(), source=True)]
        own = [File(JOB, job), File(STDIN, request.stdin)]
        files = [*head, *own, *load.as_files(), *self._extra(sent.wall_s)]
        body = encode(load.runtime or self.runtime, "*", files, sent.fields)
        self._fits(endpoint, body)
        kept = min(request.limits.output_bytes, UNLIMITED_CHARS)
        value = self.post(endpoint, body, sent.wall_s, answer_max=kept * 4 + (16 << 20))
        stage = read_answer(value).run
        try:
            return Launch(stage, decode_report(stage.stdout, mark))
        except BadReport:
            if stage.stdout.startswith(HEAD) and not stage.stdout.startswith(HEAD + mark):
                raise Transient(f"{endpoint.url}: the answer is another request's") from None
            _, found, last = stage.stdout.rpartition(f"Z {mark} ")
            ended = bool(found) and last.endswith("\n")
            return Launch(stage, None, lost=stage.status is None and not ended)

    def post(self, endpoint: Endpoint, body: bytes, wall_s: float, answer_max: int) -> object:
        """One execute; the time allowed covers the server's queue, compiling and the run."""
        return endpoint.transport.post(
            "/api/v2/execute", body, timeout_s=QUEUE_S + wall_s + 30, answer_max=answer_max
        )

    def _fits(self, endpoint: Endpoint, body: bytes) -> None:
        refused = endpoint.learnt.body_bytes
        if refused is not None and len(body) >= refused:
            raise BodyTooLarge(
                f"{endpoint.url}: this run needs a request of {len(body)} bytes and the server "
                f"refuses {refused}; raise its body limit (docs/piston.md, 'The request body')"
            )

    def _examine(
        self,
        endpoint: Endpoint,
        request: RunRequest,
        load: Load,
        fault: Tampered,
        stage: Stage,
    ) -> None:
        """Whose fault a missing report is: the same request again, with a program of ours.

        When that one's report is whole, the program itself spoilt its own.
        """
        known = endpoint.learnt.output_chars
        chars = min(known or len(stage.stdout) + 2 * PIECE_CHARS, CONTROL_CHARS)
        prints = max(0, chars - 2 * REPORT_BYTES)
        code = f"import sys; sys.stdin.buffer.read(); sys.stdout.write('x' * {prints})"
        limits = Limits(output_bytes=chars + 1)
        sent = plan_limits(limits, endpoint.learnt, 0)
        control = replace(request, limits=limits, collect=())
        trusted = replace(load, argv=["{python}", "-c", code], head=(), runtime="")
        launch = self._launch(endpoint, control, trusted, sent)
        again, report = launch.stage, launch.report
        fault.forged = report is not None and report.stdout_bytes == prints
        fault.stage = stage
        if "OL" in (again.status, stage.status) and not fault.forged:
            kept = max(512, min(len(stage.stdout), len(again.stdout)))
            endpoint.learnt = replace(endpoint.learnt, output_chars=kept)
            raise LimitTooSmall("output", f"about {kept}", "more output") from fault

    def _build(self, endpoint: Endpoint, row: Language, program: Program, limits: Limits) -> Built:
        """Compiles there; when the binary can't come back or travel, says what that costs."""
        try:
            built, _ = self._build_once(endpoint, row, program, limits, send=True)
            size = 0 if built.binary is None else len(built.binary) * 4 // 3 + OTHER_BYTES
            if size < (endpoint.learnt.body_bytes or size + 1):
                return built
            why = f"requests of {size} bytes are refused"
        except LimitTooSmall as fault:
            if fault.name != "output" or self._builder(row) not in ("c", "c++"):
                raise
            why = "its output limit is too small for a compiled program"
        if self._builder(row) not in ("c", "c++"):
            raise BodyTooLarge(f"{endpoint.url}: {why}; raise its body limit (docs/piston.md)")
        built, cpu_s = self._build_once(endpoint, row, program, limits, send=False)
        self._note_cost(endpoint, f"{endpoint.url}: {why}, so every C++ run compiles again", cpu_s)
        return replace(built, each_call=True, cpu_s=cpu_s)

    def _note_cost(self, endpoint: Endpoint, line: str, cpu_s: float) -> None:
        """Said once for an endpoint, and kept in what the run's record says of it."""
        if any(a.startswith(line) for a in endpoint.learnt.advice):
            return
        said = f"{line}: {cpu_s:.1f} s of CPU each for the first"
        log.warning("%s", said)
        endpoint.learnt = replace(endpoint.learnt, advice=(*endpoint.learnt.advice, said))

    def _build_once(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits, *, send: bool
    ) -> tuple[Built, float]:
        """What came of compiling, and the CPU seconds it took."""
        mark = nonce()
        runtime = self._builder(row)
        files = [*build_files(row, program, mark, runtime, send=send), *self._extra(limits.wall_s)]
        sent = plan_limits(limits, endpoint.learnt, 0)
        body = encode(runtime, "*", files, sent.fields)
        self._fits(endpoint, body)
        answer = read_answer(self.post(endpoint, body, sent.wall_s, answer_max=1 << 30))
        if answer.compile is not None and answer.compile.code != 0:
            raise Transient(
                f"{endpoint.url}: the compiler there fails on a two-line program: "
                f"{answer.compile.stderr[-300:]!r}"
            )
        stage = answer.run
        if stage.status == "TO":
            if sent.short:
                raise LimitTooSmall(sent.short[0], "learnt", f"compiling {row.name}")
            if (stage.cpu_s or 0.0) < limits.cpu_s * NEAR:  # it waited, or a smaller cap held
                raise LimitTooSmall(
                    "run_timeout",
                    f"it ended compiling after {stage.wall_s or 0.0:g} s, "
                    f"{stage.cpu_s or 0.0:g} s of them CPU",
                    f"{limits.cpu_s:g} s of CPU",
                )
            words = f"compiling was ended after {stage.wall_s or 0:.1f} s"
            return Built(1, words.encode(), None, ""), stage.cpu_s or 0.0
        if stage.status in ("OL", "EL"):
            raise LimitTooSmall("output", "learnt", "a compiled program to come back")
        try:
            built = read_built(stage.stdout, mark)
        except BadReport as error:
            raise Transient(f"{endpoint.url}: {error}; {stage.stderr[-200:]!r}") from error
        if built.code in (126, 127):  # env's own: there is no such compiler, or it can't start
            said = built.log[-200:].decode("utf-8", "replace").strip()
            raise Refused(
                f"{endpoint.url}: its package {runtime!r} can't start the compiler of {row.name} "
                f"({said}); install the package again"
            )
        if send and built.code == 0 and built.binary is None:
            raise Transient(f"{endpoint.url}: the compiler succeeded and no binary came")
        return built, stage.cpu_s or 0.5
