"""The time of comparing 10 MB of output with 10 MB of expected output, by each checker.

    python benchmarks/checkers.py [--megabytes 10] [--repeat 5]

Times are the best of the repeats, in milliseconds of CPU time. `peak` is the peak memory of the
call in MiB (measured in a separate run).

A second table has the wall time of one case of a small Python checker, in milliseconds: started by
`subprocess.run`, and in the embedded sandbox by exec and by fork. The ways take turns; the time is
the median of the turns.
"""

from __future__ import annotations

import argparse
import random
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.checkers import builtin
from gradebox.checkers.compare import equal
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import Program

MEGABYTE = 1_000_000
Row = tuple[str, Callable[[], object]]


def texts(size_bytes: int) -> dict[str, bytes]:
    """Return texts of numbers that differ in white space, line ends or the last character."""
    draw = random.Random(1)
    numbers = [str(draw.randrange(10**9)).encode() for _ in range(size_bytes // 10)]
    lines = b"\n".join(numbers) + b"\n"
    doubles = b"\n".join(b"%d.%06d" % (draw.randrange(10), draw.randrange(10**6)) for _ in numbers)
    return {
        "lines": lines,
        "copy": bytes(bytearray(lines)),
        "spaces": lines.replace(b"\n", b" "),
        "crlf": lines.replace(b"\n", b"\r\n"),
        "last differs": lines[:-2] + b"x\n",
        "doubles": doubles,
        "other doubles": doubles.replace(b"\n", b"1\n"),
        "yes": b"YES\n" * (size_bytes // 4),
        "lower yes": b"yes\n" * (size_bytes // 4),
    }


def rows(t: dict[str, bytes]) -> Iterator[Row]:
    """Yield (name, call) of each measurement."""
    a = t["lines"]
    for mode in ("open-r1", "upstream"):
        for other in ("copy", "spaces", "crlf", "last differs"):
            if (mode, other) != ("upstream", "spaces"):
                yield f"compare {mode}, {other}", lambda o=t[other], m=mode: equal(o, a, m)
    yield "compare open-r1, yes/YES", lambda: equal(t["lower yes"], t["yes"], "open-r1")
    for name in ("wcmp", "lcmp", "fcmp", "ncmp", "uncmp", "kattis"):
        for other in ("copy", "crlf"):
            yield f"{name}, {other}", lambda o=t[other], n=name: builtin(n)(b"", o, a)
    yield "wcmp, spaces", lambda: builtin("wcmp")(b"", t["spaces"], a)
    yield "ncmp, spaces", lambda: builtin("ncmp")(b"", t["spaces"], a)
    yield "nyesno, yes/YES", lambda: builtin("nyesno")(b"", t["lower yes"], t["yes"])
    yield "rcmp6, equal", lambda: builtin("rcmp6")(b"", t["doubles"], t["doubles"])
    yield (
        "rcmp6, every number differs",
        lambda: builtin("rcmp6")(b"", t["other doubles"], t["doubles"]),
    )


def best_ms(call: Callable[[], object], repeat: int) -> float:
    """Return milliseconds of CPU time, the best of `repeat`."""
    times = []
    for _ in range(repeat):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times) * 1000


def peak_mib(call: Callable[[], object]) -> float:
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / (1 << 20)


CHECKER = """
import sys
from collections import Counter
given, expected, output = (open(path).read() for path in sys.argv[1:4])
print(1 if Counter(output.split()) == Counter(expected.split()) else 0)
"""
CASE_FILES = {"input.txt": b"3\n", "correct.txt": b"1 2 3\n", "output.txt": b"3 2 1\n"}


TURNS = 5


def started_by_subprocess(folder: Path) -> None:
    subprocess.run(
        [sys.executable, "checker.py", *CASE_FILES], cwd=folder, capture_output=True, check=True
    )


def checked(checker: ProgramChecker) -> None:
    given, expected, output = CASE_FILES.values()
    if not checker.check(given, output, expected).accepted:
        raise RuntimeError("the checker must accept its case")


def ms_per_case(case: Callable[[], None], cases: int) -> float:
    start = time.perf_counter()
    for _ in range(cases):
        case()
    return (time.perf_counter() - start) / cases * 1000


def print_starts(cases: int) -> None:
    program = Program("python", {"checker.py": CHECKER.encode()})
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedSandbox(1, python_start="exec") as executes,
        EmbeddedSandbox(1) as forks,
    ):
        for name, content in {**CASE_FILES, "checker.py": CHECKER.encode()}.items():
            (Path(folder) / name).write_bytes(content)
        by_exec, by_fork = (
            ProgramChecker(box, PROTOCOLS["python"], program) for box in (executes, forks)
        )
        ways: dict[str, Callable[[], None]] = {
            "subprocess.run": lambda: started_by_subprocess(Path(folder)),
            "sandbox, exec": lambda: checked(by_exec),
            f"sandbox, {forks.describe().details['python_start']}": lambda: checked(by_fork),
        }
        for case in ways.values():
            case()
        turns = [[ms_per_case(case, cases) for case in ways.values()] for _ in range(TURNS)]
    print(f"\n{'Python checker, one case':32} {'ms':>8}")
    for name, times in zip(ways, zip(*turns, strict=True), strict=True):
        print(f"{name:32} {statistics.median(times):8.1f}")


def main() -> int:
    p = argparse.ArgumentParser(description="The time of comparing large outputs.")
    p.add_argument("--megabytes", type=float, default=10, help="size of each text (10)")
    p.add_argument("--repeat", type=int, default=5, help="repeats, of which the best counts (5)")
    p.add_argument("--cases", type=int, default=50, help="cases of the Python checker (50)")
    args = p.parse_args()
    if args.megabytes <= 0 or args.repeat < 1 or args.cases < 1:
        p.error("--megabytes must be above 0, --repeat and --cases at least 1")
    t = texts(int(args.megabytes * MEGABYTE))
    print(f"{'checker':32} {'ms':>8} {'peak MiB':>9}")
    for name, call in rows(t):
        print(f"{name:32} {best_ms(call, args.repeat):8.1f} {peak_mib(call):9.1f}")
    print_starts(args.cases)
    return 0


if __name__ == "__main__":
    sys.exit(main())
