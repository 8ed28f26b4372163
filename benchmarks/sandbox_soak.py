"""Look for leaks in the grader after many runs of every kind.

    python benchmarks/sandbox_soak.py [--runs 100000] [--level LEVEL]

Two threads run programs with small and large inputs, crashes, kills for several limits, and files.
The counts before and after are printed (descriptors, processes, mounts, control groups, folders,
resident memory). Exit status 1 when a count has grown.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Compiled, Limits, Program
from testing.submissions.hostile import host

ECHO = b"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
int main(int n, char **argv) {
    static char text[1 << 16];
    const char *way = n > 1 ? argv[1] : "";
    if (!strcmp(way, "crash")) abort();
    if (!strcmp(way, "cpu")) for (;;) {}
    if (!strcmp(way, "sleep")) pause();
    if (!strcmp(way, "memory")) for (;;) memset(malloc(1 << 20), 1, 1 << 20);
    if (!strcmp(way, "output")) for (;;) fwrite(text, 1, sizeof text, stdout);
    if (!strcmp(way, "file")) { FILE *f = fopen("out", "w"); fputs("made", f); fclose(f); }
    if (!strcmp(way, "fork") && !fork()) pause();
    for (size_t k; (k = fread(text, 1, sizeof text, stdin)) > 0;) fwrite(text, 1, k, stdout);
}
"""
LIMITS = Limits(cpu_s=0.05, wall_s=0.2, memory_bytes=32 * MIB, output_bytes=MIB, processes=8)
KINDS = ("",) * 80 + ("file",) * 8 + ("fork", "crash", "memory", "output") * 2 + ("cpu", "sleep")


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def one(box: EmbeddedSandbox, program: Compiled, chance: random.Random) -> None:
    """Do a run of a random kind."""
    kind = chance.choice(KINDS)
    stdin = b"x" * chance.choice((0, 10, 10, 1000, 100_000))
    limits = LIMITS if kind in ("cpu", "sleep") else replace(LIMITS, cpu_s=5, wall_s=60)
    result = box.run(program, limits, stdin=stdin, args=(kind,), collect=("out",))
    if kind in ("", "file") and (
        result.stdout != stdin or ("out" in result.files) != (kind == "file")
    ):
        raise SystemExit(f"unexpected result of a run of kind {kind!r}: {result}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="Look for leaks after many runs.")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--level", default=None)
    options = parser.parse_args(arguments)
    with EmbeddedSandbox(2, level=options.level) as box, ThreadPoolExecutor(2) as pool:
        program = box.compile(Program("c++17", {"echo.cpp": ECHO}))

        def work(seed: int, runs: int) -> None:
            chance = random.Random(seed)
            for _ in range(runs):
                one(box, program, chance)

        list(pool.map(work, (1, 2), (200, 200)))
        before, memory, started = host.count(), resident_bytes(), time.monotonic()
        list(pool.map(work, (3, 4), (options.runs // 2,) * 2))
        after, took = host.count(), time.monotonic() - started
        print(f"level {box.describe().level}: {options.runs} runs in {took:.0f} s")
    grown = False
    for name, count in asdict(before).items():
        now = asdict(after)[name]
        grown = grown or now > count
        print(f"{name:<12} {count} → {now}")
    print(f"{'memory':<12} {memory >> 20} MB → {resident_bytes() >> 20} MB")
    return int(grown)


if __name__ == "__main__":
    sys.exit(main())
