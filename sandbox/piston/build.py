"""Compile programs on a stock Piston once; the binary comes back and travels with every run.

    Program ──build_files──▶ request ──read_built──▶ Built, kept by CompiledPrograms

The server's own compile stage has no -O2, compiles every utf8 file and runs on every call. So it
compiles a tiny program of ours, the builder. In the run stage, where the package's compiler is
available, it starts `build.sh`. That compiles the program with the flags of the language table and
prints these lines, L and P in base64:

    GBX1 nonce / L log / P gzipped binary (when it compiled) / Z nonce code
"""

from __future__ import annotations

import base64
import binascii
import logging
import re
import shlex
import threading
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

from gradebox.sandbox.common.lru_cache import LruCache
from gradebox.sandbox.errors import BadRequest, Refused, Transient
from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import Limits, Program
from gradebox.sandbox.piston.evidence import NEAR
from gradebox.sandbox.piston.execute import QUEUE_S, SentFile, execute
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.launcher import MAGIC, new_nonce
from gradebox.sandbox.piston.limits import limit_too_small, plan_limits
from gradebox.sandbox.piston.packages import Package
from gradebox.sandbox.source_tokens import other_sources

log = logging.getLogger("gradebox.piston")

BINARY_MAX = 256 << 20
CACHE_BYTES = 256 << 20
LOG_BYTES = 64 * 1024
WORK = "/tmp/gbx-work"  # in the box: the compiler's own folder, {work} in the language table
OTHER_BYTES = 40_000  # of a request beside the binary: launcher, job, a small input

_C_BUILDER = (
    b'#include <stdlib.h>\nint main(void) { return system("/bin/bash gbx/build.sh") != 0; }\n'
)
_PYTHON_BUILDER = b'import os\nos.execv("/bin/bash", ["/bin/bash", "gbx/build.sh"])\n'

_GO_BUILDER = b"""package main
import ("os"; "os/exec")
func main() { c := exec.Command("/bin/bash", "gbx/build.sh"); c.Stdout = os.Stdout; c.Run() }
"""
_RUST_BUILDER = b"""fn main() {
    let _ = std::process::Command::new("/bin/bash").arg("gbx/build.sh").status();
}
"""

# The source that starts build.sh, by the runtime that has the compiler.
BUILDERS = {
    "go": ("gbx-builder", _GO_BUILDER),
    "rust": ("gbx-builder", _RUST_BUILDER),
    "c++": ("gbx-builder", _C_BUILDER),
    "c": ("gbx-builder", _C_BUILDER),
    "cf_python3": ("gbx-builder.py", _PYTHON_BUILDER),
}

# Flags with which the binary runs where the compiler's own libraries are missing.
STANDALONE = {
    "c++": ("-static-libstdc++", "-static-libgcc", "-s"),
    "c": ("-static-libgcc", "-s"),
    "go": (),
    "rust": (),
}
# Where a package keeps libraries that its compiler does not find by itself; the shell expands it.
LIBRARIES = {
    "rust": "${RUST_INSTALL_LOC:+-L $RUST_INSTALL_LOC/rustc/lib}"
    " ${RUST_INSTALL_LOC:+-L $(echo $RUST_INSTALL_LOC/rust-std-*/lib/rustlib/*/lib)}",
}

_SCRIPT = """cd gbx || exit 1
{command} 2>gbx-log </dev/null >/dev/null
code=$?
echo "GBX1 {nonce}"
printf 'L '; head -c {log_bytes} gbx-log | base64 -w0; echo
if [ $code = 0 ] && [ {send} = 1 ]; then printf 'P '; gzip -c gbx-out | base64 -w0; echo; fi
echo "Z {nonce} $code"
"""


@dataclass(frozen=True)
class Built:
    """A compiled program.

    code       exit status of the compiler
    binary     gzipped; None when the compiler refused the program or `each_call` is set
    each_call  the server's limits are too small to carry the binary: every run compiles again
    cpu_s      CPU seconds that compiling took
    """

    code: int
    log: bytes
    binary: bytes | None
    each_call: bool = False
    cpu_s: float = 0.0


