"""The launcher's side of a run: the files it is given, the report it prints, and its evidence.

gbx-launch.py   the launcher (box_launcher.py)
gbx-start       what starts it where the package runs no Python (packages.py)
gbx-job         what it is to do
gbx-stdin       the program's standard input
gbx-program     the program's binary, gzipped, when it is compiled
gbx-0, gbx-1 …  the program's other files; the launcher gives them their names

The frames of the report are documented in box_launcher.py.
"""

from __future__ import annotations

import base64
import functools
import signal
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple, cast, get_args

from gradebox.sandbox.errors import BadRequest, Transient
from gradebox.sandbox.model import Execution, LimitName, Limits
from gradebox.sandbox.piston.execute import SentFile, SentLimits, Stage, limit_too_small
from gradebox.sandbox.piston.packages import LAUNCHER, STARTERS

OWN = "gbx-"  # begins the names of files of ours
JOB, STDIN, PROGRAM = f"{OWN}job", f"{OWN}stdin", f"{OWN}program"
BINARY = "main"  # the program's binary, once the launcher has unpacked it
MAGIC = "GBX1 "  # a report begins with this and its request's nonce

Why = Literal["-", "output", "wall", "short"]


class Report(NamedTuple):
    """What the launcher reported of the program.

    It comes from inside the box, so the server's figures bound it.

    execution  its output is whole, as far as the launcher carries it
    why        "-" the program ended by itself; "output", "wall" the launcher killed it for that
               limit; "short" the server's output limit is too small for its output
    """

    execution: Execution
    why: Why


def check_names(names: Sequence[str]) -> None:
    """Raise BadRequest for a file name that is not plain, or that the launcher uses itself."""
    for name in names:
        if not name or name in (".", "..") or "/" in name or "\0" in name or len(name) > 200:
            raise BadRequest(
                f"file name {name[:80]!r} is not a plain name: 1 to 200 characters, no / and no NUL"
            )
        if name.startswith(OWN):
            raise BadRequest(f"file name {name!r} is the launcher's own; begin it without {OWN}")


@functools.lru_cache(maxsize=1)
def _launcher() -> bytes:
    return Path(__file__).with_name("box_launcher.py").read_bytes()


def launcher_files(runtime: str) -> list[SentFile]:
    """Return the launcher, and before it what starts it in a box of this runtime."""
    starter = STARTERS.get(runtime)
    if starter is None:
        return [SentFile(LAUNCHER, _launcher(), source=True)]
    return [starter, SentFile(LAUNCHER, _launcher())]


def job_files(
    nonce: str,
    argv: Sequence[str],
    limits: Limits,
    *,
    stdin: bytes = b"",
    files: Mapping[str, bytes],
    collect: Sequence[str] = (),
    output_chars: int,
    fixed_addresses: bool,
) -> list[SentFile]:
    """Return the files that tell a launcher what to run, the launcher itself left out.

    nonce            a random word that tells one request's report from another's
    argv             the command; `{python}` stands for the interpreter of the box
    files            real names and contents; they travel under names no package reacts to
    output_chars     characters of stdout the server can carry
    fixed_addresses  turn off address space randomisation
    """
    numbers = (
        limits.output_bytes,
        limits.stderr_bytes,
        output_chars,
        int(limits.wall_s * 1000),
        limits.processes,
        limits.open_files,
        limits.file_size_bytes,
        int(fixed_addresses),
        len(argv),
        len(files),
    )
    fields = [nonce, " ".join(map(str, numbers)), *argv, *files, *collect]
    job = b"\0".join(f.encode("utf-8", "surrogateescape") for f in fields)
    numbered = (SentFile(f"gbx-{i}", content) for i, content in enumerate(files.values()))
    return [SentFile(JOB, job), SentFile(STDIN, stdin), *numbered]


def decode_report(text: str, nonce_text: str) -> Report:
    """Read the frames of a run.

    Raises ValueError when they are not complete, or damaged by the transport or by a program that
    forged frames.
    """
    data, nonce = text.encode("utf-8", "replace"), nonce_text.encode()
    head = MAGIC.encode() + nonce + b"\n"
    if not data.startswith(head):
        raise ValueError("no report at the start of the output")
    out, err = bytearray(), bytearray()
    files: dict[str, bytes] = {}
    at = len(head)
    while True:
        end = data.find(b"\n", at)
        if end < 0:
            raise ValueError("the report ends in the middle")
        kind, *words = data[at:end].split() or [b""]
        if kind == b"Z":
            return _last_line(words, nonce, bytes(out), bytes(err), files)
        if not words or not words[-1].isdigit():
            raise ValueError("a frame has no size")
        size = int(words[-1])
        body = data[end + 1 : end + 1 + size]
        at = end + 2 + size
        if len(body) != size or data[at - 1 : at] != b"\n":
            raise ValueError("a frame is shorter than its stated size")
        if kind == b"B":
            out += base64.b64decode(body, validate=True)
        elif kind == b"E":
            err += base64.b64decode(body, validate=True)
        elif kind == b"F" and len(words) == 2:
            name = bytes.fromhex(words[0].decode("ascii")).decode("utf-8", "surrogateescape")
            files[name] = base64.b64decode(body, validate=True)
        else:
            raise ValueError("a frame is of unknown kind")


