"""Several graders that share the cores of a machine, against one grader with all of their work.

    python benchmarks/sharing.py [--graders 4] [--runs 800] [--repeat 3] [--only NAME…]

    programs      one     N graders   ratio   limit   fairness
    short       0.61 s     0.66 s      1.08    1.15       0.97
    …

Every grader is a process with a sandbox and a thread for each core. In a repetition, one grader
does all runs, then N graders do a share of them each. A ratio is that of the median times. Fairness
is the work that the slowest grader had done when the fastest was ready, as a part of the fastest
one's. For "compiling", half of the graders do short runs while the others compile C++: the time
of one grader is then doubled, as half of the cores would take, and fairness is the rate at which
the others compile, as a part of half of their rate without runs. Graders that run besides get a
share as well: one part in two for one grader, four in five for four, so that beside another grader
the ratio of four is about 0.6. Measure on a machine without others. Exit status 1 when a
ratio is above its limit.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox

ROOT = Path(__file__).resolve().parent.parent
SOURCE = rb"""
#include <stdio.h>
#include <time.h>
int main(void) {
    int spin_ms, sleep_ms;
    struct timespec t;
    if (scanf("%d %d", &spin_ms, &sleep_ms) != 2) return 1;
    clock_t end = clock() + spin_ms * (CLOCKS_PER_SEC / 1000);
    while (spin_ms && clock() < end) {}
    t.tv_sec = sleep_ms / 1000, t.tv_nsec = sleep_ms % 1000 * 1000000;
    if (sleep_ms) nanosleep(&t, NULL);
    puts("done");
}
"""
LIMITS = Limits(cpu_s=10, wall_s=60)
# Of each kind of program: what the runs do in turn (ms of CPU, ms of sleep), how many runs of kind
# "short" make one of this kind, the largest allowed ratio, how many runs go to a box together.
KINDS: dict[str, tuple[list[tuple[int, int]], int, float, int]] = {
    "short": ([(0, 0)], 1, 1.15, 1),
    "long": ([(60, 0)], 20, 1.15, 1),
    "mixed": ([(0, 0), (2, 0), (0, 0), (30, 0), (0, 0), (5, 5)], 5, 1.15, 1),
    "sleeping": ([(1, 40)], 20, 1.15, 1),
    "unequal": ([], 5, 1.15, 1),  # half of the graders has long programs, the others short ones
    "goes": ([(0, 0)], 1, 1.15, 64),  # as a grader does the cases of a solution
    "long goes": ([(60, 0)], 20, 1.15, 64),
    "compiling": ([(0, 0)], 1, 1.5, 1),
}
COMPILED = b"#include <map>\n#include <iostream>\nint main() { std::map<int, int>()[%d]; }"
LONG, SHORT = (60, 0), (10, 0)


def work(kind: str, runs: int, graders: int, number: int) -> list[tuple[int, int]]:
    """Return the runs of one of `graders`; -1: those of all."""
    if number < 0:
        return [one for i in range(graders) for one in work(kind, runs, graders, i)]
    count = max(4, runs // KINDS[kind][1] // graders)
    if kind == "unequal":  # the same CPU time for each
        share = LONG if number % 2 else SHORT
        return [share] * max(2, count * 12 // share[0])
    pattern = KINDS[kind][0]
    return [pattern[i % len(pattern)] for i in range(count)]


def grade() -> None:
    """Do the runs of each line of stdin; answer with the ends of the runs."""
    with EmbeddedSandbox() as box, ThreadPoolExecutor(box.slots) as pool:
        compiled = box.compile(Program("c", {"main.c": SOURCE}))

        def run(tasks: list[tuple[int, int]]) -> list[tuple[float, bool]]:
            inputs = [b"%d %d\n" % tuple(task) for task in tasks]
            groups = (
                box.run_many(compiled, [LIMITS] * len(tasks), inputs)
                if len(tasks) > 1
                else [[box.run(compiled, LIMITS, stdin=inputs[0])]]
            )
            return [
                (time.perf_counter(), done.stdout == b"done\n" and not done.contended)
                for group in groups
                for done in group
            ]

        def compile_until_told(_: int) -> list[tuple[float, bool]]:
            ends = []
            while not select.select([sys.stdin], [], [], 0)[0]:
                source = COMPILED % int.from_bytes(os.urandom(3), "big")
                right = box.compile(Program("c++17", {"main.cpp": source})).ok
                ends.append((time.perf_counter(), right))
            return ends

        list(pool.map(run, [[(0, 0)]] * 20))
        for number in range(3):
            box.compile(Program("c++17", {"main.cpp": COMPILED % number}))
        box.wait_until_warm()
        print("ready", flush=True)
        for line in filter(str.strip, sys.stdin):
            began = time.perf_counter()
            together, tasks = json.loads(line)
            if tasks is None:
                found = pool.map(compile_until_told, range(box.slots))
                print(json.dumps([began, sorted(chain(*found))]), flush=True)
                continue
            goes = [tasks[i : i + together] for i in range(0, len(tasks), together)]
            print(json.dumps([began, sorted(chain(*pool.map(run, goes)))]), flush=True)


Done = list[tuple[float, list[tuple[float, bool]]]]


class Graders:
    """Processes that wait for work."""

    def __init__(self, count: int) -> None:
        self.processes = [
            subprocess.Popen(
                [sys.executable, __file__, "--grader"],
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(count)
        ]
        for process in self.processes:
            if self._read(process) != "ready\n":
                raise SystemExit("a grader could not start")

    @staticmethod
    def _read(process: subprocess.Popen[str]) -> str:
        assert process.stdout is not None
        return process.stdout.readline()

    def do(self, tasks: Sequence[list[tuple[int, int]]], together: int) -> Done:
        """Give a task to each of the first graders, wait, return start and ends of each."""
        chosen = self.processes[: len(tasks)]
        for process, task in zip(chosen, tasks, strict=True):
            self._write(process, json.dumps([together, task]))
        return [json.loads(self._read(process)) for process in chosen]

    def compile_during(self, others: Callable[[], Done]) -> tuple[Done, float]:
        """Let the second half compile meanwhile. Return what the others did, compilations per s."""
        half = self.processes[len(self.processes) // 2 :]
        for process in half:
            self._write(process, "[1, null]")
        done = others()
        for process in half:
            self._write(process, "")
        found = [json.loads(self._read(process)) for process in half]
        if not all(right for _, ends in found for _, right in ends):
            raise SystemExit("a program was not compiled")
        return done, sum(len(ends) / (ends[-1][0] - began) for began, ends in found)

    @staticmethod
    def _write(process: subprocess.Popen[str], line: str) -> None:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()

    def close(self) -> None:
        """End the processes."""
        for process in self.processes:
            process.communicate(timeout=60)


def seconds(done: Done) -> float:
    """Return the time from the first start to the last end."""
    return max(ends[-1][0] for _, ends in done) - min(began for began, _ in done)


def fairness(done: Done) -> float:
    """Return the slowest grader's share of its work when the fastest one was ready."""
    first = min(ends[-1][0] for _, ends in done)
    return min(sum(end <= first for end, _ in ends) / len(ends) for _, ends in done)


