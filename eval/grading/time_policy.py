"""How long a program may run, and when its run is repeated alone.

     0        0.9   1.0      1.25          × the problem's limit (times the language's scale)
     ├─────────┼─────┼─────────┼──────▶    CPU time used
       in time   repeated alone   over: the sandbox ends it here

CPU time decides. It varies by some per cent under load (8–9 % for memory-bound programs), so a
run near the limit is repeated with nothing beside it, and that run counts. Programs may run to
1.25 × the limit, so that a report can give pass@1 under other limits. Wall time only stops a
program that does not use its CPU.

A run whose memory figure alone is over the limit is repeated alone as well. So is a run of a Python
program that started by fork and came near its memory limit; alone, it starts as it would anywhere.
"""

from __future__ import annotations

import signal
from functools import lru_cache

from gradebox.eval.grading.verdict import Bounds
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.model import MIB, Execution, Limits

RUN_TO = 1.25
NEAR_FROM = 0.9
WALL_FACTOR = 1.5
WALL_EXTRA_S = 3.0
MIN_OUTPUT_BYTES = 16 * MIB
MIN_CPU_S, MAX_CPU_S = 0.001, 60_000.0  # time limits that a sandbox supports, RUN_TO included


def bounds_of(problem: Problem, scale: float = 1.0) -> Bounds:
    """Return the limits that decide a problem's verdicts; `scale` multiplies the time limit."""
    return Bounds(problem.time_limit_s * scale, problem.memory_limit_bytes)


def impossible_limits(problem: Problem, scale: float) -> str | None:
    """Return why no sandbox can run the problem's solutions, None when one can."""
    bounds = bounds_of(problem, scale)
    if not MIN_CPU_S <= bounds.cpu_s <= MAX_CPU_S:
        scaled = "" if scale == 1 else f" ({problem.time_limit_s:g} s times {scale:g})"
        return (
            f"time limit {bounds.cpu_s:g} s{scaled}: {MIN_CPU_S:g} to {MAX_CPU_S:g} s are "
            "possible; correct it, or --time-limit-scale"
        )
    if bounds.memory_bytes < MIB:
        return f"memory limit {bounds.memory_bytes} bytes: 1 MiB at least is needed; correct it"
    return None


def run_limits(bounds: Bounds, expected_bytes: int = 0) -> Limits:
    """Return the limits of a run.

    expected_bytes  size of the expected output. The output may be twice as large plus 1 MiB,
                    and at least 16 MiB
    """
    output_bytes = max(MIN_OUTPUT_BYTES, 2 * expected_bytes + MIB)
    return _run_limits(bounds.cpu_s, bounds.memory_bytes, output_bytes)


@lru_cache(256)
def _run_limits(cpu_s: float, memory_bytes: int, output_bytes: int) -> Limits:
    return Limits(
        cpu_s=cpu_s * RUN_TO,
        wall_s=WALL_FACTOR * cpu_s + WALL_EXTRA_S,
        memory_bytes=memory_bytes,
        output_bytes=output_bytes,
        file_size_bytes=max(Limits.file_size_bytes, output_bytes),
        disk_bytes=max(Limits.disk_bytes, 2 * output_bytes),
    )


def must_run_alone(execution: Execution, bounds: Bounds) -> bool:
    """Return whether other runs could have changed the verdict, so that the run is repeated alone.

    This includes a SIGKILL that no limit explains. One that the machine sent, for example because
    it was short of memory, does not come twice; one that the program caused does. It also includes
    a memory figure over the limit of a run that was not ended for it. The figure covers the pages
    of files that the run was the first to read; after the first run they are in memory.
    """
    if execution.signal == signal.SIGKILL and not execution.killed_for:
        return not execution.limits_hit
    if execution.killed_for == "wall":
        return execution.contended
    if execution.killed_for == "cpu":
        return False
    memory = execution.memory_bytes or 0
    if execution.forked and memory >= NEAR_FROM * bounds.memory_bytes:
        return True
    if execution.killed_for != "memory" and memory > bounds.memory_bytes:
        return True
    return NEAR_FROM * bounds.cpu_s <= execution.cpu_s <= RUN_TO * bounds.cpu_s
