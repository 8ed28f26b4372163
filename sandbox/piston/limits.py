"""The limits a server allows, and the limits that a run's request carries.

Limits of the run + ServerLimits ──plan_limits──▶ SentLimits
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gradebox.sandbox.errors import Refused
from gradebox.sandbox.model import MIB, Limits

COMPILE_LIMITS = Limits(
    cpu_s=30, wall_s=60, memory_bytes=2048 * MIB, output_bytes=256 * MIB, processes=64
)

# The environment variable of a Piston server that sets each limit.
SETTING = {
    "run_timeout": "PISTON_RUN_TIMEOUT",
    "run_cpu_time": "PISTON_RUN_CPU_TIME",
    "run_memory_limit": "PISTON_RUN_MEMORY_LIMIT",
    "output": "PISTON_OUTPUT_MAX_SIZE",
}


def limit_too_small(name: str, actual: str, needed: str) -> Refused:
    """Return the error of a run that needs more than a server's limit, a key of SETTING."""
    return Refused(
        f"the Piston server's {SETTING[name]} ({actual}) is too small for this run, "
        f"which needs {needed}: raise it (piston.env) and restart the server",
        limit=name,
    )


# Memory and CPU time of the launcher, its interpreter, its starter and the server's shells.
# Measured: 0.022 s in the package python, 0.041 s in codeforces; Node and Ruby take 0.06 s more.
LAUNCHER_BYTES = 24 * MIB
LAUNCHER_CPU_S = 0.1
# The server's wall clock also runs while the program waits for a core.
WALL_FACTOR, WALL_EXTRA_S = 2.0, 10.0


@dataclass(frozen=True)
class ServerLimits:
    """What a server was found to allow; None means that no limit was found.

    run_ms, cpu_ms   wall and CPU time of a run, in milliseconds
    memory_units     memory of a run in the server's bytes (it counts a KiB as 1000)
    output_chars     characters of stdout that are known to come through
    body_bytes       a request of this size was refused
    advice           lines for people: settings to raise
    """

    run_ms: int | None = None
    cpu_ms: int | None = None
    memory_units: int | None = None
    output_chars: int | None = None
    body_bytes: int | None = None
    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class SentLimits:
    """The limits of one request.

    fields       as Piston names them
    cpu_s, wall_s, memory_bytes  the same, in our units: what the server enforces
    allowance_s, launcher_bytes  CPU time and memory granted to the launcher
    short        names of fields that the server caps below what this run needs
    """

    fields: dict[str, int]
    cpu_s: float
    wall_s: float
    memory_bytes: int
    allowance_s: float
    launcher_bytes: int = LAUNCHER_BYTES
    short: tuple[str, ...] = ()


def carrying_s(count: int) -> float:
    """Return the CPU seconds that the launcher may use for carrying bytes: 10 ns for each."""
    return count * 1e-8


def plan_limits(
    limits: Limits, server: ServerLimits, carried_bytes: int, starter_bytes: int = 0
) -> SentLimits:
    """Return the limits to send: those of the run plus the launcher's, capped by the server's.

    starter_bytes  memory of what waits beside the launcher

    Every limit is over 0: Piston takes 0 for unlimited and refuses -1.
    """
    allowance_s = LAUNCHER_CPU_S + carrying_s(carried_bytes)
    launcher_bytes = LAUNCHER_BYTES + starter_bytes
    wanted = {
        "run_timeout": math.ceil((limits.wall_s * WALL_FACTOR + WALL_EXTRA_S) * 1000),
        "run_cpu_time": math.ceil((limits.cpu_s + allowance_s) * 1000),
        "run_memory_limit": math.ceil((limits.memory_bytes + launcher_bytes) / 1024) * 1000,
    }
    caps = (server.run_ms, server.cpu_ms, server.memory_units)
    fields = {
        name: value if cap is None else min(value, cap)
        for (name, value), cap in zip(wanted.items(), caps, strict=True)
    }
    return SentLimits(
        fields=fields,
        cpu_s=fields["run_cpu_time"] / 1000,
        wall_s=fields["run_timeout"] / 1000,
        memory_bytes=fields["run_memory_limit"] * 1024 // 1000,
        allowance_s=allowance_s,
        launcher_bytes=launcher_bytes,
        short=tuple(name for name, value in fields.items() if value < wanted[name]),
    )
