"""From what a server and its launcher said to an `Execution`: one pure function.

The launcher speaks from inside the box, where the program could forge it. So the
server's figures bound it: CPU time is the server's, less what a launcher may cost at
most; memory is never less than the server's, less the launcher's own.
"""

from __future__ import annotations

import signal

from sandbox.model import Execution, LimitName, Limits
from sandbox.piston.answer import Stage
from sandbox.piston.faults import Refused, Transient
from sandbox.piston.job import Report
from sandbox.piston.limits import SETTING, Sent

NEAR = 0.97  # the kernel kills a little below the limit


class LimitTooSmall(Refused):
    """A setting of the server is smaller than this run needs; the message names it."""

    def __init__(self, name: str, had: str, needed: str) -> None:
        self.name = name
        super().__init__(
            f"the Piston server's {SETTING[name]} ({had}) is too small for this run, "
            f"which needs {needed}: raise it (piston.env) and restart the server"
        )


class Tampered(Transient):
    """The launcher's report is missing or damaged: the transport, the server, or forgery.

    forged  the server carries a trusted program's output of that size, so the program
            itself is the likely cause; when it stays so, it is treated as killed
    """

    forged: bool = False
    stage: Stage | None = None


def execution(
    stage: Stage, report: Report | None, limits: Limits, sent: Sent, *, contended: bool
) -> Execution:
    """The evidence of one run.

    `report` None: the launcher's last line never came. Raises LimitTooSmall when the
    server's own limit ended what this run allows, Transient when the launcher failed.
    """
    if report is None:
        return _without_report(stage, limits, sent, contended)
    if report.why == "compile":
        raise Transient(f"it compiled before and does not now: {report.stderr[:200]!r}")
    if report.why == "short":
        raise LimitTooSmall("output", "learnt", f"{report.stdout_bytes} bytes of stdout")
    cpu_s = reconcile_cpu(stage.cpu_s, report.cpu_s, sent.allowance_s)
    memory = report.memory_bytes
    if stage.memory_bytes is not None:
        memory = max(memory, stage.memory_bytes - sent.launcher_bytes)
    killed_for: LimitName | None = None
    if report.why in ("output", "wall"):
        killed_for = "output" if report.why == "output" else "wall"
    elif report.signal == signal.SIGKILL and _at_memory_limit(stage, memory, limits, sent):
        killed_for = "memory"
    elif report.signal == signal.SIGXFSZ:
        killed_for = "file_size"
    hit: set[LimitName] = {killed_for} if killed_for else set()
    if cpu_s > limits.cpu_s:
        hit.add("cpu")
    if memory > limits.memory_bytes:
        hit.add("memory")
    return Execution(
        exit_code=report.exit_code,
        signal=report.signal,
        cpu_s=cpu_s,
        wall_s=report.wall_s,
        memory_bytes=memory,
        stdout=report.stdout[: limits.output_bytes],
        stderr=report.stderr[: limits.stderr_bytes],
        stdout_bytes=report.stdout_bytes,
        stdout_cut=report.stdout_bytes > limits.output_bytes,
        stderr_cut=report.stderr_bytes > len(report.stderr),
        killed_for=killed_for,
        limits_hit=frozenset(hit),
        files=report.files,
        contended=contended,
    )


def forged_execution(stage: Stage, limits: Limits, sent_cpu_s: float = 0.0) -> Execution:
    """The evidence of a program that again and again spoils its launcher's report.

    It is its own doing, so it counts as killed: for its output when that was too much.
    """
    flood = stage.status in ("OL", "EL")
    return Execution(
        exit_code=None,
        signal=int(signal.SIGKILL),
        cpu_s=max(0.0, (stage.cpu_s or 0.0) - sent_cpu_s),
        wall_s=stage.wall_s or 0.0,
        memory_bytes=stage.memory_bytes,
        stderr=b"the program interfered with the launcher that reports its output",
        stdout_cut=True,
        killed_for="output" if flood else None,
        limits_hit=frozenset({"output"} if flood else ()),
    )


