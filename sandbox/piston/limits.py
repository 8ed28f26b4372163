"""A server's limits, learnt by asking, and what of a run's limits can be sent to it.

Limits of the run + LearntLimits of the server ─▶ Sent (what the request says)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sandbox.model import MIB, Limits

# What the launcher, its interpreter and the server's shells use beside the program.
LAUNCHER_BYTES = 24 * MIB
COMPILER_BYTES = 1024 * MIB
# The server's wall clock also runs while the program waits for a core: several times more.
WALL_FACTOR, WALL_EXTRA_S = 2.0, 10.0

SETTING = {
    "run_timeout": "PISTON_RUN_TIMEOUT",
    "run_cpu_time": "PISTON_RUN_CPU_TIME",
    "run_memory_limit": "PISTON_RUN_MEMORY_LIMIT",
    "output": "PISTON_OUTPUT_MAX_SIZE",
}


@dataclass(frozen=True)
class LearntLimits:
    """What a server allows; None: not limited, or not known to be.

    run_ms, cpu_ms   wall and CPU time of a run, milliseconds
    memory_units     memory of a run in the server's bytes (it counts a KiB as 1000)
    output_chars     characters of stdout that are known to come through, and whether more
                     was refused (`output_known`)
    body_bytes       a request of this size was refused
    overhead_s       CPU seconds the launcher itself takes
    """

    run_ms: int | None = None
    cpu_ms: int | None = None
    memory_units: int | None = None
    output_chars: int | None = None
    body_bytes: int | None = None
    overhead_s: float = 0.05
    advice: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Sent:
    """The limits a request carries, and which of them are smaller than the run's own.

    cpu_s, wall_s, memory_bytes  what the server will enforce (None: nothing)
    allowance_s, launcher_bytes  what the launcher may use beside the program
    short   names of SETTING whose configured value is too small for this run
    """

    fields: dict[str, int]
    cpu_s: float
    wall_s: float
    memory_bytes: int
    allowance_s: float
    launcher_bytes: int = LAUNCHER_BYTES
    short: tuple[str, ...] = ()


def allowance(learnt: LearntLimits, carried_bytes: int) -> float:
    """CPU seconds the launcher may take beside the program: its start, and 10 ns a byte."""
    return 1.5 * learnt.overhead_s + 0.02 + carried_bytes * 1e-8


def plan_limits(
    limits: Limits, learnt: LearntLimits, carried_bytes: int, build_cpu_s: float = 0.0
) -> Sent:
    """What to send: the run's limits with room for the launcher, within the server's.

    build_cpu_s  CPU seconds of a compilation in the same box, before the run
    0 would mean unlimited and -1 is refused, so neither is ever sent.
    """
    allowed = allowance(learnt, carried_bytes) + 1.5 * build_cpu_s
    launcher_bytes = LAUNCHER_BYTES + (COMPILER_BYTES if build_cpu_s else 0)
    cpu_ms = math.ceil((limits.cpu_s + allowed) * 1000)
    wall_ms = math.ceil((limits.wall_s * WALL_FACTOR + WALL_EXTRA_S) * 1000)
    units = math.ceil((limits.memory_bytes + launcher_bytes) / 1024) * 1000
    short = []
    wanted = {"run_timeout": wall_ms, "run_cpu_time": cpu_ms, "run_memory_limit": units}
    caps = {
        "run_timeout": learnt.run_ms,
        "run_cpu_time": learnt.cpu_ms,
        "run_memory_limit": learnt.memory_units,
    }
    for name, value in wanted.items():
        cap = caps[name]
        if cap is not None and value > cap:
            wanted[name] = cap
            short.append(name)
    return Sent(
        fields=wanted,
        cpu_s=wanted["run_cpu_time"] / 1000,
        wall_s=wanted["run_timeout"] / 1000,
        memory_bytes=wanted["run_memory_limit"] * 1024 // 1000,
        allowance_s=allowed,
        launcher_bytes=launcher_bytes,
        short=tuple(short),
    )
