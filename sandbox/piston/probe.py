"""Learns what a server is and allows, and says in words which setting to raise.

`identify` asks who is there (two GETs). `learn` runs a few tiny jobs: limits can't be
queried, but a request beyond one is refused with the limit in the message.
"""

from __future__ import annotations

import contextlib
import json
import re
from typing import Any

from sandbox.model import Limits
from sandbox.piston.answer import read_answer
from sandbox.piston.faults import BodyTooLarge, Refused, Transient
from sandbox.piston.fleet import Endpoint
from sandbox.piston.job import BadReport, decode_report, encode_job
from sandbox.piston.limits import LearntLimits
from sandbox.piston.request import JOB, LAUNCHER, STDIN, File, encode, launcher_source, nonce

STOCK_BODY_BYTES = 102_400
TRY_BODY_BYTES = 150_000
WANT_OUTPUT_CHARS = 1_000_000
HUGE = 10**15  # beyond every configured limit

# Prints 1, 1, 2, 4 … KiB: what is kept of it tells the output limit within a factor of two.
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
    """Fills in version and runtimes; Transient or Refused when no Piston is there."""
    about = endpoint.transport.get("/", timeout_s=10)
    if isinstance(about, dict):
        endpoint.version = str(about.get("message", ""))[:100]
        own = about.get("gradebox")
        endpoint.gradebox = isinstance(own, dict)
        if isinstance(own, dict) and isinstance(own.get("sandbox"), dict):
            endpoint.behind = own["sandbox"]
    endpoint.runtimes = read_runtimes(endpoint.transport.get("/api/v2/runtimes", timeout_s=10))


def read_runtimes(value: Any) -> dict[str, str]:
    """language or alias → version of GET /runtimes."""
    if not isinstance(value, list):
        raise Transient("/api/v2/runtimes did not answer with a list")
    found: dict[str, str] = {}
    for item in value:
        if not isinstance(item, dict) or not isinstance(item.get("language"), str):
            raise Transient("/api/v2/runtimes has an entry without a language")
        version = str(item.get("version", ""))[:60]
        aliases = item.get("aliases")
        found[item["language"]] = version
        for alias in aliases if isinstance(aliases, list) else ():
            found.setdefault(str(alias), version)
    return found


def learn(endpoint: Endpoint, language: str, *, only_base64: bool, extra: list[File]) -> None:
    """Fills in what the endpoint allows to runs in `language` (a Python runtime)."""
    run_ms, cpu_ms, memory = (
        _configured(endpoint, language, name, extra)
        for name in ("run_timeout", "run_cpu_time", "run_memory_limit")
    )
    body_bytes = None
    pad = [File("gbx-pad", b"x" * (TRY_BODY_BYTES * 3 // 4))]
    try:
        said, capped = _prints(endpoint, language, [*extra, *pad])
    except BodyTooLarge:
        body_bytes = TRY_BODY_BYTES
        said, capped = _prints(endpoint, language, extra)
    for _ in range(2 if capped else 0):  # a busy server reads several pieces as one
        again, _ = _prints(endpoint, language, extra)
        said = max(said, again, key=len)
    output_chars = None if not capped else max(len(said), 512)
    with contextlib.suppress(ValueError):
        machine, libc, fixed = said.split("\n", 1)[0].split(";")
        endpoint.platform = f"{machine} {libc}"
        endpoint.fixed_addresses = fixed == "1"
    learnt = LearntLimits(run_ms, cpu_ms, memory, output_chars, body_bytes)
    learnt = LearntLimits(
        run_ms,
        cpu_ms,
        memory,
        output_chars,
        body_bytes,
        overhead_s=_overhead_s(endpoint, language, only_base64, extra, learnt),
        advice=tuple(advice(endpoint.url, learnt)),
    )
    endpoint.learnt = learnt
    endpoint.probed = True


def advice(url: str, learnt: LearntLimits) -> list[str]:
    """Which settings are too small for grading, one line each."""
    lines = []
    for name, value, want in (
        ("PISTON_RUN_TIMEOUT", learnt.run_ms, 60_000),
        ("PISTON_RUN_CPU_TIME", learnt.cpu_ms, 15_000),
        ("PISTON_OUTPUT_MAX_SIZE", learnt.output_chars, WANT_OUTPUT_CHARS),
    ):
        if value is not None and value < want:
            lines.append(f"{url}: {name} is about {value}; raise it to {want} or more (piston.env)")
    if learnt.body_bytes is not None:
        lines.append(
            f"{url}: requests over about {STOCK_BODY_BYTES} bytes are refused; raise the limit of "
            "body_parser.json in the server's src/index.js (docker/piston/Dockerfile does)"
        )
    return lines


def _configured(endpoint: Endpoint, language: str, name: str, extra: list[File]) -> int | None:
    """A configured limit; None when there is none."""
    body = encode(language, "*", [File("p.py", b"pass", source=True), *extra], {name: HUGE})
    try:
        read_answer(endpoint.transport.post("/api/v2/execute", body, 60))
    except BodyTooLarge:
        raise
    except Refused as refusal:
        number = re.search(r"limit of (\d{1,15})\b", str(refusal))
        if number is None:
            raise Transient(f"{endpoint.url}: refused a small job: {refusal}") from refusal
        return int(number[1])
    return None


def _prints(endpoint: Endpoint, language: str, extra: list[File]) -> tuple[str, bool]:
    body = encode(language, "*", [File("p.py", _PRINTS, source=True), *extra], {})
    run = read_answer(endpoint.transport.post("/api/v2/execute", body, 60)).run
    if run.status in ("RE", "SG"):
        raise Transient(f"{endpoint.url}: a test program failed there: {run.stderr[-300:]!r}")
    return run.stdout, run.status == "OL"


def _overhead_s(
    endpoint: Endpoint,
    language: str,
    only_base64: bool,
    extra: list[File],
    learnt: LearntLimits,
) -> float:
    """CPU seconds of the launcher: the server's figure less the program's, of three runs."""
    seen = []
    for _ in range(3):
        mark = nonce()
        job = encode_job(
            mark,
            ["{python}", "main.py"],
            Limits(),
            budget=learnt.output_chars or WANT_OUTPUT_CHARS,
            files=("main.py",),
            only_base64=only_base64,
            fixed_addresses=endpoint.fixed_addresses,
        )
        files = [
            File(LAUNCHER, launcher_source(), source=True),
            File(JOB, job),
            File(STDIN, b""),
            File("gbx-0", b"print(open(0).read())"),
            *extra,
        ]
        run = read_answer(
            endpoint.transport.post("/api/v2/execute", encode(language, "*", files, {}), 60)
        ).run
        try:
            report = decode_report(run.stdout, mark)
        except BadReport as error:
            said = json.dumps(run.stderr[-300:])
            raise Transient(
                f"{endpoint.url}: the launcher does not work there: {error}; it said {said}"
            ) from error
        if run.cpu_s is not None:
            seen.append(max(0.0, run.cpu_s - report.cpu_s))
    return min(max(sorted(seen)[1] if len(seen) == 3 else 0.05, 0.005), 1.0)
