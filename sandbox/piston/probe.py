"""Find out what a server is and allows, and which of its settings to raise.

`identify` asks what the server is (two GETs). `probe` runs a few tiny jobs: limits can't be
queried, but a request beyond one is refused with the limit in the message.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gradebox.sandbox.model import Limits
from gradebox.sandbox.piston.faults import BodyTooLarge, Refused, Transient
from gradebox.sandbox.piston.fleet import Endpoint
from gradebox.sandbox.piston.gradebox_server import most_runs
from gradebox.sandbox.piston.http.execute import File, execute
from gradebox.sandbox.piston.launcher import (
    BadReport,
    decode_report,
    job_files,
    launcher_file,
    new_nonce,
)
from gradebox.sandbox.piston.limits import ServerLimits
from gradebox.sandbox.piston.packages import Package

STOCK_BODY_BYTES = 102_400
TRY_BODY_BYTES = 150_000
WANT_OUTPUT_CHARS = 1_000_000
HUGE = 10**15  # beyond every configured limit
EXTRA_WALL_S = 60.0

# Writes 1, 1, 2, 4 … KiB: what the server keeps of it is its output limit within a factor of two.
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
    about = endpoint.transport.get("/", timeout_s=10)
    if isinstance(about, dict):
        endpoint.version = str(about.get("message", ""))[:100]
        gradebox = about.get("gradebox")
        ours = gradebox if isinstance(gradebox, dict) else {}
        most = most_runs(ours)
        if gradebox is not None and not most:
            raise Refused(f"{endpoint.url} is gradebox of another version: install the same here")
        endpoint.most_runs = most
        if isinstance(ours.get("sandbox"), dict):
            endpoint.server_sandbox = ours["sandbox"]
    endpoint.runtimes = read_runtimes(endpoint.transport.get("/api/v2/runtimes", timeout_s=10))


def read_runtimes(value: Any) -> dict[str, str]:
    """Return language or alias → version from the answer of GET /api/v2/runtimes.

    The Codeforces package has names of other languages too, and a version that is no compiler's: it
    is used for names that nothing else has.
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
        _configured(endpoint, package, {name: HUGE})
        for name in ("run_timeout", "run_cpu_time", "run_memory_limit")
    )
    body_bytes = None
    try:
        printed, capped = _print(
            endpoint, package, [File("gbx-pad", b"x" * (TRY_BODY_BYTES * 3 // 4))]
        )
    except BodyTooLarge:
        body_bytes = TRY_BODY_BYTES
        printed, capped = _print(endpoint, package)
    # The server drops the whole read that exceeds its limit. A busy server gets several writes of
    # the program in one read and keeps less, so the longest output of three runs counts.
    for _ in range(2 if capped else 0):
        printed = max(printed, _print(endpoint, package)[0], key=len)
    with contextlib.suppress(ValueError):
        machine, libc, fixed = printed.split("\n", 1)[0].split(";")
        endpoint.platform = f"{machine} {libc}"
        endpoint.fixed_addresses = fixed == "1"
    output_chars = max(len(printed), 512) if capped else None
    limits = ServerLimits(run_ms, cpu_ms, memory, output_chars, body_bytes)
    endpoint.limits = replace(
        limits,
        overhead_s=_overhead_s(endpoint, package, output_chars or WANT_OUTPUT_CHARS),
        advice=tuple(_advice(endpoint.url, limits)),
    )
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


def _python(package: Package, program: bytes) -> list[File]:
    return [File("p.py", program, source=True), *package.extra_files(EXTRA_WALL_S)]


def _configured(endpoint: Endpoint, package: Package, huge: dict[str, int]) -> int | None:
    """Return the limit that the refusal of a huge one names; None when it is accepted."""
    try:
        execute(endpoint.transport, package.runtime, _python(package, b"pass"), huge)
    except Refused as refusal:
        number = re.search(r"limit of (\d{1,15})\b", str(refusal))
        if number is None:
            raise Transient(f"{endpoint.url}: refused a small job: {refusal}") from refusal
        return int(number[1])
    return None


def _print(endpoint: Endpoint, package: Package, pad: Sequence[File] = ()) -> tuple[str, bool]:
    """Run the printing program; return its output and whether the server cut it."""
    files = [*_python(package, _PRINTS), *pad]
    run = execute(endpoint.transport, package.runtime, files, {}).run
    if run.status in ("RE", "SG"):
        raise Transient(f"{endpoint.url}: a test program failed there: {run.stderr[-300:]!r}")
    return run.stdout, run.status == "OL"


def _overhead_s(endpoint: Endpoint, package: Package, output_chars: int) -> float:
    """Return the CPU seconds of the launcher: the median of three runs of a tiny program."""
    overheads = []
    for _ in range(3):
        nonce = new_nonce()
        job = job_files(
            nonce,
            ["{python}", "main.py"],
            Limits(),
            files={"main.py": b"print(open(0).read())"},
            output_chars=output_chars,
            only_base64=package.codeforces,
            fixed_addresses=endpoint.fixed_addresses,
        )
        files = [launcher_file(), *job, *package.extra_files(EXTRA_WALL_S)]
        run = execute(endpoint.transport, package.runtime, files, {}).run
        try:
            report = decode_report(run.stdout, nonce)
        except BadReport as error:
            raise Transient(
                f"{endpoint.url}: the launcher does not work there: {error}; "
                f"its stderr: {run.stderr[-300:]!r}"
            ) from error
        if run.cpu_s is not None:
            overheads.append(max(0.0, run.cpu_s - report.cpu_s))
    return min(max(sorted(overheads)[1] if len(overheads) == 3 else 0.05, 0.005), 1.0)