def _last_line(
    words: list[bytes], nonce: bytes, out: bytes, err: bytes, files: dict[str, bytes]
) -> Report:
    if len(words) != 9 or words[0] != nonce:
        raise ValueError("the last line is not the launcher's")
    code, sig, cpu_us, rss_kib, stdout_bytes, stderr_bytes, wall_us = map(int, words[1:8])
    why = words[8].decode("ascii", "replace")
    if why not in get_args(Why) or min(cpu_us, rss_kib, wall_us) < 0:
        raise ValueError("the last line holds a value that no launcher prints")
    if why == "-" and len(out) != stdout_bytes:
        raise ValueError(f"the program printed {stdout_bytes} bytes and {len(out)} arrived")
    found = Execution(
        exit_code=None if code < 0 else code,
        signal=sig if sig > 0 else None,
        cpu_s=cpu_us / 1e6,
        wall_s=wall_us / 1e6,
        memory_bytes=rss_kib * 1024,
        stdout=out,
        stderr=err,
        stdout_bytes=stdout_bytes,
        stderr_cut=stderr_bytes > len(err),
        files=files,
    )
    return Report(found, cast("Why", why))


# ---- the evidence: server figures + report → Execution. Pure ----
# The launcher reports from inside the box, where the program could forge its report. So the
# server's figures bound it. CPU time is at least the server's less the launcher's allowance. Memory
# is at least the server's less the launcher's own.

NEAR = 0.97  # the kernel kills a little below the limit
# Exit codes of Python for an error before the program's start, and of a shell without a python3;
# after the start the launcher itself never exits with one of them.
NOT_STARTED = (1, 126, 127)


def evidence_of(stage: Stage, report: Report, limits: Limits, sent: SentLimits) -> Execution:
    """Return the evidence of one run; raise Refused when the server can't carry its output."""
    found, why = report
    if why == "short":
        size = found.stdout_bytes
        needed = f"{size} bytes of stdout" if size else "more, as for a compiled program"
        raise limit_too_small("output", "found by trying", needed)
    cpu_s = reconcile_cpu(stage.cpu_s, found.cpu_s, sent.allowance_s)
    memory = found.memory_bytes or 0
    if stage.memory_bytes is not None:
        memory = max(memory, stage.memory_bytes - sent.launcher_bytes)
    killed_for: LimitName | None = None
    if why == "output" or why == "wall":
        killed_for = why
    elif found.signal == signal.SIGKILL and _at_memory_limit(stage, memory, limits, sent):
        killed_for = "memory"
    elif found.signal == signal.SIGXFSZ:
        killed_for = "file_size"
    hit: set[LimitName] = {killed_for} if killed_for else set()
    if cpu_s > limits.cpu_s:
        hit.add("cpu")
    if memory > limits.memory_bytes:
        hit.add("memory")
    return replace(
        found,
        cpu_s=cpu_s,
        memory_bytes=memory,
        stdout=found.stdout[: limits.output_bytes],
        stderr=found.stderr[: limits.stderr_bytes],
        stdout_cut=found.stdout_bytes > limits.output_bytes,
        killed_for=killed_for,
        limits_hit=frozenset(hit),
    )


def _killed(
    stage: Stage, killed_for: LimitName | None, cpu_s: float, memory_bytes: int | None
) -> Execution:
    """Return the evidence of a program that was killed with its launcher; its output is lost.

    Output that is lost without a limit does not count as cut: nothing shows that it was too large.
    """
    return Execution(
        exit_code=None,
        signal=int(signal.SIGKILL),
        cpu_s=cpu_s,
        wall_s=stage.wall_s or 0.0,
        memory_bytes=memory_bytes,
        stdout_cut=killed_for is not None,
        stderr_cut=True,
        killed_for=killed_for,
        limits_hit=frozenset({killed_for} if killed_for else ()),
    )


