"""Short Python programs: the grader against plain starts of the interpreter.

    python benchmarks/python_start.py [--data DIR] [--repeat 3]

    hello, numpy    a call of sandbox.run / subprocess.run of the same program, alternating
    real solutions  60 Python solutions of testing/submissions/codeforces, with tests of DIR
                    (problems.jsonl with the columns of open-r1/codeforces): the whole command / a
                    thread pool with subprocess.run, at 400 and at 2,000 cases. The difference of
                    the two is what the cases cost, the rest is the fixed start.

The plain side is the fastest here: Debian's interpreter if there is one (no *.pth files of its own,
no shim), except for numpy, which needs the interpreter that has it.
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
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from benchmarks import plain
from benchmarks.suite import by_grader, by_plain
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.model import Limits, Program
from testing.submissions.codeforces.table import Intended, read_table

HELLO = b"print(int(input()) + 1)\n"
NUMPY = b"import numpy as np\nprint(np.arange(int(input())).sum())\n"
SOLUTIONS, FEW, MANY = 60, 400, 2000
DEBIAN = Path("/usr/bin/python3")


def median_ms(work: Callable[[], object], times: int) -> float:
    """Return the median time of a call in milliseconds."""
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return statistics.median(took) * 1000


def one_program(level: str | None, repeat: int) -> None:
    """Print the ratios of single programs."""
    with EmbeddedSandbox(1, level=level) as box, tempfile.TemporaryDirectory() as folder:
        described = box.describe()
        print(f"level {described.level}, python start {described.details['python_start']}")
        fastest = str(DEBIAN.resolve()) if DEBIAN.exists() else plain.python()
        for name, source, python in (("hello", HELLO, fastest), ("numpy", NUMPY, plain.python())):
            path = Path(folder, f"{name}_program.py")
            path.write_bytes(source)
            words = [python, str(path)]
            compiled = box.compile(Program("python", {"main.py": source}))

            def boxed(compiled: Any = compiled) -> None:
                assert box.run(compiled, Limits(), stdin=b"3\n").stdout

            def bare(words: list[str] = words) -> None:
                assert subprocess.run(words, input=b"3\n", capture_output=True).stdout

            try:
                bare(), boxed()
            except AssertionError:
                print(f"{name:<16} not installed for {python}")
                continue
            pairs = [(median_ms(boxed, 40), median_ms(bare, 10)) for _ in range(repeat)]
            ratios = [a / b for a, b in pairs]
            a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
            print(
                f"{name:<16} {a:7.2f} ms  plain {b:7.2f} ms  ratio {statistics.median(ratios):.3f} "
                f"({min(ratios):.3f} … {max(ratios):.3f})",
                flush=True,
            )


def chosen_solutions() -> list[Intended]:
    """Return Python solutions that end quickly, right ones first."""
    rows = [r for r in read_table() if r.language == "python" and r.verdict in ("AC", "WA")]
    rows.sort(key=lambda row: row.verdict)
    return rows[:SOLUTIONS]


def write_set(data: Path, folder: Path, cases: int, nonce: str) -> tuple[Path, Path]:
    """Write problems and solutions with so many cases in all."""
    rows = chosen_solutions()
    problems = {r["id"]: r for r in map(json.loads, (data / "problems.jsonl").open())}
    folder.mkdir(parents=True)
    lines = []
    for row in rows:
        code = row.source.decode() + f"\n# {nonce}\n"
        lines.append({"id": row.problem, "language": "python", "code": code})
    each = cases // len(rows)
    used = [problems[name] for name in dict.fromkeys(row.problem for row in rows)]
    for problem in used:
        problem["official_tests"] = list(islice(cycle(problem["official_tests"]), each))
    for name, content in (("problems", used), ("solutions", lines)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in content))
    return folder / "problems.jsonl", folder / "solutions.jsonl"


def real_solutions(data: Path, repeat: int, workers: int) -> None:
    """Print what the cases cost, and the fixed start."""
    if DEBIAN.exists():
        plain.python = lambda: str(DEBIAN.resolve())  # type: ignore[assignment]
    slopes, starts, wholes = [], [], []
    for i in range(repeat):
        took: dict[tuple[str, int], float] = {}
        for cases in (FEW, MANY):
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                problems, solutions = write_set(data, folder / "set", cases, f"{os.getpid()} {i}")
                took["box", cases] = by_grader(
                    problems, solutions, folder / "results", workers
                ).wall_s
                took["plain", cases] = by_plain(problems, solutions, folder / "plain", workers)[0]
        more = {side: took[side, MANY] - took[side, FEW] for side in ("box", "plain")}
        slopes.append(more["box"] / more["plain"])
        starts.append(took["box", FEW] - more["box"] * FEW / (MANY - FEW))
        wholes.append(took["box", FEW] / took["plain", FEW])
        print(
            f"{FEW} cases {took['box', FEW]:.2f} s, plain {took['plain', FEW]:.2f} s; "
            f"{MANY} cases {took['box', MANY]:.2f} s, plain {took['plain', MANY]:.2f} s",
            flush=True,
        )
    print(
        f"from {FEW} to {MANY} cases: ratio {statistics.median(slopes):.3f}; the rest "
        f"{statistics.median(starts):.2f} s; {FEW} cases, whole: {statistics.median(wholes):.3f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, help="folder of real problems")
    parser.add_argument("--repeat", type=int, default=3, help="repetitions (default 3)")
    parser.add_argument("--level", help="isolation level (default: the strongest)")
    args = parser.parse_args()
    one_program(args.level, args.repeat)
    if args.data:
        real_solutions(args.data, args.repeat, usable_cores())
    return 0


if __name__ == "__main__":
    sys.exit(main())
