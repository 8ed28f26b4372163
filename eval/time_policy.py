"""How long a program may run, and when one run is not enough to say so.

     0        0.9   1.0      1.25          × the problem's limit (times the language's scale)
     ├─────────┼─────┼─────────┼──────▶    CPU time used
       in time  run again alone  over: the sandbox ends it here

CPU time decides. It moves by some per cent under load (8–9 % for memory-bound programs),
so a run near the limit is done again with nothing beside it and that run counts. Programs
may go on to 1.25 × so that a report can tell pass@1 under other limits. Wall time only
stops what does not use its CPU.
"""

from __future__ import annotations

import signal

from eval.model import Problem
from eval.verdict import Bounds
from sandbox.model import MIB, Execution, Limits

RUN_TO = 1.25
NEAR_FROM = 0.9
WALL_FACTOR = 3.0
WALL_EXTRA_S = 2.0
OUTPUT_FLOOR_BYTES = 16 * MIB
LEAST_CPU_S, MOST_CPU_S = 0.001, 60_000.0  # what a sandbox can be asked for, RUN_TO included


def bounds_of(problem: Problem, scale: float = 1.0) -> Bounds:
    """What the verdicts of a problem are given by; `scale` multiplies the time limit."""
    return Bounds(problem.time_limit_s * scale, problem.memory_limit_bytes)


def impossible_limits(problem: Problem, scale: float) -> str | None:
    """Why no sandbox can run the problem's solutions, None when it can."""
    bounds = bounds_of(problem, scale)
    if not LEAST_CPU_S <= bounds.cpu_s <= MOST_CPU_S:
        scaled = "" if scale == 1 else f" ({problem.time_limit_s:g} s times {scale:g})"
        return (
            f"time limit {bounds.cpu_s:g} s{scaled}: {LEAST_CPU_S:g} to {MOST_CPU_S:g} s are "
            "possible; correct it, or --time-limit-scale"
        )
    if bounds.memory_bytes < MIB:
        return f"memory limit {bounds.memory_bytes} bytes: 1 MiB at least is needed; correct it"
    return None


def run_limits(bounds: Bounds, expected_bytes: int = 0) -> Limits:
    """What a run is given. Output may be twice the expected one, and 16 MiB at least."""
    output_bytes = max(OUTPUT_FLOOR_BYTES, 2 * expected_bytes + MIB)
    return Limits(
        cpu_s=bounds.cpu_s * RUN_TO,
        wall_s=WALL_FACTOR * bounds.cpu_s + WALL_EXTRA_S,
        memory_bytes=bounds.memory_bytes,
        output_bytes=output_bytes,
        file_size_bytes=max(Limits.file_size_bytes, output_bytes),
        disk_bytes=max(Limits.disk_bytes, 2 * output_bytes),
    )


def must_run_alone(execution: Execution, bounds: Bounds) -> bool:
    """Whether load could have changed the verdict, so that the case runs again alone.

    So does a run that SIGKILL ended and no limit explains: somebody else's kill, such as that
    of a machine short of memory, does not come twice, a program's own does.
    """
    if execution.signal == signal.SIGKILL and not execution.killed_for:
        return not execution.limits_hit
    if execution.killed_for == "wall":
        return execution.contended
    if execution.killed_for == "cpu":
        return False
    return NEAR_FROM * bounds.cpu_s <= execution.cpu_s <= RUN_TO * bounds.cpu_s
