"""Find out what a server is and allows, and which of its settings to raise.

`identify` asks what the server is (two GETs). `probe` runs a few tiny jobs: limits can't be
queried, but a request beyond one is refused with the limit in the message.

While a server is busy (429), a question waits and is asked again: a proxy that lets five requests a
second through would otherwise refuse some of these half a dozen every time.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from gradebox.sandbox.errors import Refused, Transient
from gradebox.sandbox.piston import fleet
from gradebox.sandbox.piston.execute import SentFile, ServerLimits, Stage, execute
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.gradebox_server import PROTOCOL
from gradebox.sandbox.piston.packages import Package

STOCK_BODY_BYTES = 102_400
TRY_BODY_BYTES = 150_000
WANT_OUTPUT_CHARS = 1_000_000
HUGE = 10**15  # beyond every configured limit
EXTRA_WALL_S = 60.0
ANSWER_BYTES = 8 << 20  # twice an answer, which has the 2 MiB of _PRINTS as stdout and as output
BUSY_S = 60.0  # a server may answer 429 to one question for so long

T = TypeVar("T")

# Writes 1, 1, 2, 4 … KiB: what the server keeps of it is its output limit within a factor of two.
PRINTED_CHARS = 1024 << 11
_PRINTS = b"""import os, platform, subprocess, sys, time
def have(*command):
    try:
        return subprocess.run(command, stdout=-3, stderr=-3).returncode == 0
    except OSError:
        return False
fixed = have("/usr/bin/setarch", os.uname().machine, "-R", "/bin/true")
line = "%s;%s;%d\\n" % (os.uname().machine, "-".join(platform.libc_ver()), fixed)
sys.stdout.write(line + "x" * (1024 - len(line)))
sys.stdout.flush()
for k in range(11):
    time.sleep(0.005)
    sys.stdout.write("x" * (1024 << k))
    sys.stdout.flush()
