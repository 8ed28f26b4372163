"""Check that verdicts do not depend on load: many runs near the limit on overloaded cores.

    python benchmarks/time_policy.py [--runs 1000] [--load 4] [--limit 0.1] [--shares 0.8 1.25]

For each share of the limit the program does a fixed amount of work that takes that share without
load. Verdicts come from the grader's own time policy and verdict function. A line with the verdicts
is printed for each share. Exit status 1 when a share has more than one verdict.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.eval.grading.time_policy import bounds_of, must_run_alone, run_limits
from gradebox.eval.grading.verdict import Match, judge
from gradebox.eval.problems.problem import Problem
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.common.cpus import physical_cpus
from gradebox.sandbox.model import MIB, Compiled, Limits, Program

SHARES = (0.5, 0.8, 1.25, 1.5)
WORK = b"""
#include <cstdio>
#include <cstdlib>
int main(int, char **argv) {
    unsigned long n = strtoul(argv[1], 0, 10), x = 1;
    while (n--) x = x * 6364136223846793005ul + 1442695040888963407ul;
    printf("%lu\\n", x & 1);
}
"""


@contextmanager
def load(count: int) -> Iterator[None]:
    """Run processes that use their core all the time."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


def rounds_per_second(box: EmbeddedSandbox, program: Compiled) -> float:
    """Return the rounds of work that a second of CPU time does here, at best."""
    rounds = 50_000_000
    best = min(box.run(program, Limits(), args=(str(rounds),)).cpu_s for _ in range(5))
    return rounds / best


def verdict(box: EmbeddedSandbox, program: Compiled, problem: Problem, rounds: int) -> str:
    """Return the verdict of one case as in a real run: near the limit it runs again alone."""
    bounds = bounds_of(problem)
    result = box.run(program, run_limits(bounds), args=(str(rounds),))
    if must_run_alone(result, bounds):
        result = box.run(program, run_limits(bounds), args=(str(rounds),), alone=True)
    return judge(result, bounds, Match(True)).verdict


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Verdicts under load.")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--load", type=int, default=4, help="spinning processes per core")
    parser.add_argument("--limit", type=float, default=0.1, help="seconds")
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES, help="of the limit")
    options = parser.parse_args(arguments)
    problem = Problem("work", options.limit, 256 * MIB)
    moved = False
    with EmbeddedSandbox(1) as box:
        program = box.compile(Program("c++17", {"work.cpp": WORK}))
        speed = rounds_per_second(box, program)
        with load(options.load * len(physical_cpus())):
            for share in options.shares:
                rounds = int(speed * options.limit * share)
                ends = Counter(verdict(box, program, problem, rounds) for _ in range(options.runs))
                moved = moved or len(ends) > 1
                shown = ", ".join(f"{name} {count}" for name, count in ends.most_common())
                print(f"{share:.2f} × the limit: {shown}", flush=True)
    return int(moved)


if __name__ == "__main__":
    sys.exit(main())