class CompiledPrograms:
    """Builds by program and platform, each made once; the least recently used ones are dropped."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._built = LruCache[tuple[str, str], Built](
            CACHE_BYTES, cost=lambda built: len(built.log) + len(built.binary or b"")
        )
        self._lock = threading.Lock()
        self._building: dict[tuple[str, str], threading.Lock] = {}

    def get(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits
    ) -> tuple[Built, bool]:
        """Return the build for this endpoint's platform, and whether it existed already.

        Of several threads that want the same program one builds and the others wait. A fault is
        raised in the thread that built; the next one tries again.
        """
        key = (program.digest, endpoint.platform)
        with self._lock:
            building = self._building.setdefault(key, threading.Lock())
        try:
            with building:
                found = self._built.get(key)
                if found is not None:
                    return found, True
                built = self._build(endpoint, row, program, limits)
                self._built.put(key, built)
                return built, False
        finally:
            with self._lock:
                self._building.pop(key, None)

    def _build(self, endpoint: Endpoint, row: Language, program: Program, limits: Limits) -> Built:
        """Compile; where the binary can't come back or travel, note what each run will cost."""
        compiler = self._package.compiler(row)
        try:
            built = self._compile(endpoint, row, program, limits, send=True)
            size = 0 if built.binary is None else len(built.binary) * 4 // 3 + OTHER_BYTES
            refused = endpoint.limits.body_bytes
            if refused is None or size < refused:
                return built
            reason = f"requests of {size} bytes are refused"
        except Refused as fault:
            if fault.limit != "output" or compiler not in ("c", "c++"):
                raise
            reason = "its output limit is too small for a compiled program"
        if compiler not in ("c", "c++"):
            raise Refused(
                f"{endpoint.url}: {reason}; raise its body limit (docs/piston.md)", "body"
            )
        built = self._compile(endpoint, row, program, limits, send=False)
        cost = f"{endpoint.url}: {reason}, so every C++ run compiles again"
        if not any(line.startswith(cost) for line in endpoint.limits.advice):
            advice = f"{cost}: {built.cpu_s:.1f} s of CPU each for the first"
            log.warning("%s", advice)
            endpoint.limits = replace(endpoint.limits, advice=(*endpoint.limits.advice, advice))
        return replace(built, each_call=True)

    def _compile(
        self, endpoint: Endpoint, row: Language, program: Program, limits: Limits, *, send: bool
    ) -> Built:
        """Run the compiler on a server; `send` asks for the binary."""
        nonce = new_nonce()
        runtime = self._package.compiler(row)
        sent = plan_limits(limits, endpoint.limits, 0)
        answer = execute(
            endpoint.transport,
            runtime,
            [
                *build_files(row, program, nonce, runtime, send=send),
                *self._package.extra_files(limits.wall_s),
            ],
            sent.fields,
            timeout_s=QUEUE_S + sent.wall_s,
            refused_bytes=endpoint.limits.body_bytes,
        )
        if answer.compile is not None and answer.compile.code != 0:
            raise Transient(
                f"{endpoint.url}: the compiler there fails on a two-line program: "
                f"{answer.compile.stderr[-300:]!r}"
            )
        stage = answer.run
        cpu_s, wall_s = stage.cpu_s or 0.0, stage.wall_s or 0.0
        if stage.status == "TO":
            if sent.short:
                raise limit_too_small(sent.short[0], "found by trying", f"compiling {row.name}")
            if cpu_s < limits.cpu_s * NEAR:  # it waited, or the server has a smaller limit
                raise limit_too_small(
                    "run_timeout",
                    f"it ended compiling after {wall_s:g} s, {cpu_s:g} s of them CPU",
                    f"{limits.cpu_s:g} s of CPU",
                )
            return Built(1, f"compiling was ended after {wall_s:.1f} s".encode(), None)
        if stage.status in ("OL", "EL"):
            raise limit_too_small("output", "found by trying", "a compiled program to come back")
        try:
            built = read_built(stage.stdout, nonce)
        except ValueError as error:
            raise Transient(f"{endpoint.url}: {error}; {stage.stderr[-200:]!r}") from error
        if built.code in (126, 127):  # from env: the compiler is missing or can't start
            words = built.log[-200:].decode("utf-8", "replace").strip()
            raise Refused(
                f"{endpoint.url}: its package {runtime!r} can't start the compiler of {row.name} "
                f"({words}); install the package again"
            )
        if send and built.code == 0 and built.binary is None:
            raise Transient(f"{endpoint.url}: the compiler succeeded and no binary came back")
        return replace(built, cpu_s=stage.cpu_s or 0.5)