def reconcile_cpu(server_s: float | None, reported_s: float, allowance_s: float) -> float:
    """CPU seconds of the program: the report's, unless the server's deny it.

    The server counts the launcher too, at most `allowance_s`; anything more is the
    program's (children nobody waited for, or a forged report).
    """
    if server_s is None:
        return reported_s
    return max(min(reported_s, server_s), server_s - allowance_s)


def _at_memory_limit(stage: Stage, memory: int, limits: Limits, sent: Sent) -> bool:
    if stage.memory_bytes is None:
        return memory >= limits.memory_bytes * NEAR
    return stage.memory_bytes >= sent.memory_bytes * NEAR


def _timed_out(stage: Stage, cpu_s: float, limits: Limits, sent: Sent) -> LimitName:
    """Which of the limits that were sent ended it; LimitTooSmall when a smaller one did.

    A server may cap limits without a word: what ended it before its time was not ours.
    """
    by_cpu = stage.cpu_s is not None and stage.cpu_s >= sent.cpu_s * NEAR
    name = "run_cpu_time" if by_cpu else "run_timeout"
    wanted_s = limits.cpu_s if by_cpu else limits.wall_s
    had_s = sent.cpu_s if by_cpu else sent.wall_s
    enough = cpu_s >= wanted_s if by_cpu else had_s >= wanted_s
    if name in sent.short and not enough:
        raise LimitTooSmall(name, f"{had_s:g} s", f"{wanted_s:g} s")
    if not by_cpu and (stage.wall_s or 0.0) < sent.wall_s * NEAR:
        wall_s, spun_s = stage.wall_s or 0.0, stage.cpu_s or 0.0
        spun = spun_s > wall_s / 2
        name, asked_s = ("run_cpu_time", sent.cpu_s) if spun else ("run_timeout", sent.wall_s)
        had = f"it ended the run after {wall_s:g} s, {spun_s:g} s of them CPU"
        raise LimitTooSmall(name, had, f"the {asked_s:g} s that were asked for")
    return "cpu" if by_cpu else "wall"


def _without_report(stage: Stage, limits: Limits, sent: Sent, contended: bool) -> Execution:
    """The launcher was killed, or never started: what the server alone says."""
    cpu_s = 0.0 if stage.cpu_s is None else max(0.0, stage.cpu_s - sent.allowance_s)
    memory = None
    if stage.memory_bytes is not None:
        memory = max(0, stage.memory_bytes - sent.launcher_bytes)
    killed_for: LimitName | None = None
    if stage.status == "TO":
        killed_for = _timed_out(stage, cpu_s, limits, sent)
    elif stage.memory_bytes is not None and stage.memory_bytes >= sent.memory_bytes * NEAR:
        killed_for = "memory"
        if "run_memory_limit" in sent.short and sent.memory_bytes < limits.memory_bytes:
            had, needs = sent.memory_bytes, limits.memory_bytes + sent.launcher_bytes
            raise LimitTooSmall("run_memory_limit", f"{had} bytes", f"{needs} bytes")
    else:
        raise Tampered(
            f"the launcher's report is not whole (status {stage.status}, code {stage.code}, "
            f"signal {stage.signal}): {stage.stderr[-200:]!r}"
        )
    if killed_for == "cpu":
        cpu_s = max(cpu_s, limits.cpu_s)
    hit: frozenset[LimitName] = frozenset({killed_for} if killed_for else ())
    return Execution(
        exit_code=None,
        signal=int(signal.SIGKILL),
        cpu_s=cpu_s,
        wall_s=stage.wall_s or 0.0,
        memory_bytes=memory,
        stdout_cut=True,
        stderr_cut=True,
        killed_for=killed_for,
        limits_hit=hit,
        contended=contended,
    )