"""


def identify(endpoint: Endpoint) -> None:
    """Fill in version and runtimes; raise Transient or Refused where no Piston answers."""
    get, version = endpoint.transport.get, endpoint.version
    about = {} if endpoint.transport.api_only else _patiently(partial(get, "/", timeout_s=10))
    if isinstance(about, dict):
        endpoint.version = str(about.get("message", "Piston"))[:100]
        gradebox = about.get("gradebox")
        ours = gradebox if isinstance(gradebox, dict) else {}
        if gradebox is not None and ours.get("protocol") != PROTOCOL:
            raise Refused(f"{endpoint.url} is gradebox of another version: install the same here")
        endpoint.gradebox = gradebox is not None
        if isinstance(ours.get("sandbox"), dict):
            endpoint.server_sandbox = ours["sandbox"]
    runtimes = read_runtimes(_patiently(partial(get, "/api/v2/runtimes", timeout_s=10)))
    if (runtimes, endpoint.version) != (endpoint.runtimes, version):  # now another server
        endpoint.probed = False
    endpoint.runtimes = runtimes


def read_runtimes(value: Any) -> dict[str, str]:
    """Return language or alias → version from the answer of GET /api/v2/runtimes.

    The Codeforces package also has names that other packages have, and a version that is no
    compiler's. So its entries count only for names that nothing else has.
    """
    if not isinstance(value, list):
        raise Transient("/api/v2/runtimes did not answer with a list")
    found: dict[str, str] = {}
    of_package: dict[str, str] = {}
    for item in value:
        if not isinstance(item, dict) or not isinstance(item.get("language"), str):
            raise Transient("/api/v2/runtimes has an entry without a language")
        into = of_package if item.get("runtime") == "codeforces" else found
        version = str(item.get("version", ""))[:60]
        aliases = item.get("aliases")
        into[item["language"]] = version
        for alias in aliases if isinstance(aliases, list) else ():
            into.setdefault(str(alias), version)
    return {**of_package, **found}


def probe(endpoint: Endpoint, package: Package) -> None:
    """Fill in the platform and limits of an endpoint."""
    run_ms, cpu_ms, memory = (
        _configured(endpoint, package, name)
        for name in ("run_timeout", "run_cpu_time", "run_memory_limit")
    )
    body_bytes = None
    pad = SentFile("gbx-pad", b"x" * (TRY_BODY_BYTES * 3 // 4))
    try:
        printed = _print(endpoint, package, pad)
    except Refused as refusal:
        if refusal.limit != "body":
            raise
        body_bytes = TRY_BODY_BYTES
        printed = _print(endpoint, package)
    with contextlib.suppress(ValueError):
        machine, libc, fixed = printed.split("\n", 1)[0].split(";")
        endpoint.platform = f"{machine} {libc}"
        endpoint.fixed_addresses = fixed == "1"
    # a server drops the whole chunk that crosses its limit, or only what is beyond the limit
    output_chars = max(len(printed), 512) if len(printed) < PRINTED_CHARS else None
    limits = ServerLimits(run_ms, cpu_ms, memory, output_chars, body_bytes)
    endpoint.limits = replace(limits, advice=tuple(_advice(endpoint.url, limits)))
    endpoint.probed = True


def _advice(url: str, limits: ServerLimits) -> list[str]:
    """Return a line for each setting that is too small for grading."""
    lines = []
    for name, value, want in (
        ("PISTON_RUN_TIMEOUT", limits.run_ms, 60_000),
        ("PISTON_RUN_CPU_TIME", limits.cpu_ms, 15_000),
        ("PISTON_OUTPUT_MAX_SIZE", limits.output_chars, WANT_OUTPUT_CHARS),
    ):
        if value is not None and value < want:
            lines.append(f"{url}: {name} is about {value}; raise it to {want} or more (piston.env)")
    if limits.body_bytes is not None:
        lines.append(
            f"{url}: requests over about {STOCK_BODY_BYTES} bytes are refused; raise the limit of "
            "body_parser.json in the server's src/index.js (docker/piston/Dockerfile does)"
        )
    return lines


def _job(
    endpoint: Endpoint, package: Package, files: Sequence[SentFile], fields: Mapping[str, int]
) -> Stage:
    """Run a small job; wait while the server is busy."""
    transport, runtime = endpoint.transport, package.runtime
    files = [*files, *package.extra_files(EXTRA_WALL_S)]
    job = partial(execute, transport, runtime, files, fields, answer_max=ANSWER_BYTES)
    return _patiently(job)


def _patiently(ask: Callable[[], T]) -> T:
    """Return an answer; ask again while the server is busy, with pauses that double."""
    until = time.monotonic() + BUSY_S
    pause_s = fleet.FIRST_PAUSE_S
    while True:
        try:
            return ask()
        except Transient as fault:
            wait_s = max(fault.pause_s, pause_s)
            if not fault.busy or time.monotonic() + wait_s > until:
                raise
        time.sleep(wait_s)
        pause_s *= 2


def _configured(endpoint: Endpoint, package: Package, name: str) -> int | None:
    """Ask for a huge limit of this name. Return the largest that the server's refusal allows.

    None: the server accepts the huge limit.
    """
    try:
        _job(endpoint, package, [SentFile("p.py", b"pass", source=True)], {name: HUGE})
    except Refused as refusal:
        number = re.search(r"limit of (\d{1,15})\b", str(refusal))
        if number is None:
            raise Transient(f"{endpoint.url}: refused a small job: {refusal}") from refusal
        return int(number[1])
    return None


def _print(endpoint: Endpoint, package: Package, *pad: SentFile) -> str:
    """Run the printing program; return what arrives of its output."""
    run = _job(endpoint, package, [SentFile("p.py", _PRINTS, source=True), *pad], {})
    if run.status in ("RE", "SG"):
        raise Transient(f"{endpoint.url}: a test program failed there: {run.stderr[-300:]!r}")
    return run.stdout
