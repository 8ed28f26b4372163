"""The evidence of a run on a stock Piston: server figures + launcher report → Execution. Pure.

The launcher reports from inside the box, where the program could forge its report. So the
server's figures bound it. CPU time is at least the server's less the launcher's allowance.
Memory is at least the server's less the launcher's own.
"""

from __future__ import annotations

import signal
from dataclasses import replace

from gradebox.sandbox.errors import Transient
from gradebox.sandbox.model import Execution, LimitName, Limits
from gradebox.sandbox.piston.execute import Stage
from gradebox.sandbox.piston.launcher import MAGIC, Report
from gradebox.sandbox.piston.limits import SentLimits, limit_too_small

NEAR = 0.97  # the kernel kills a little below the limit
# Exit codes of Python for an error before the program's start, and of a shell without a python3;
# after the start the launcher itself never exits with one of them.
NOT_STARTED = (1, 126, 127)


def execution(stage: Stage, report: Report, limits: Limits, sent: SentLimits) -> Execution:
    """Return the evidence of one run; raise Refused when the server can't carry its output."""
    if report.why == "short":
        size = report.stdout_bytes
        needed = f"{size} bytes of stdout" if size else "more, as for a compiled program"
        raise limit_too_small("output", "found by trying", needed)
    cpu_s = reconcile_cpu(stage.cpu_s, report.cpu_s, sent.allowance_s)
    memory = report.memory_bytes
    if stage.memory_bytes is not None:
        memory = max(memory, stage.memory_bytes - sent.launcher_bytes)
    killed_for: LimitName | None = None
    if report.why == "output" or report.why == "wall":
        killed_for = report.why
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
