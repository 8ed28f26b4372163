"""The time of a batch of rewards against a plain loop, and leaks after many batches.

    python benchmarks/rewards.py [--batches 20] [--plain 5] [--workers N]
    python benchmarks/rewards.py --soak 10000

    64 completions × 20 tests, early stop, 2 workers
      batch 1: 2.35 s, plain 2.50 s
    …
    grader  p50 2.31 s  p95 2.60 s        plain  p50 2.52 s
    ratio of the medians 0.92; all rewards correct

A batch has accepted, wrong (at the first, a middle and the last test), crashing, slow, not
compiling and missing programs, in Python and C++. All texts are new in every batch, so nothing is
compiled or graded beforehand; the sandbox and the problem stay warm. The plain loop is a thread
pool with subprocess.run, which also stops a program at its first failure. Exit status 1 when a
reward is wrong or something leaks.
"""

from __future__ import annotations

import argparse
import gc
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from benchmarks.plain import python
from gradebox.eval.api.grader import Grader
from gradebox.eval.api.rewards import make_codeforces
from gradebox.sandbox.common.cpus import usable_cores

TESTS = [{"input": f"{n} {n * n}\n", "output": f"{n + n * n}\n"} for n in range(1, 21)]
TIME_LIMIT_S = 1.0

PYTHON = "a, b = map(int, input().split())\nprint(a + b{wrong})  # {name}\n"
CPP = (
    "#include <iostream>\nint main() {{ long long a, b; std::cin >> a >> b;"
    " std::cout << a + b{wrong} << '\\n'; }}  // {name}\n"
)
SLOW = "while True:\n    pass  # {name}\n"
CRASH = "print(int('x'))  # {name}\n"
BROKEN = "int main( {{  // {name}\n"

# (count, language, program, text added to the answer, reward in mode pass_fail)
MIX: tuple[tuple[int, str, str, str, float], ...] = (
    (16, "python", PYTHON, "", 1.0),
    (8, "cpp", CPP, "", 1.0),
    (10, "python", PYTHON, " + 1", 0.0),
    (4, "cpp", CPP, " + 1", 0.0),
    (8, "python", PYTHON, " + (a == 10)", 0.0),
    (4, "python", PYTHON, " + (a == 20)", 0.0),
    (4, "python", CRASH, "", 0.0),
    (2, "python", SLOW, "", 0.0),
    (4, "cpp", BROKEN, "", -0.1),
    (4, "", "I can't solve this one. {name}", "", -1.0),
)


def batch(nonce: str) -> tuple[list[str], list[str], list[float]]:
    """Return completions, all different, their languages and their correct rewards."""
    completions, languages, rewards = [], [], []
    for count, language, program, wrong, reward in MIX:
        for i in range(count):
            text = program.format(wrong=wrong, name=f"{nonce}.{len(completions)}.{i}")
            completions.append(f"```{language}\n{text}```" if language else text)
            languages.append(language or "python")
            rewards.append(reward)
    return completions, languages, rewards


def by_grader(grader: Grader, nonce: str) -> tuple[float, bool]:
    """Return the seconds of one batch, and whether every reward was correct."""
    completions, languages, correct = batch(nonce)
    reward = make_codeforces("pass_fail", grader=grader)
    count = len(completions)
    started = time.perf_counter()
    rewards = reward(
        completions,
        id=["9200/A"] * count,
        language=languages,
        official_tests=[TESTS] * count,
        time_limit=[TIME_LIMIT_S] * count,
    )
    return time.perf_counter() - started, rewards == correct


def by_plain(nonce: str, workers: int) -> tuple[float, bool]:
    """As `by_grader`, with the plain loop."""
    completions, languages, correct = batch(nonce)
    with tempfile.TemporaryDirectory(prefix="rewards-") as folder:
        started = time.perf_counter()
        with ThreadPoolExecutor(workers) as pool:
            rewards = list(
                pool.map(
                    lambda item: plain_reward(Path(folder), *item),
                    zip(range(len(completions)), completions, languages, strict=True),
                )
            )
        seconds = time.perf_counter() - started
    return seconds, rewards == correct


def plain_reward(folder: Path, number: int, completion: str, language: str) -> float:
    """Return the reward of one completion: extract, compile, run up to the first failure."""
    found = re.search(r"```\w+\n(.*?)```", completion, re.DOTALL)
    if found is None:
        return -1.0
    source = folder / f"{number}.{'cpp' if language == 'cpp' else 'py'}"
    source.write_text(found[1])
    command = [python(), str(source)]
    if language == "cpp":
        command = [str(source.with_suffix(""))]
        compiler = ["g++", "-std=c++17", "-O2", str(source), "-o", *command]
        if subprocess.run(compiler, capture_output=True).returncode:
            return -0.1
    return 1.0 if all(plain_passes(command, test) for test in TESTS) else 0.0


