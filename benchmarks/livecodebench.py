"""Grading rows of LiveCodeBench's shape, beside LiveCodeBench's own grader.

    python benchmarks/livecodebench.py CHECKOUT [--solutions 10] [--tests 50] [--repeat 3]

    call   500 cases: their grader 1.02 s · reference 0.81 s, ratio 0.80 · strict 1.10 s, ratio 1.08
    stdin  500 cases: …

CHECKOUT is a clone of https://github.com/LiveCodeBench/LiveCodeBench. Its grader runs in a process
of this interpreter, which needs numpy and tqdm, with as many workers as ours. Times begin when
either side has started, and end with the last verdict; the order changes with every repetition, and
ratios are medians. Every solution is new. The inputs have 10 to 5,000 numbers. Exit status 1 when a
verdict is wrong on either side.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.eval.api.grader import Grader
from gradebox.sandbox.common.cpus import usable_cores

SIZES = (10, 10, 100, 100, 1000, 1000, 5000)
CALLED = """\
class Solution:
    def longestRun(self, nums: List[int], limit: int) -> List[int]:  # {name}
        best, start, window = 0, 0, deque()
        for end, x in enumerate(nums):
            while window and nums[window[-1]] < x:
                window.pop()
            window.append(end)
            while x + limit < nums[window[0]]:
                start = window.popleft() + 1
            best = max(best, end - start + 1)
        return [best, sum(nums)]
"""
PROGRAM = """\
import sys  # {name}
def main():
    data = sys.stdin.read().split()
    n, limit = int(data[0]), int(data[1])
    nums = list(map(int, data[2:]))
    seen = {{}}
    for x in nums:
        seen[x % limit] = seen.get(x % limit, 0) + 1
    print(n, len(seen))
    print(*sorted(seen.values()))
main()
"""
# Runs in a process of its own, of which it does not matter what the solutions do to it.
THEIRS = """\
import contextlib, json, os, sys, time
sys.path.insert(0, sys.argv[1])
from lcb_runner.evaluation.compute_code_generation_metrics import codegen_metrics
out, nowhere = sys.stdout, open(os.devnull, "w")
for line in sys.stdin:
    work = json.loads(line)
    began = time.perf_counter()
    with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        _, results, _ = codegen_metrics(
            work["samples"], [[code] for code in work["codes"]], k_list=[1],
            num_process_evaluate=work["workers"],
        )
    seconds = time.perf_counter() - began
    passed = sum(all(x is True for x in tests) for [tests] in results.values())
    print(json.dumps([seconds, passed]), file=out, flush=True)
"""


def _longest_run(nums: list[int], limit: int) -> list[int]:
    names: dict[str, Any] = {}
    exec("from typing import List\nfrom collections import deque\n" + CALLED, names)
    return names["Solution"]().longestRun(nums, limit)


def _counts(nums: list[int], limit: int) -> str:
    seen: dict[int, int] = {}
    for x in nums:
        seen[x % limit] = seen.get(x % limit, 0) + 1
    return f"{len(nums)} {len(seen)}\n{' '.join(map(str, sorted(seen.values())))}"


def make_row(number: int, tests: int, kind: str) -> dict[str, Any]:
    """Return a row with LiveCodeBench's columns."""
    rng = random.Random(number)
    cases = []
    for i in range(tests):
        nums = [rng.randrange(1000) for _ in range(SIZES[i % len(SIZES)])]
        limit = rng.randrange(2, 900)
        if kind == "call":
            given, wanted = f"{nums}\n{limit}", json.dumps(_longest_run(nums, limit))
        else:
            given = f"{len(nums)} {limit}\n{' '.join(map(str, nums))}"
            wanted = _counts(nums, limit)
        testtype = "functional" if kind == "call" else "stdin"
        cases.append({"input": given, "output": wanted, "testtype": testtype})
    return {
        "question_id": f"{kind}_{number}",
        "question_title": "",
        "question_content": "",
        "platform": "leetcode" if kind == "call" else "atcoder",
        "contest_id": "0",
        "contest_date": "2025-01-04T00:00:00",
        "starter_code": "",
        "difficulty": "medium",
        "public_test_cases": json.dumps(cases[:3]),
        "private_test_cases": json.dumps(cases[3:]),
        "metadata": json.dumps({"func_name": "longestRun"} if kind == "call" else {}),
    }


