"""The cost of isolation, against the same work without it, in one process.

    python benchmarks/sandbox_overhead.py [--runs 300] [--level full|userns|…] [--only NAME…]

    figure                                     ratio   p10 ratio     box     plain   limit
    fresh     C program / os.posix_spawn        1.52        1.49   0.70 ms   0.46 ms   1.60
    …

Each figure alternates between box and plain, so that other load on the machine affects both. A
ratio is that of the medians. Exit status 1 when a ratio is above its limit.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.sandbox import Compiled, Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.built_program import BuiltProgram, Executable
from gradebox.sandbox.box.toolchains.find import resolve
from gradebox.sandbox.languages import find
from testing.submissions.codeforces.table import read_table

TINY = b"int main(void) { return 0; }\n"
HELLO = b'print("hello")\n'
READ = b"import sys\nwhile sys.stdin.buffer.read(1 << 16):\n    pass\n"
WRITE = b"import sys\nfor _ in range(160):\n    sys.stdout.buffer.write(bytes(1 << 16))\n"
LARGE = os.urandom(10 << 20)
LIMITS = Limits(cpu_s=10, wall_s=60)
Work = Callable[[], object]


@dataclass(frozen=True)
class Figure:
    """Two ways to do the same work, and the largest allowed ratio of their median times."""

    name: str
    box: Work
    plain: Work
    limit: float
    runs: int


def once(work: Work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure(figure: Figure) -> bool:
    """Print the line of a figure. Return whether its ratio is within the limit."""
    for work in (figure.box, figure.plain):
        for _ in range(3):
            work()
    box, plain = [], []
    for turn in range(figure.runs):
        pairs = ((box, figure.box), (plain, figure.plain))
        for times, work in pairs if turn % 2 else reversed(pairs):
            times.append(once(work))
    ratio = statistics.median(box) / statistics.median(plain)
    low = sorted(box)[len(box) // 10] / sorted(plain)[len(plain) // 10]
    print(
        f"{figure.name:44}{ratio:7.2f}{low:11.2f}{statistics.median(box) * 1e3:9.2f} ms"
        f"{statistics.median(plain) * 1e3:9.2f} ms{figure.limit:8.2f}",
        flush=True,
    )
    return ratio <= figure.limit


def ready(path: Path) -> Compiled:
    """Return the binary that the plain side starts, as a program of the box."""
    artifact = BuiltProgram((path.name,), "tiny", Executable(path.read_bytes()))
    return Compiled(Program("c++", {"tiny.c": TINY}), True, artifact=artifact)


def spawn(path: str) -> None:
    os.waitpid(os.posix_spawn(path, [path], {}), 0)


def piped(argv: list[str], stdin: bytes = b"") -> None:
    subprocess.run(argv, input=stdin, capture_output=True, check=True)


def starts(box: EmbeddedSandbox, folder: Path, level: str, runs: int) -> list[Figure]:
    """Return the figures of starting programs: the fixed cost of a run."""
    tiny = folder / "tiny"
    (folder / "tiny.c").write_bytes(TINY)
    subprocess.run(["gcc", "-O2", "-static", str(folder / "tiny.c"), "-o", str(tiny)], check=True)
    (folder / "hello.py").write_bytes(HELLO)
    compiled = ready(tiny)
    hello = box.compile(Program("python", {"main.py": HELLO}))
    python = resolve(find("python")).path
    return [
        Figure(
            "fresh    C program / os.posix_spawn of it",
            lambda: box.run(compiled, LIMITS),
            lambda: spawn(str(tiny)),
            1.6,
            runs,
        ),
        Figure(
            "python   hello / subprocess.run of it",
            lambda: box.run(hello, LIMITS),
            lambda: piped([python, str(folder / "hello.py")]),
            0.8,
            runs,
        ),
    ]


def transfers(box: EmbeddedSandbox, folder: Path, runs: int) -> list[Figure]:
    """Return the figures of 10 MB of input and of output."""
    python = resolve(find("python")).path
    figures = []
    for name, source, stdin in (("stdin", READ, LARGE), ("stdout", WRITE, b"")):
        path = folder / f"{name}.py"
        path.write_bytes(source)
        compiled = box.compile(Program("python", {"main.py": source}))
        argv = [python, str(path)]
        work = partial(box.run, compiled, LIMITS, stdin=stdin)
        plain = partial(piped, argv, stdin)
        figures.append(
            Figure(f"{name:8} 10 MB / subprocess.run with pipes", work, plain, 0.8, runs)
        )
    return figures


def compiles(
    box: EmbeddedSandbox, name: str, sources: list[bytes], folder: Path, limit: float
) -> bool:
    """Compile sources with the headers they begin with precompiled; print the ratio of the sums."""
    row = find("c++17")
    tool = resolve(row).path
    flags = [part for part in row.compile or () if "{" not in part and part != "-o"]
    for source in sources:
        box.compile(Program("c++17", {"main.cpp": source}))
    box.wait_until_warm()
    boxed, plain = [], []
    for i, source in enumerate(sources):
        path = folder / "source.cpp"
        path.write_bytes(source)
        marked = source + f"\n// {i} {time.time_ns()}\n".encode()  # never from the cache
        boxed.append(once(partial(box.compile, Program("c++17", {"main.cpp": marked}))))
        argv = [tool, *flags, str(path), "-o", str(folder / "plain")]
        plain.append(once(partial(piped, argv)))
    worst = max(b / p for b, p in zip(boxed, plain, strict=True))
    ratio = sum(boxed) / sum(plain)
    print(
        f"{name:44}{ratio:7.2f}{worst:11.2f}"
        f"{statistics.median(boxed) * 1e3:9.0f} ms{statistics.median(plain) * 1e3:9.0f} ms"
        f"{limit:8.2f}   ({len(sources)} sources; second column: the worst one)",
        flush=True,
    )
    return ratio <= limit


def rate(work: Work, workers: int, seconds: float) -> float:
    """Return how often `work` runs per second in several threads."""
    counts = [0] * workers
    end = time.perf_counter() + seconds

    def loop(i: int) -> None:
        while time.perf_counter() < end:
            work()
            counts[i] += 1

    threads = [threading.Thread(target=loop, args=(i,)) for i in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def scaling(level: str | None, folder: Path, rounds: int) -> bool:
    """Print what a second worker adds, relative to what it adds to bare posix_spawn."""
    tiny = ready(folder / "tiny")
    box: dict[int, list[float]] = {1: [], 2: []}
    bare: dict[int, list[float]] = {1: [], 2: []}
    with EmbeddedSandbox(1, level=level) as one, EmbeddedSandbox(2, level=level) as two:
        for _ in range(rounds):
            for n, sandbox in ((1, one), (2, two)):
                box[n].append(rate(partial(sandbox.run, tiny, LIMITS), n, 0.5))
                bare[n].append(rate(partial(spawn, str(folder / "tiny")), n, 0.5))
    ours = statistics.median(box[2]) / statistics.median(box[1])
    theirs = statistics.median(bare[2]) / statistics.median(bare[1])
    print(
        f"{'2 workers / 1 worker, against bare spawn':44}{ours / theirs:7.2f}{'':11}"
        f"{ours:9.2f} × {theirs:10.2f} ×{0.95:8.2f}   (limit: at least)",
        flush=True,
    )
    return ours / theirs >= 0.95


def solutions() -> dict[bool, list[bytes]]:
    """Return 12 solutions that include bits/stdc++.h and 13 that do not."""
    texts = [row.source for row in read_table() if row.program.endswith("/right.cpp")]
    return {
        bits: [text for text in texts if (b"bits/stdc++.h" in text) == bits][: 13 - bits]
        for bits in (True, False)
    }


def main() -> int:
    """Print every figure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--level")
    groups = ["starts", "transfers", "g++", "scaling"]
    parser.add_argument("--only", nargs="+", choices=groups, default=groups)
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory() as name, EmbeddedSandbox(level=options.level) as box:
        folder = Path(name)
        level = box.describe().level
        print(f"level {level}, {len(os.sched_getaffinity(0))} cores, {options.runs} runs")
        print(f"{'figure':44}{'ratio':>7}{'p10 ratio':>11}{'box':>12}{'plain':>12}{'limit':>8}")
        figures = starts(box, folder, level, options.runs)
        if "transfers" in options.only:
            figures += transfers(box, folder, options.runs)
        for figure in figures:
            if "starts" in options.only or figure not in figures[:3]:
                good = measure(figure) and good
        if "g++" in options.only:
            both = solutions()
            rows = (
                ("bits/stdc++.h", both[True], 0.4),
                ("other headers", both[False], 0.6),
                ("25 solutions", both[True] + both[False], 0.5),
            )
            for what, sources, limit in rows:
                name = f"g++      {what} / plain g++"
                good = compiles(box, name, sources, folder, limit) and good
        if "scaling" in options.only:
            good = scaling(options.level, folder, 9) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