def plain_passes(command: list[str], test: dict[str, str]) -> bool:
    """Run one test, with the time limit on the wall clock."""
    try:
        run = subprocess.run(
            command, input=test["input"], capture_output=True, text=True, timeout=TIME_LIMIT_S
        )
    except subprocess.TimeoutExpired:
        return False
    return run.returncode == 0 and run.stdout.split() == test["output"].split()


def measure(batches: int, plain: int, workers: int) -> bool:
    """Print the figures. Return False when a reward of the grader was wrong."""
    print(f"{sum(row[0] for row in MIX)} completions × {len(TESTS)} tests, early stop, "
          f"{workers} workers", flush=True)  # fmt: skip
    ours, theirs, right = [], [], True
    with Grader(
        sandbox="local", workers=workers, stop_on_first_failure=True, max_stored_output=0
    ) as grader:
        by_grader(grader, "warm")
        for i in range(batches):
            seconds, good = by_grader(grader, f"g{i}")
            ours.append(seconds)
            right = right and good
            if i < plain:
                theirs.append(by_plain(f"p{i}", workers)[0])
            beside = f", plain {theirs[i]:.2f} s" if i < plain else ""
            print(f"  batch {i + 1}: {seconds:.2f} s{beside}", flush=True)
    p95 = sorted(ours)[max(0, -(-95 * len(ours) // 100) - 1)]
    print(f"grader  p50 {statistics.median(ours):.2f} s  p95 {p95:.2f} s", end="")
    if theirs:
        ratio = statistics.median(ours[: len(theirs)]) / statistics.median(theirs)
        print(f"        plain  p50 {statistics.median(theirs):.2f} s")
        print(f"ratio of the medians {ratio:.2f}", end="")
    print("; all rewards correct" if right else "; WRONG REWARD")
    return right


def counts() -> dict[str, int]:
    """Return this process's descriptors, threads, children and MB of memory."""
    gc.collect()
    tasks = Path("/proc/self/task").iterdir()
    status = Path("/proc/self/status").read_text()
    resident = re.search(r"VmRSS:\s+(\d+)", status)
    return {
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "threads": threading.active_count(),
        "children": sum(len((task / "children").read_text().split()) for task in tasks),
        "MB": int(resident[1]) >> 10 if resident else 0,
    }


def soak(batches: int, workers: int) -> bool:
    """Run many small batches, each of a new problem. Return False when something leaks."""
    print(f"{batches} batches of 2 completions, each of a new problem", flush=True)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    started = time.perf_counter()
    with Grader(sandbox="local", workers=workers, max_stored_output=0) as grader:
        reward = make_codeforces("weighted_sum", grader=grader)
        for i in range(batches):
            texts = [f"```python\n{PYTHON.format(wrong=w, name=i)}```" for w in ("", " + 1")]
            given = reward(texts, id=[f"{i}/A"] * 2, official_tests=[TESTS[:1]] * 2)
            if given != [1.1, 0.0]:
                print(f"batch {i}: rewards {given}, not [1.1, 0.0]", file=sys.stderr)
                return False
            if i == min(100, batches // 2):
                first = counts()
            if i % max(1, batches // 10) == 0:
                print(f"{i:7} {counts()} {time.perf_counter() - started:.0f} s", flush=True)
        last = counts()
    print(f"at batch {min(100, batches // 2)}: {first}\nat the end:  {last}")
    return last["threads"] <= first["threads"] and last["descriptors"] <= first["descriptors"] + 16


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--batches", type=int, default=20, help="measured batches (default 20)")
    parser.add_argument("--plain", type=int, default=5, help="batches of the plain loop (5)")
    parser.add_argument("--workers", type=int, default=usable_cores(), help="default: cores")
    parser.add_argument("--soak", type=int, metavar="N", help="N small batches; check for leaks")
    args = parser.parse_args()
    if args.batches < 1 or args.workers < 1 or args.plain < 0:
        parser.error("--batches and --workers must be at least 1, --plain at least 0")
    if args.soak:
        return 0 if soak(args.soak, args.workers) else 1
    return 0 if measure(args.batches, args.plain, args.workers) else 1


if __name__ == "__main__":
    sys.exit(main())