def sample_of(row: dict[str, Any]) -> dict[str, str]:
    """Return a row as LiveCodeBench hands it to its grader."""
    tests = json.loads(row["public_test_cases"]) + json.loads(row["private_test_cases"])
    both = {f"{name}s": [test[name] for test in tests] for name in ("input", "output")}
    function = json.loads(row["metadata"]).get("func_name")
    return {"input_output": json.dumps({**both, "fn_name": function})}


class Theirs:
    """LiveCodeBench's grader, started and waiting."""

    def __init__(self, checkout: Path) -> None:
        command = [sys.executable, "-c", THEIRS, str(checkout)]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)

    def grade(self, rows: Sequence[dict[str, Any]], codes: list[str], workers: int) -> float:
        """Return the seconds that it took. Exits when a verdict is wrong."""
        work = {"samples": list(map(sample_of, rows)), "codes": codes, "workers": workers}
        assert self._process.stdin and self._process.stdout
        print(json.dumps(work), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            sys.exit("their grader ended: see above")
        seconds, passed = json.loads(answer)
        if passed != len(rows):
            sys.exit(f"their grader passes {passed} of {len(rows)}")
        return float(seconds)

    def close(self) -> None:
        """End its process."""
        self._process.kill()
        self._process.wait()


def by_ours(grader: Grader, rows: Sequence[dict[str, Any]], codes: list[str], judge: str) -> float:
    """Return the seconds that grading took. Exits when a verdict is wrong."""
    pairs = zip(rows, codes, strict=True)
    lines = [{"question_id": row["question_id"], "code": code} for row, code in pairs]
    began = time.perf_counter()
    records = grader.grade(lines, rows)
    seconds = time.perf_counter() - began
    wrong = [record for record in records if record["status"] != "passed"]
    if wrong:
        sys.exit(f"{judge}: {wrong[0]['verdict']} {wrong[0]['error']} of {wrong[0]['problem_id']}")
    return seconds


def measure(options: argparse.Namespace) -> None:
    """Print the figures of both kinds of tests."""
    theirs = Theirs(options.checkout)
    judges = ("reference", "strict")
    graders = {judge: Grader(judge=judge, workers=options.workers).warm_up() for judge in judges}
    try:
        for kind, text in (("call", CALLED), ("stdin", PROGRAM)):
            rows = [make_row(i, options.tests, kind) for i in range(options.solutions)]
            took: dict[str, list[float]] = {name: [] for name in ("theirs", *judges)}
            for turn in range(options.repeat + 1):  # the first one warms up
                for name in list(took)[:: -1 if turn % 2 else 1]:
                    codes = [text.format(name=f"{name} {turn}.{i}") for i in range(len(rows))]
                    if name == "theirs":
                        seconds = theirs.grade(rows, codes, options.workers)
                    else:
                        seconds = by_ours(graders[name], rows, codes, name)
                    took[name] += [seconds] if turn else []
            parts = [f"their grader {statistics.median(took['theirs']):.2f} s"]
            for judge in judges:
                pairs = zip(took[judge], took["theirs"], strict=True)
                ratio = statistics.median(a / b for a, b in pairs)
                parts.append(f"{judge} {statistics.median(took[judge]):.2f} s, ratio {ratio:.2f}")
            print(f"{kind:5}  {options.solutions * options.tests} cases: {' · '.join(parts)}")
    finally:
        theirs.close()
        for grader in graders.values():
            grader.close()


def main() -> None:
    """Read the flags and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", 1)[0])
    parser.add_argument("checkout", type=Path, help="folder of LiveCodeBench's source")
    parser.add_argument("--solutions", type=int, default=10)
    parser.add_argument("--tests", type=int, default=50, help="tests of each solution")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--workers", type=int, default=usable_cores())
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
