"""The speed of the math answer grader: its two tiers, and a long run in which some pairs hang.

    python benchmarks/answers.py                     everything, the long run with 2,000 pairs
    python benchmarks/answers.py --pairs 100000      the long run in full (minutes)
    python benchmarks/answers.py --only tier1

Pairs are generated from a seed. One JSON line is printed for each figure.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.checkers.math.grading import Grade, grade_many  # noqa: E402
from gradebox.checkers.math.workers.answers import Pool  # noqa: E402
from gradebox.sandbox.common.cpus import usable_cores  # noqa: E402

Pair = tuple[str, str]

HANGING = (
    "x^{61}+3x^{39}-7x^3+5 > 0",
    "x^{200}+x^{101}+7x^{100}-3x+1 > 0",
    "x^{91}-5x^{32}+2x > 1",
)


def tier1_pair(rng: random.Random) -> Pair:
    """Return a pair for the first tier: equal texts, or two plain numbers."""
    n = rng.randrange(1, 10**6)
    kind = rng.randrange(5)
    if kind == 0:
        return str(n), str(n)
    if kind == 1:
        return str(n), str(n + rng.randrange(1, 5))
    if kind == 2:
        return rf"\frac{{{n}}}{{7}}", rf"\frac{{{2 * n}}}{{14}}"
    if kind == 3:
        return str(n), f"{n}.0"
    return rf"x^{{{n}}}+1", rf"x^{{{n}}}+1"


def tier2_pair(rng: random.Random) -> Pair:
    """Return a pair that needs a worker."""
    a, b = rng.randrange(2, 60), rng.randrange(2, 60)
    same = rng.random() < 0.6
    c = b if same else b + 1
    forms: tuple[Pair, ...] = (
        (rf"{a}\sqrt{{{b}}}", rf"\sqrt{{{a * a * c}}}"),
        (rf"(x-{a})(x+{b})", rf"x^2+{b}x-{a}x-{a * c}"),
        (rf"[{a},{a + b})", rf"{a} \le x < {a + c}"),
        (rf"({a},{b})", rf"\left({a}, \frac{{{2 * c}}}{{2}}\right)"),
        (rf"{a}\text{{ cm}}", rf"{a if same else a + 1}"),
        (
            rf"\begin{{pmatrix}}{a}\\{b}\end{{pmatrix}}",
            rf"\begin{{bmatrix}}{a}\\{c}\end{{bmatrix}}",
        ),
        (rf"y={a}x+{b}", rf"{a}x-y+{c}=0"),
        (rf"\sin^2({a}x)+{b}", rf"{c + 1}-\cos^2({a}x)"),
        (rf"{a},{b}", rf"{c}, {a}"),
        (rf"\log_{{2}} {2 ** (a % 20 + 1)}", str(a % 20 + (1 if same else 2))),
    )
    return forms[rng.randrange(len(forms))]


def mixed(count: int, hanging: float, seed: int) -> Iterator[Pair]:
    """Yield pairs, half for each tier; a share of all hangs."""
    rng = random.Random(seed)
    for i in range(count):
        if rng.random() < hanging:
            yield "5", HANGING[i % len(HANGING)]
        elif i % 2:
            yield tier1_pair(rng)
        else:
            yield tier2_pair(rng)


def tier1(count: int) -> dict[str, object]:
    rng = random.Random(1)
    pairs = [tier1_pair(rng) for _ in range(count)]
    start = time.perf_counter()
    grades = list(grade_many(pairs))
    took = time.perf_counter() - start
    outside = sum(g.tier != 1 for g in grades)
    return {"bench": "tier1", "pairs": count, "pairs_per_s": round(count / took), "tier2": outside}


def tier2(count: int, workers: int) -> dict[str, object]:
    rng = random.Random(2)
    pairs = [tier2_pair(rng) for _ in range(count)]
    with Pool(workers) as pool:
        list(grade_many(pairs[: 4 * workers], pool=pool))  # start the workers
        start = time.perf_counter()
        grades = list(grade_many(pairs, pool=pool))
        took = time.perf_counter() - start
    return {
        "bench": "tier2",
        "pairs": count,
        "workers": workers,
        "pairs_per_s_per_worker": round(count / took / workers, 1),
        "tier1": sum(g.tier == 1 for g in grades),
        "equal": sum(g.equal for g in grades),
    }


def long_run(count: int, hanging: float, timeout: float, workers: int) -> dict[str, object]:
    seen = _Watch()
    with Pool(workers) as pool:
        start = time.perf_counter()
        for i, found in enumerate(grade_many(mixed(count, hanging, 3), timeout=timeout, pool=pool)):
            seen.add(found)
            if i % max(1, count // 20) == 0:
                seen.memory(pool)
        took = time.perf_counter() - start
        seen.memory(pool)
    return {
        "bench": "long",
        "pairs": count,
        "hanging": hanging,
        "timeout_s": timeout,
        "workers": workers,
        "seconds": round(took, 1),
        **seen.as_json(),
    }


class _Watch:
    """Count grades and sample the memory of this process and of its workers."""

    def __init__(self) -> None:
        self.tier2 = 0
        self.limits = 0
        self.ours: list[int] = []
        self.theirs: list[int] = []

    def add(self, found: Grade) -> None:
        self.tier2 += found.tier == 2
        self.limits += found.reason in ("time limit", "memory limit", "crashed")

    def memory(self, pool: Pool) -> None:
        self.ours.append(_resident_mb("self"))
        self.theirs.append(max((_resident_mb(str(pid)) for pid in pool.pids()), default=0))

    def as_json(self) -> dict[str, object]:
        return {
            "tier2": self.tier2,
            "hit_a_limit": self.limits,
            "caller_mb": [self.ours[0], max(self.ours), self.ours[-1]],
            "worker_mb": [self.theirs[0], max(self.theirs), self.theirs[-1]],
        }


def _resident_mb(pid: str) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * 4096 >> 20


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", choices=("tier1", "tier2", "long"))
    parser.add_argument("--pairs", type=int, default=2000, help="pairs of the long run")
    parser.add_argument("--tier1-pairs", type=int, default=100_000)
    parser.add_argument("--tier2-pairs", type=int, default=1000)
    parser.add_argument("--hanging", type=float, default=0.01, help="share that hangs")
    parser.add_argument("--timeout", type=float, default=0.5, help="CPU seconds per pair")
    parser.add_argument("--workers", type=int, default=usable_cores())
    args = parser.parse_args()
    if args.only in (None, "tier1"):
        print(json.dumps(tier1(args.tier1_pairs)), flush=True)
    if args.only in (None, "tier2"):
        print(json.dumps(tier2(args.tier2_pairs, args.workers)), flush=True)
    if args.only in (None, "long"):
        run = long_run(args.pairs, args.hanging, args.timeout, args.workers)
        print(json.dumps(run), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
