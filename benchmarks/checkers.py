"""How long comparing takes: 10 MB of output against 10 MB expected, one row a way.

    python benchmarks/checkers.py [--megabytes 10] [--repeat 5]

Times are the best of the repeats, in milliseconds of CPU. `peak` is the memory that the
call itself took at most, in MiB (measured in a run of its own).
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checkers import builtin
from checkers.compare import equal

MEGABYTE = 1_000_000
Row = tuple[str, Callable[[], object]]


def texts(size_bytes: int) -> dict[str, bytes]:
    """Numbers of up to nine digits, and the same with other white space and endings."""
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
    """What is measured: (name, call)."""
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
    """Milliseconds of CPU, the best of `repeat`."""
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


def main() -> int:
    p = argparse.ArgumentParser(description="Times of comparing large outputs.")
    p.add_argument("--megabytes", type=float, default=10, help="of each text (10)")
    p.add_argument("--repeat", type=int, default=5, help="the best of so many (5)")
    args = p.parse_args()
    if args.megabytes <= 0 or args.repeat < 1:
        p.error("--megabytes must be above 0 and --repeat at least 1")
    t = texts(int(args.megabytes * MEGABYTE))
    print(f"{'way':32} {'ms':>8} {'peak MiB':>9}")
    for name, call in rows(t):
        print(f"{name:32} {best_ms(call, args.repeat):8.1f} {peak_mib(call):9.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