def build_files(
    row: Language, program: Program, nonce: str, runtime: str, *, send: bool = True
) -> list[SentFile]:
    """Return the files of a request that compiles a program in a runtime.

    send  whether the binary comes back, or only the compiler's messages
    """
    if row.compile is None or row.piston[0] not in STANDALONE or runtime not in BUILDERS:
        raise BadRequest(
            f"{row.name} can't be compiled on a Piston server; these can: " + ", ".join(STANDALONE)
        )
    name, text = BUILDERS[runtime]
    command = _command(row, program, "gbx-out")
    script = _SCRIPT.format(nonce=nonce, command=command, log_bytes=LOG_BYTES, send=int(send))
    return [SentFile(name, text, source=True), *_in_folder(program, script)]


def each_call_files(row: Language, program: Program, binary: str) -> list[SentFile]:
    """Return the files of a run that compiles first: box_launcher.c, build.sh, the sources."""
    command = _command(row, program, f"../{binary}")
    script = f"cd gbx || exit 1\n{command} 2>gbx-log </dev/null >/dev/null\n"
    return [SentFile("gbx-builder", c_launcher_source(), source=True), *_in_folder(program, script)]


def c_launcher_source() -> bytes:
    return Path(__file__).with_name("box_launcher.c").read_bytes()


def _command(row: Language, program: Program, output: str) -> str:
    main, *_ = program.files
    flags = [a.format(source=main, binary=output) for a in row.compile or ()]
    package = row.piston[0]
    environment = [pair.replace("{work}", WORK) for pair in row.environment]
    sources = other_sources(row.family, program.files)
    words = ["env", *environment, row.tool[0], *flags, *sources, *STANDALONE[package]]
    folder = f"mkdir -p {WORK} && " if environment != list(row.environment) else ""
    return f"{folder}{shlex.join(words)} {LIBRARIES.get(package, '')}".strip()


def _in_folder(program: Program, script: str) -> list[SentFile]:
    """Keep sources out of the working folder: the package compiles every source it finds there."""
    sources = (SentFile(f"gbx/{n}", c) for n, c in program.files.items())
    return [SentFile("gbx/build.sh", script.encode()), *sources]


def read_built(text: str, nonce: str) -> Built:
    """Read what build.sh printed; raise ValueError when it is incomplete."""
    lines = text.split("\n")
    if lines[0] != MAGIC + nonce:
        raise ValueError("no build report")
    parts: dict[str, bytes] = {}
    for line in lines[1:]:
        tag, _, rest = line.partition(" ")
        if tag == "Z":
            words = rest.split()
            if len(words) != 2 or words[0] != nonce or not re.fullmatch("[0-9]{1,9}", words[1]):
                break
            binary = parts.get("P")
            if binary is not None:
                _check_binary(binary)
            code = int(words[1])
            return Built(code, parts.get("L", b""), binary if code == 0 else None)
        try:
            parts[tag] = base64.b64decode(rest, validate=True)
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"the build report is damaged: {error}") from error
    raise ValueError("the build report ends in the middle")


def _check_binary(packed: bytes) -> None:
    """Refuse a decompression bomb here, before it is unpacked in the box."""
    try:
        unpacker = zlib.decompressobj(31)
        unpacker.decompress(packed, BINARY_MAX)
    except zlib.error as error:
        raise ValueError(f"the binary is damaged: {error}") from error
    if not unpacker.eof:
        raise ValueError(f"the binary is incomplete, or over {BINARY_MAX} bytes")