def reconcile_cpu(server_s: float | None, reported_s: float, allowance_s: float) -> float:
    """Return the CPU seconds of the program: the reported ones within the server's bounds.

    The server's figure includes the launcher, at most `allowance_s`. The rest belongs to the
    program: children it never waited for, or a forged report.
    """
    if server_s is None:
        return reported_s
    return max(min(reported_s, server_s), server_s - allowance_s)


def _at_memory_limit(stage: Stage, memory: int, limits: Limits, sent: SentLimits) -> bool:
    if stage.memory_bytes is None:
        return memory >= limits.memory_bytes * NEAR
    return stage.memory_bytes >= sent.memory_bytes * NEAR


def without_report(stage: Stage, nonce: str, limits: Limits, sent: SentLimits) -> Execution:
    """Return the evidence from the server alone: the report is missing or damaged.

    Raises Refused when a limit of the server ended what this run allows, Transient when the
    launcher did not start or its report was lost on the way, and Transient with evidence when the
    program ended the launcher or damaged its report. No program can take a report away: the
    launcher's stdout is a socket.
    """
    cpu_s = 0.0 if stage.cpu_s is None else max(0.0, stage.cpu_s - sent.allowance_s)
    memory = stage.memory_bytes
    killed_for: LimitName
    if stage.stdout.startswith(MAGIC) and nonce not in stage.stdout:
        raise Transient("the answer belongs to another request")
    if stage.status == "TO":
        killed_for = _time_limit(stage, cpu_s, limits, sent)
        if killed_for == "cpu":
            cpu_s = max(cpu_s, limits.cpu_s)
    elif memory is not None and memory >= sent.memory_bytes * NEAR:
        killed_for = "memory"
        if "run_memory_limit" in sent.short and sent.memory_bytes < limits.memory_bytes:
            needed = limits.memory_bytes + sent.launcher_bytes
            raise limit_too_small(
                "run_memory_limit", f"{sent.memory_bytes} bytes", f"{needed} bytes"
            )
    elif stage.status is None and f"Z {nonce} " not in stage.stdout:
        raise Transient("the end of the launcher's report was lost")
    elif stage.code in NOT_STARTED:
        raise Transient(f"the launcher does not work there: {stage.stderr[-300:]!r}")
    else:
        raise _tampered(stage)
    if memory is not None:
        memory = max(0, memory - sent.launcher_bytes)
    return _killed(stage, killed_for, cpu_s, memory)


def _tampered(stage: Stage) -> Transient:
    """Return the fault of a program that ended the launcher or damaged its report.

    As evidence it counts as killed: by the signal that the server saw, or, where it saw none, by
    SIGKILL.
    """
    killed_for: LimitName | None = "output" if stage.status in ("OL", "EL") else None
    killed = _killed(stage, killed_for, stage.cpu_s or 0.0, stage.memory_bytes)
    code = stage.code or 0
    by_shell = code - 128 if 128 < code < 128 + signal.NSIG else None
    words = (
        "the program ended the launcher or damaged its report; the server saw status "
        f"{stage.status or 'none'}, exit code {stage.code}, signal {stage.signal}"
    )
    number = stage.signal or by_shell or int(signal.SIGKILL)
    fault = Transient(words)
    fault.server_failed = False
    fault.evidence = replace(killed, signal=number, stderr=words.encode(), stderr_cut=False)
    return fault


def _time_limit(stage: Stage, cpu_s: float, limits: Limits, sent: SentLimits) -> LimitName:
    """Return which limit ended the run; raise Refused when it was one of the server's.

    A server may cap limits silently: then the run ended before the time that was asked for.
    """
    wall_s, server_cpu_s = stage.wall_s or 0.0, stage.cpu_s or 0.0
    by_cpu = server_cpu_s >= sent.cpu_s * NEAR
    if by_cpu:
        if "run_cpu_time" in sent.short and cpu_s < limits.cpu_s:
            raise limit_too_small("run_cpu_time", f"{sent.cpu_s:g} s", f"{limits.cpu_s:g} s")
        return "cpu"
    if "run_timeout" in sent.short and sent.wall_s < limits.wall_s:
        raise limit_too_small("run_timeout", f"{sent.wall_s:g} s", f"{limits.wall_s:g} s")
    if wall_s < sent.wall_s * NEAR:
        spinning = server_cpu_s > wall_s / 2
        name, asked_s = ("run_cpu_time", sent.cpu_s) if spinning else ("run_timeout", sent.wall_s)
        actual = f"it ended the run after {wall_s:g} s, {server_cpu_s:g} s of them CPU"
        raise limit_too_small(name, actual, f"the {asked_s:g} s that were asked for")
    return "wall"
