"""A row of the hostile suite: one attack and what must come out of it.

    Attack("exhaust cpu_unwaited", "CPU time in children nobody waits for", "cpu", alone="held")
            program  its name       what it tries                            full    no group

What must come out ("want"): one of these words, or several separated by "|"
    held        the program itself says that nothing of what it tried worked, and exits 0
    ends        it ends by itself, however; it said nothing of a breach
    crash       a signal ended it
    cpu wall memory output processes disk file_size    it was stopped for that limit
    open        nothing is promised at this level: it is not run
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.model import MIB, Execution, LimitName, Limits

PROGRAMS = Path(__file__).parent / "programs"
GROUPED = ("full", "delegated")
LIMITS = Limits(
    cpu_s=0.2,
    wall_s=0.4,
    memory_bytes=64 * MIB,
    output_bytes=8 * MIB,
    processes=24,
    stderr_bytes=4096,
    open_files=64,
    file_size_bytes=32 * MIB,
    disk_bytes=48 * MIB,
)
FAR_CPU_S, FAR_WALL_S = 10.0, 60.0
KILLS: tuple[LimitName, ...] = (
    "cpu",
    "wall",
    "memory",
    "output",
    "processes",
    "disk",
    "file_size",
)


@dataclass(frozen=True)
class Attack:
    """One program, one attempt.

    run       program and attack's name
    tries     what it tries, in words for the guarantees table
    want      what must come out where a control group counts the run
    alone     the same without a group (userns, landlock, none); empty: as `want`
    landlock, none   the same at these levels; empty: as `alone`
    argument  {secret}, {grader}, {socket}, {abstract} are filled in
    collect   files asked for
    hits      a limit that must be among those hit where a group counts
    """

    run: str
    tries: str
    want: str = "held"
    alone: str = ""
    landlock: str = ""
    none: str = ""
    argument: str = ""
    collect: tuple[str, ...] = ()
    limits: Limits = LIMITS
    hits: LimitName | None = None

    @property
    def program(self) -> str:
        return self.run.split()[0]

    @property
    def name(self) -> str:
        return self.run.split()[1]

    def wanted(self, level: str) -> str:
        """What must come out at a level."""
        if level in GROUPED:
            return self.want
        alone = self.alone or self.want
        if level == "landlock":
            return self.landlock or alone
        return (self.none or self.landlock or alone) if level == "none" else alone

    def limits_at(self, level: str) -> Limits:
        """Its limits, those of time far away where time is not what must end it: what is
        promised holds on a slow and busy machine as well, where everything takes long."""
        wanted = self.wanted(level).split("|")
        return replace(
            self.limits,
            cpu_s=self.limits.cpu_s if "cpu" in wanted else FAR_CPU_S,
            wall_s=self.limits.wall_s if "wall" in wanted else FAR_WALL_S,
        )

    def came_out(self, seen: Execution) -> str:
        """The word for what came out; "BREACH …" when the attack says that it got through."""
        for line in seen.stdout[:4096].splitlines():
            if line.startswith(b"BREACH"):
                return line.decode(errors="replace")
        if seen.killed_for in KILLS:
            return str(seen.killed_for)
        if seen.signal is not None:
            return "crash"
        return "held" if b"held" in seen.stdout[:64] and seen.exit_code == 0 else "ends"

    def complaint(self, level: str, seen: Execution, secret: bytes) -> str:
        """What differs from what must come out, or nothing."""
        came_out, wanted = self.came_out(seen), self.wanted(level).split("|")
        if "BREACH" in came_out:
            return came_out
        if came_out not in wanted and "ends" not in wanted:
            return f"{came_out}, not {' or '.join(wanted)} ({shown(seen)})"
        if "ends" in wanted and came_out not in (*wanted, "held", "crash"):
            return f"{came_out}, not {' or '.join(wanted)} ({shown(seen)})"
        if self.hits and level in GROUPED and self.hits not in seen.limits_hit:
            return f"limit {self.hits} is not among those hit ({shown(seen)})"
        for where, data in (("stdout", seen.stdout), ("stderr", seen.stderr), *seen.files.items()):
            if secret in data:
                return f"the secret is in {where}"
        return ""


def shown(seen: Execution) -> str:
    """An execution in one line."""
    return (
        f"exit {seen.exit_code}, signal {seen.signal}, killed for {seen.killed_for}, "
        f"limits {sorted(seen.limits_hit)}, {seen.cpu_s:.3f} s CPU, {seen.wall_s:.3f} s, "
        f"{seen.memory_bytes} bytes, stdout {seen.stdout[:80]!r}, stderr {seen.stderr[:80]!r}"
    )
