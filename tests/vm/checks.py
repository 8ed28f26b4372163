"""The checks of a sandbox on one machine. They run in the guest and print one JSON object a line.

    python -m tests.vm.checks LEVEL USES [choice]

    {"check": "memory of 3 children", "expected": 60, "seen": 60.25, "unit": "MB", "ok": true}

USES is tests/sandbox/programs/uses.cpp, compiled statically; the programs of the hostile suite are
beside it. Only the standard library is needed,
because the guest has no test tools.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.built_program import BuiltProgram, Executable
from gradebox.sandbox.box.isolation import cgroup
from gradebox.sandbox.errors import SandboxUnavailable
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.protocol import lent_cores
from testing.submissions.hostile import harness
from testing.submissions.hostile.model import PROGRAMS

LIMITS = Limits(cpu_s=20, wall_s=120, memory_bytes=512 * MIB, processes=16)
RUNS = 100  # for the median cost of a run
BARE = 3  # runs without a box to compare CPU times with: an emulated exec takes 30 ms
FORKING = ("full", "delegated", "userns")  # levels at which Python programs start by fork
QUIET = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
CPU_S, CPU_SHARE, MEMORY_BYTES = 0.003, 0.02, 2 * MIB


@dataclass(frozen=True)
class Row:
    """One check and its result."""

    check: str
    expected: float | str
    seen: float | str
    unit: str
    ok: bool


# name, way of uses.cpp, its amount, processes
CPU = (
    ("cpu of a program", "cpu", 300, 1),
    ("cpu of a short program", "cpu", 20, 1),
    ("cpu of 3 threads", "cpu_threads", 100, 3),
    ("cpu of 3 children", "cpu_children", 100, 3),
    ("cpu of 3 unwaited children", "cpu_unwaited", 100, 3),
)
MEMORY = (
    ("memory, large", "memory", 200, 1),
    ("memory, after a larger run", "memory", 10, 1),
    ("memory, smaller again", "memory", 4, 1),
    ("memory, given back before the end", "memory_freed", 40, 1),
    ("memory of 3 children", "memory_children", 20, 3),
    ("memory of a mapped file", "memory_file", 30, 1),
    ("memory, after that file", "memory", 10, 1),
)
# in one batch: each counts for itself alone
BATCH = (
    ("memory", 100, 1),
    ("memory", 4, 1),
    ("cpu", 50, 1),
    ("memory_children", 10, 3),
    ("cpu", 20, 1),
    ("memory", 10, 1),
)
SLEEP_MS = 3000
PYTHON = (
    b"import sys, time\n"
    b"x = bytearray(int(sys.argv[1]) << 20)\n"
    b"for i in range(0, len(x), 4096): x[i] = 1\n"
    b"end = time.process_time() + float(sys.argv[2])\n"
    b"while time.process_time() < end: pass\n"
    b"print(time.process_time())\n"
)


CHILDREN = (  # prints how many it could have besides itself
    b"import os, signal\n"
    b"children = []\n"
    b"try:\n"
    b"    while len(children) < 64:\n"
    b"        pid = os.fork()\n"
    b"        if not pid: signal.pause()\n"
    b"        children.append(pid)\n"
    b"except OSError: pass\n"
    b"print(len(children))\n"
)
INSIDE = (  # numbers of new calls are the same on all architectures since Linux 5.0
    b"import ctypes, errno\n"
    b"libc = ctypes.CDLL(None, use_errno=True)\n"
    b"libc.syscall(435, None, 0)\n"
    b"print(errno.errorcode[ctypes.get_errno()], open('/proc/self/cgroup').read().split()[-1])\n"
)


def _compiled(binary: Path) -> Compiled:
    program = Program("c++17", {f"{binary.name}.cpp": b""})
    executable = Executable(binary.read_bytes())
    artifact = BuiltProgram((f"{{program}}/{binary.name}",), binary.name, executable)
    return Compiled(program, True, artifact=artifact)


class Checks:
    """A box of one level and the program it measures."""

    def __init__(self, level: str, uses: Path) -> None:
        self.box = EmbeddedSandbox(1, level=level)
        self.level = self.box.describe().level
        self._uses = _compiled(uses)
        self._python = self.box.compile(Program("python", {"main.py": PYTHON}))

    def run(self, way: str, amount: float, limits: Limits = LIMITS) -> Execution:
        """Run the program that uses a known amount."""
        return self.box.run(self._uses, limits, args=(way, str(amount)))

    def python_start(self, expected: str) -> Row:
        """Check how Python programs start."""
        seen = str(self.box.describe().details["python_start"])
        return Row("start of Python", expected, seen, "", seen == expected)

    def figures(self) -> Iterator[Row]:
        """Check CPU times and memory against known amounts."""
        for name, way, ms, times in CPU:
            low, high = self._bare_cpu_s(way, ms)
            slack = max(CPU_S, CPU_SHARE * ms * times / 1000)
            result = self.run(way, ms)
            ok = result.exit_code == 0 and low - slack <= result.cpu_s <= high + slack
            yield Row(name, f"{low:.4f} … {high:.4f}", round(result.cpu_s, 4), "s", ok)
        for name, way, megabytes, times in MEMORY:
            held = megabytes * times
            took = (self.run(way, megabytes).memory_bytes or 0) / MIB
            ok = abs(took - held) * MIB <= MEMORY_BYTES
            yield Row(name, held, round(took, 2), "MB", ok)
        yield from self._of_python()

    def _of_python(self) -> Iterator[Row]:
        small = self.box.run(self._python, LIMITS, args=("1", "0"))
        large = self.box.run(self._python, LIMITS, args=("101", "0"))
        took = ((large.memory_bytes or 0) - (small.memory_bytes or 0)) / MIB
        yield Row("memory of Python", 100, round(took, 2), "MB", abs(took - 100) <= 2)
        # With little memory: the kernel's time for clearing 100 MB varies.
        idle, busy = (self.box.run(self._python, LIMITS, args=("1", s)) for s in ("0", "0.5"))
        own = float(busy.stdout or 0) - float(idle.stdout or 0)  # as it measured, without its start
        more = busy.cpu_s - idle.cpu_s
        ok = abs(more - own) <= max(CPU_S, CPU_SHARE * own)
        yield Row("cpu of Python", round(own, 4), round(more, 4), "s", ok)

    def _bare_cpu_s(self, way: str, ms: float) -> tuple[float, float]:
        """Return the CPU time of the program without a box.

        Children that are not waited for are not counted there, so those that are stand for them.
        """
        way = way.replace("unwaited", "children")
        path = f"/proc/self/fd/{self._uses.artifact.executable.fd}"
        return _cpu_s(path, ["uses", way, str(ms)])

    def limits(self) -> Iterator[Row]:
        """Check that each limit is reported by its name."""
        cases: tuple[tuple[str, str, float, Limits], ...] = (
            ("memory", "memory", 300, replace(LIMITS, memory_bytes=64 * MIB)),
            ("memory", "memory_children", 40, replace(LIMITS, memory_bytes=64 * MIB)),
            ("cpu", "cpu", 5000, replace(LIMITS, cpu_s=0.3)),
            ("processes", "memory_children", 1, replace(LIMITS, processes=2, wall_s=1)),
        )
        for name, way, amount, limits in cases:
            result = self.run(way, amount, limits)
            hit = ", ".join(sorted(result.limits_hit)) or "none"
            yield Row(f"limit: {name} ({way})", name, hit, "", name in result.limits_hit)
        result = self.box.run(self.box.compile(Program("python", {"main.py": CHILDREN})), LIMITS)
        own = LIMITS.processes - 1
        seen = int(result.stdout or -1)
        yield Row("children of a Python program", own, seen, "", seen == own)
        result = self.box.run(self.box.compile(Program("python", {"main.py": INSIDE})), LIMITS)
        error, _, group = result.stdout.decode().strip().partition(" ")
        yield Row("clone3 by a program", "ENOSYS", error, "", error == "ENOSYS")
        ok = bool(group) and cgroup.PREFIX not in group
        yield Row("the group a program sees", "no name of the host's", group, "", ok)
        fine = self.run("memory", 3)
        seen = ", ".join(fine.limits_hit) or "none"
        yield Row("limits that the next run hits", "none", seen, "", not fine.limits_hit)

    def together(self) -> Iterator[Row]:
        """Check runs of one batch, and a run on the core of a program that sleeps."""
        stdins = [f"{way} {amount}".encode() for way, amount, _ in BATCH]
        groups = self.box.run_many(self._uses, [LIMITS] * len(stdins), stdins)
        for (way, amount, times), done in zip(BATCH, chain.from_iterable(groups), strict=True):
            held, unit = amount * times, "MB"
            took, slack = (done.memory_bytes or 0) / MIB, MEMORY_BYTES / MIB
            if way == "cpu":
                took, unit, slack = done.cpu_s * 1000, "ms", CPU_S * 1000
            ok = done.exit_code == 0 and abs(took - held) <= slack
            yield Row(f"batch: {way} {amount}", held, round(took, 2), unit, ok)
        stdins = [b"memory 4", b"memory 300", b"memory 4"]
        limits = [replace(LIMITS, memory_bytes=64 * MIB)] * 3
        ends = list(chain.from_iterable(self.box.run_many(self._uses, limits, stdins)))
        seen = "; ".join(", ".join(sorted(done.limits_hit)) for done in ends)
        yield Row("batch: a run over its limit", "; memory", seen, "", seen == "; memory")
        with ThreadPoolExecutor(1) as pool:
            sleeper = pool.submit(self.run, "sleep", SLEEP_MS)
            while not (lent_cores(self.box) or sleeper.done()):
                time.sleep(0.01)
            beside = self.run("cpu", 20)
            first = "the other" if sleeper.done() else "it"
            good = sleeper.result().exit_code == beside.exit_code == 0
        name = "a run while another sleeps: ends first"
        yield Row(name, "it", first, "", good and first == "it")

    def cost(self) -> Iterator[Row]:
        """Measure a run and a bare start of the same program."""

        def median(work: Callable[[], object]) -> float:
            took = []
            for _ in range(RUNS):
                started = time.perf_counter()
                work()
                took.append(time.perf_counter() - started)
            return statistics.median(took) * 1e6

        fd = self._uses.artifact.executable.fd

        def bare() -> None:
            os.waitpid(os.posix_spawn(f"/proc/self/fd/{fd}", ["uses", "cpu", "0"], {}), 0)

        self.run("cpu", 0)
        boxed, plain = median(lambda: self.run("cpu", 0)), median(bare)
        yield Row("cost of a run", round(plain), round(boxed), "µs", True)
        boxes = [path for path in _groups() if path.name.startswith(cgroup.PREFIX)]
        most = max((1 + sum(p.is_dir() for p in path.iterdir()) for path in boxes), default=0)
        yield Row("control groups of one box", "at most 3", most, "", most <= 3)

    def close(self) -> Iterator[Row]:
        """Close the sandbox and check that nothing is left."""
        self.box.close()
        left = [str(path) for path in _groups()]
        yield Row("groups left behind", 0, " ".join(left) or 0, "", not left)
        names = [_name(pid) for pid in os.listdir("/proc") if pid.isdigit()]  # noqa: PTH208
        mine = [name for name in names if name in ("uses", "gradebox-box", "launcher")]
        yield Row("processes left behind", 0, " ".join(mine) or 0, "", not mine)


def _cpu_s(path: str, argv: list[str]) -> tuple[float, float]:
    """Return the least and the most CPU time of some bare runs, in seconds."""
    took = []
    for _ in range(BARE):
        _, _, used = os.wait4(os.posix_spawn(path, argv, {}, file_actions=QUIET), 0)
        took.append(used.ru_utime + used.ru_stime)
    return min(took), max(took)


def _groups() -> Iterator[Path]:
    for path in cgroup.ROOT.rglob(f"{cgroup.PREFIX}{os.getpid()}-*"):
        yield from (p for p in (path, *path.glob("*")) if p.is_dir())


def _name(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def rows(level: str, uses: Path) -> Iterator[Row]:
    """Yield every check of a level."""
    checks = Checks(level, uses)
    yield Row("level", level, checks.level, "", checks.level == level)
    yield checks.python_start("fork" if level in FORKING else "exec")
    for part in (checks.figures, checks.limits, checks.together, checks.cost, checks.close):
        yield from part()


def _refusal(level: str) -> str:
    try:
        EmbeddedSandbox(1, level=level).close()
    except SandboxUnavailable as error:
        return str(error)
    return f"{level} works when selected by name"


def choice(level: str) -> Iterator[Row]:
    """Check the level that is chosen by default; "": all must be refused."""
    try:
        with EmbeddedSandbox(1) as box:
            hello = box.compile(Program("python", {"main.py": b"print(6 * 7)"}))
            printed = box.run(hello, LIMITS).stdout.decode().strip()
            result = box.describe().level
            why = "" if result == level else f"; {_refusal(level)}"
            yield Row("level chosen", level, result + why, "", result == level)
            yield Row("a program in it", "42", printed, "", printed == "42")
    except SandboxUnavailable as error:
        yield Row("level chosen", level or "refused", f"refused: {error}", "", not level)


def attacks(level: str, folder: Path) -> Iterator[Row]:
    """Run the hostile suite without its attacks through compilers; report each that succeeded."""
    for path in PROGRAMS.glob("*.cpp"):
        harness.use(path.stem, _compiled(folder / path.stem))
    tried = 0
    for outcome in harness.outcomes(level, compilers=False):
        tried += outcome.came_out != "not promised"
        if outcome.wrong:
            yield Row(f"attack: {outcome.run}", "held", outcome.wrong, "", False)
    yield Row("attacks", "all tried", f"{tried} tried", "", tried > 100)


def main(level: str, uses: str, what: str = "all") -> int:
    """Print each row. Return 1 when a check failed."""
    bad = 0
    found = choice(level) if what == "choice" else rows(level, Path(uses))
    for row in chain(found, attacks(level, Path(uses).parent) if level else ()):
        print(json.dumps(asdict(row)), flush=True)
        bad += not row.ok
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
