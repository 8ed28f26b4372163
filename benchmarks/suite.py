"""The grader against a plain script, on the same set of solutions, cores and minutes.

    python benchmarks/suite.py [--set mixed] [--repeat 3] [--workers N]

    set mixed: 3 problems, 20 solutions, 224 cases, 2 workers
    repetition   grader s   plain s   ratio   boxed CPU / (wall × workers)
             1      12.31     14.02   0.878   0.93
    …
    median case 61 ms · ratio 0.878 (0.871 … 0.885) · share 0.93

Both sides compile every program. The order changes with every repetition, so that other load on the
machine affects both. The grader is the real command, including its start. Boxed CPU is the CPU time
of programs and compilers according to the records (without checkers). Time that the hypervisor took
away is subtracted from wall times. Exit status 1 when a verdict is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from benchmarks import plain
from benchmarks.sets import SETS, write_set
from gradebox.sandbox.common.cpus import usable_cores

ROOT = Path(__file__).resolve().parent.parent
COMMAND = "eval/eval_with_piston_gentest_checker_stats.py"


@dataclass(frozen=True)
class Graded:
    """One run of the grader: wall time without stolen time, boxed CPU time, CPU times of cases."""

    wall_s: float
    boxed_s: float
    case_s: list[float]
    passed: bool


def stolen_s() -> float:
    """Return the time that the hypervisor took from this machine's cores, summed over all."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return int(words[8]) / os.sysconf("SC_CLK_TCK") if len(words) > 8 else 0.0


def by_grader(problems: Path, solutions: Path, folder: Path, workers: int) -> Graded:
    """Grade the set with the real command."""
    stolen, start = stolen_s(), time.perf_counter()
    subprocess.run(
        [
            *(sys.executable, COMMAND, "--solutions-path", str(solutions)),
            *("--dataset", str(problems), "--results-dir", str(folder), "--sandbox", "local"),
            *("--workers", str(workers)),
        ],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    wall = time.perf_counter() - start - (stolen_s() - stolen) / (os.cpu_count() or 1)
    lines = (folder / solutions.stem / "piston_eval_results.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    case_s = [case["cpu_s"] for r in records for case in r["details"]]
    compile_s = sum(r["compile"].get("cpu_s") or 0.0 for r in records)
    passed = all(r["status"] == "passed" for r in records)
    return Graded(wall, sum(case_s) + compile_s, case_s, passed)


def by_plain(problems: Path, solutions: Path, folder: Path, workers: int) -> tuple[float, bool]:
    """Return the plain script's wall time without stolen time, and whether every case passed."""
    stolen, start = stolen_s(), time.perf_counter()
    cases, passed = plain.grade(problems, solutions, folder, workers)
    wall = time.perf_counter() - start - (stolen_s() - stolen) / (os.cpu_count() or 1)
    return wall, cases == passed


def measure(name: str, repeat: int, workers: int) -> bool:
    """Print the figures of one set. Return False when a verdict was wrong on either side."""
    ratios, shares, medians, right = [], [], [], True
    for i in range(repeat):
        with tempfile.TemporaryDirectory(prefix="suite-") as temporary:
            folder = Path(temporary)
            problems, solutions = write_set(name, folder / "set", nonce=f"{os.getpid()}.{i}")
            if i == 0:
                _print_head(name, problems, solutions, workers)
            if i % 2:
                plain_s, plain_right = by_plain(problems, solutions, folder / "plain", workers)
            graded = by_grader(problems, solutions, folder / "results", workers)
            if i % 2 == 0:
                plain_s, plain_right = by_plain(problems, solutions, folder / "plain", workers)
        right = right and graded.passed and plain_right
        ratios.append(graded.wall_s / plain_s)
        shares.append(graded.boxed_s / (graded.wall_s * workers))
        medians.append(statistics.median(graded.case_s))
        print(
            f"{i + 1:10} {graded.wall_s:10.2f} {plain_s:9.2f} {ratios[-1]:7.3f}   {shares[-1]:.2f}",
            flush=True,
        )
    print(
        f"median case {1000 * statistics.median(medians):.0f} ms · "
        f"ratio {statistics.median(ratios):.3f} ({min(ratios):.3f} … {max(ratios):.3f}) · "
        f"share {statistics.median(shares):.2f}"
    )
    if not right:
        print("wrong verdict: every case of these sets must pass", file=sys.stderr)
    return right


def _print_head(name: str, problems: Path, solutions: Path, workers: int) -> None:
    plans = SETS[name]
    cases = sum(plan.tests * (plan.cpp + plan.python) for plan in plans)
    count = sum(plan.cpp + plan.python for plan in plans)
    print(
        f"set {name}: {len(plans)} problems, {count} solutions, {cases} cases, {workers} workers\n"
        "repetition   grader s   plain s   ratio   boxed CPU / (wall × workers)",
        flush=True,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--set", choices=[*SETS, "all"], default="mixed")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions (default 3)")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="default: cores")
    args = parser.parse_args()
    if args.repeat < 1 or args.workers < 1:
        parser.error("--repeat and --workers must be at least 1")
    names = [n for n in SETS if n != "tiny"] if args.set == "all" else [args.set]
    results = [measure(name, args.repeat, args.workers) for name in names]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