def wait(duration_s: float) -> Done:
    """Do nothing for a time."""
    time.sleep(duration_s)
    return []


def measure(graders: Graders, kind: str, runs: int, repeat: int) -> bool:
    """Print the line of a kind of programs. Return whether its ratio is within the limit."""
    count, (*_, limit, together) = len(graders.processes), KINDS[kind]
    alone, shared, fair = [], [], []
    for _ in range(repeat):
        if kind == "compiling":
            tasks = [work(kind, runs, count, i) for i in range(count // 2)]
            one = graders.do([list(chain(*tasks))], together)
            many, rate = graders.compile_during(partial(graders.do, tasks, together))
            _, most = graders.compile_during(partial(wait, seconds(many)))
            alone.append(2 * seconds(one))
            fair.append(rate / most * 2)
        else:
            one = graders.do([work(kind, runs, count, -1)], together)
            many = graders.do([work(kind, runs, count, i) for i in range(count)], together)
            alone.append(seconds(one))
            fair.append(fairness(many))
        if not all(right for _, ends in (*one, *many) for _, right in ends):
            raise SystemExit(f"{kind}: a run has failed or was contended")
        shared.append(seconds(many))
    ratio = statistics.median(shared) / statistics.median(alone)
    print(
        f"{kind:10}{statistics.median(alone):9.2f} s{statistics.median(shared):9.2f} s"
        f"{ratio:9.2f}{limit:9.2f}{statistics.median(fair):11.2f}",
        flush=True,
    )
    return ratio <= limit


def main() -> int:
    """Measure every kind."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--graders", type=int, default=4)
    parser.add_argument("--runs", type=int, default=800)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="*", choices=KINDS, default=list(KINDS))
    parser.add_argument("--grader", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.grader:
        grade()
        return 0
    graders = Graders(args.graders)
    print(f"programs      one     {args.graders} graders   ratio   limit   fairness")
    try:
        within = [measure(graders, kind, args.runs, args.repeat) for kind in args.only]
    finally:
        graders.close()
    return not all(within)


if __name__ == "__main__":
    sys.exit(main())
