"""Cases per second by workers and drivers: what bounds a machine with many cores.

    python benchmarks/scaling.py [--cases 40000]

1. Drivers with a stand-in for the sandbox: 64 programs at once, each sleeps 2 ms and needs no
   core. What is left is the grader's own work. CPU time is that of the Python processes.
2. The real box with 1, 2, 4 … workers, short C programs: cases per second, and the share of
   linear scaling from one worker. On 8 cores or more also with drivers.
3. The grader's own CPU time a case with the real box: C, Python, C with a built-in checker.
   Short runs are subtracted from long ones, so the start is not in it.

`--idle-processes N` starts N processes that sleep, as a large machine has them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(1, f"{sys.path[0]}/src")

from benchmarks import stand_in_driver
from benchmarks.million import ECHO
from benchmarks.stand_in import StandIn
from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading.drivers import process
from gradebox.eval.grading.options import Options
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.common.cpus import usable_cores

CASES_OF_ONE, PROBLEMS, STAND_IN_SLOTS = 100, 10, 64
SOURCES = {"c": (ECHO, "// "), "python": ("print(input())\n", "# ")}


@dataclass
class Figure:
    """A run: cases per second, CPU microseconds per case of this process and of its children."""

    rate: float
    parent_us: float
    children_us: float


def write_problems(path: Path, checker: str | None, tests_of_one: int) -> None:
    """Write problems whose expected output is their input, with a checker: in other spaces."""
    space = "  " if checker else " "
    with path.open("w") as file:
        for number in range(PROBLEMS):
            tests = [
                {"input": f"{number} {i}\n", "output": f"{number}{space}{i}\n"}
                for i in range(tests_of_one)
            ]
            row = {"id": f"{number + 1}/A", "time_limit": 1.0, "checker": checker}
            file.write(json.dumps({**row, "official_tests": tests}) + "\n")


def write_solutions(path: Path, solutions: int, language: str) -> None:
    """Write programs that are all different, in turn for each problem."""
    source, comment = SOURCES[language]
    with path.open("w") as file:
        for number in range(solutions):
            code = f"{source}{comment}{number}\n"
            row = {"id": f"{number % PROBLEMS + 1}/A", "language": language, "code": code}
            file.write(json.dumps(row) + "\n")


def measure(
    folder: Path,
    cases: int,
    *,
    workers: int,
    drivers: int = 1,
    language: str = "c",
    checker: str | None = None,
    sandbox: EmbeddedSandbox | None = None,
    tests: int = CASES_OF_ONE,
) -> Figure:
    """Grade cases; raise AssertionError when one is not accepted."""
    write_problems(folder / "problems.jsonl", checker, tests)
    write_solutions(folder / "solutions.jsonl", max(1, cases // tests), language)
    options = Options(
        solutions_path=folder / "solutions.jsonl",
        dataset=str(folder / "problems.jsonl"),
        results_dir=folder / f"results-{time.monotonic_ns()}",
        workers=workers,
        drivers=drivers,
        sandbox="local",
    )
    started, own, children = time.monotonic(), time.process_time(), children_s()
    result = run_grading(options, sandbox=sandbox)
    wall_s = time.monotonic() - started
    metrics = result.files[0].metrics
    assert metrics is not None
    done = metrics["case_verdicts"]
    assert set(done) == {"AC"}, done
    count = done["AC"]
    return Figure(
        count / wall_s,
        (time.process_time() - own) / count * 1e6,
        (children_s() - children) / count * 1e6,
    )


def children_s() -> float:
    """Return the CPU time of the children that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def stand_in(folder: Path, cases: int) -> None:
    """Print the figures of drivers whose sandbox needs no core."""
    process.MAIN = stand_in_driver.MAIN
    print("drivers  cases/s  us per case: parent  drivers")
    for drivers in (1, 2, 4):
        sandbox = StandIn(STAND_IN_SLOTS) if drivers == 1 else None
        found = measure(folder, cases, workers=STAND_IN_SLOTS, drivers=drivers, sandbox=sandbox)
        print(f"{drivers:7}  {found.rate:7.0f}  {found.parent_us:17.1f}  {found.children_us:7.1f}")


def real_box(folder: Path, cases: int) -> None:
    """Print the rate of the real box by workers."""
    print("\nworkers  cases/s  of linear")
    one, workers = 0.0, 1
    while workers <= usable_cores():
        with EmbeddedSandbox(workers) as sandbox:
            measure(folder, 2 * CASES_OF_ONE * workers, workers=workers, sandbox=sandbox)
            rates = [
                measure(folder, cases * workers, workers=workers, sandbox=sandbox).rate
                for _ in range(3)
            ]
        rate = sorted(rates)[1]
        one = one or rate
        print(f"{workers:7}  {rate:7.0f}  {rate / workers / one:9.2f}")
        workers *= 2
    cores = usable_cores()
    for drivers in (d for d in (2, 4) if cores >= 4 * d):
        with_drivers = [
            measure(folder, 6 * cases * cores, workers=cores, drivers=drivers, tests=2000).rate
            for _ in range(3)
        ]
        rate = sorted(with_drivers)[1]
        share = rate / cores / one
        print(f"{cores:7}  {rate:7.0f}  {share:9.2f}  {drivers} drivers, their start included")


def own_cpu(folder: Path, cases: int) -> None:
    """Print the grader's own CPU time a case."""
    print("\nprograms               us of the grader's CPU a case")
    for name, language, checker in (
        ("C", "c", None),
        ("Python", "python", None),
        ("C, checker wcmp", "c", "wcmp"),
    ):
        found = []
        with EmbeddedSandbox(2) as sandbox:
            for _ in range(3):
                few, many = (
                    measure(
                        folder,
                        count,
                        workers=2,
                        language=language,
                        checker=checker,
                        sandbox=sandbox,
                    ).parent_us
                    * count
                    for count in (cases // 10, cases)
                )
                found.append((many - few) / (cases - cases // 10))
        print(f"{name:22} {sorted(found)[1]:6.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=40_000)
    parser.add_argument("--only", choices=("stand-in", "box", "cpu"))
    parser.add_argument("--idle-processes", type=int, default=0, metavar="N")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ExitStack() as idle:
        folder = Path(name)
        for _ in range(args.idle_processes):
            idle.callback(subprocess.Popen(["sleep", "3600"]).kill)
        if args.only in (None, "box"):
            real_box(folder, args.cases // 20)
        if args.only in (None, "cpu"):
            own_cpu(folder, args.cases // 8)
        if args.only in (None, "stand-in"):
            stand_in(folder, args.cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
