"""A row of the hostile suite: one attack and its required outcome.

    Attack("exhaust cpu_unwaited", "CPU time in children that …", "cpu", alone="held")
            program  its name       what it tries                  full   without a group

The required outcome is one of these words, or several separated by "|":
    held        the program reports that nothing it tried worked, and exits 0
    ends        it ends by itself in any way, without reporting a breach
    crash       a signal ended it
    cpu wall memory output processes disk file_size    it was stopped by that limit
    open        nothing is guaranteed at this level: it is not run
"""

from dataclasses import dataclass, replace
from pathlib import Path

from gradebox.sandbox.model import MIB, Execution, LimitName, Limits

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
    """One attack.

    run       name of the program and of the attack in it
    tries     what it tries, as in the table of guarantees
    want      the required outcome at levels with a control group
    alone     the same for levels without one (userns, landlock, none); empty: as `want`
    landlock, none   the same for these levels; empty: as `alone`
    argument  {secret}, {grader}, {socket}, {abstract}, {datagrams} are replaced
    collect   files to collect
    stdin_bytes  size of its input; the default is too large for the message and is passed as a file
    hits      a limit that must be hit at levels with a control group
    """

    run: str
    tries: str
    want: str = "held"
    alone: str = ""
    landlock: str = ""
    none: str = ""
    argument: str = ""
    collect: tuple[str, ...] = ()
    stdin_bytes: int = 100_000
    limits: Limits = LIMITS
    hits: LimitName | None = None

    @property
    def program(self) -> str:
        return self.run.split()[0]

    @property
    def name(self) -> str:
        return self.run.split()[1]

    def wanted(self, level: str) -> str:
        """Return the required outcome at a level."""
        if level in GROUPED:
            return self.want
        alone = self.alone or self.want
        if level == "landlock":
            return self.landlock or alone
        return (self.none or self.landlock or alone) if level == "none" else alone

    def limits_at(self, level: str) -> Limits:
        """Return its limits at a level.

        Time limits that must not end it are generous, so that the outcome is the same on a slow and
        busy machine.
        """
        wanted = self.wanted(level).split("|")
        return replace(
            self.limits,
            cpu_s=self.limits.cpu_s if "cpu" in wanted else FAR_CPU_S,
            wall_s=self.limits.wall_s if "wall" in wanted else FAR_WALL_S,
        )

    def came_out(self, result: Execution) -> str:
        """Return the word for the outcome; "BREACH …" when the attack reports a success."""
        for line in result.stdout[:4096].splitlines():
            if line.startswith(b"BREACH"):
                return line.decode(errors="replace")
        if result.killed_for in KILLS:
            return str(result.killed_for)
        if result.signal is not None:
            return "crash"
        return "held" if b"held" in result.stdout[:64] and result.exit_code == 0 else "ends"

    def complaint(self, level: str, result: Execution, secret: bytes) -> str:
        """Return how the outcome differs from the required one, or nothing."""
        came_out, wanted = self.came_out(result), self.wanted(level).split("|")
        if "BREACH" in came_out:
            return came_out
        if came_out not in wanted and "ends" not in wanted:
            return f"{came_out}, not {' or '.join(wanted)} ({shown(result)})"
        if "ends" in wanted and came_out not in (*wanted, "held", "crash"):
            return f"{came_out}, not {' or '.join(wanted)} ({shown(result)})"
        reported = level in GROUPED and (self.hits != "open_files" or counts_open_files())
        if self.hits and reported and self.hits not in result.limits_hit:
            return f"limit {self.hits} is not among those hit ({shown(result)})"
        for where, data in (
            ("stdout", result.stdout),
            ("stderr", result.stderr),
            *result.files.items(),
        ):
            if secret in data:
                return f"the secret is in {where}"
        return ""


def counts_open_files() -> bool:
    """Return whether the kernel tells how many descriptors a process has (Linux 6.2)."""
    return Path("/proc/self/fd").stat().st_size > 0


def shown(result: Execution) -> str:
    """Return an execution in one line."""
    return (
        f"exit {result.exit_code}, signal {result.signal}, killed for {result.killed_for}, "
        f"limits {sorted(result.limits_hit)}, {result.cpu_s:.3f} s CPU, {result.wall_s:.3f} s, "
        f"{result.memory_bytes} bytes, stdout {result.stdout[:80]!r}, stderr {result.stderr[:80]!r}"
    )
