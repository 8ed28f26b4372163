"""A run made up to look like a real one, of any size, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.eval.statistics.made_records import case, solution

TAGS = (
    *("dp", "greedy", "math", "implementation", "graphs", "strings", "data structures"),
    *("constructive algorithms", "number theory", "geometry", "binary search", "trees"),
)
FAILURES = ("WA", "WA", "WA", "WA", "TLE", "TLE", "RE", "MLE", "OLE", "CU")
METRICS = {
    "timestamp": "2026-03-01T12:00:00Z",
    "flags": {"dataset": "made-up", "compare": "open-r1", "max_generated_tests": 8},
    "sandbox": {"backend": "box", "level": "namespaces"},
    "calibration": {"cpu_s": 0.41},
}


def made_run(solutions: int, samples: int = 4, seed: int = 1) -> Iterator[dict[str, Any]]:
    """`solutions` records over problems of rising difficulty, `samples` a problem."""
    random_ = random.Random(seed)
    for number in range(solutions):
        problem, sample = divmod(number, samples)
        about = random.Random(f"{seed} {problem}")
        rating = about.choice([None, *range(800, 3600, 100)])
        chance = 1 / (1 + 10 ** (((rating or 1500) - 1700) / 400))
        passes = random_.random() < 0.15 + 0.8 * chance
        facts = {
            "rating": rating,
            "tags": sorted(about.sample(TAGS, about.randint(0, 4))),
            "language": random_.choice(["python", "python", "python", "c++17", "rust"]),
            "contest_year": 2015 + problem % 9,
            "has_checker": problem % 3 == 0,
            "time_limit_s": about.choice([1.0, 2.0, 3.0]),
            "solution_id": f"gen-{number:05d}",
            "official_tests_complete": about.random() < 0.7,
        }
        cases = list(_cases(random_, passes, facts["time_limit_s"], about.randint(6, 14)))
        yield solution(f"{1000 + problem // 6}/{'ABCDEF'[problem % 6]}", sample, cases, **facts)


def _cases(random_: random.Random, passes: bool, limit: float, many: int) -> Iterator[Any]:
    failing = set() if passes else set(random_.sample(range(many), random_.randint(1, 3)))
    verdict = random_.choice(FAILURES)
    for index in range(many):
        cpu_s = min(0.98, random_.lognormvariate(-3, 1.2)) * limit
        numbers = [str(random_.randint(1, 999)) for _ in range(random_.randint(3, 12))]
        expected = "\n".join(numbers) + "\n"
        fields: dict[str, Any] = {
            "case_type": "official" if index < 5 else "generated",
            "cpu_s": cpu_s,
            "wall_s": cpu_s + 0.01,
            "memory_bytes": int(random_.lognormvariate(16.5, 0.8)),
            "output": expected,
            "expected": expected,
            "output_bytes": len(expected),
            "input_bytes": random_.randint(10, 100_000),
        }
        if index in failing:
            numbers[random_.randrange(len(numbers))] = "0"
            fields["output"] = "\n".join(numbers) + "\n"
            fields["output_bytes"] = len(fields["output"])
            if verdict == "TLE":
                fields.update(cpu_s=limit * random_.uniform(1.01, 1.26), output="", output_bytes=0)
            if verdict == "RE":
                fields.update(
                    exit_code=1, stderr="Traceback …\nIndexError: list index out of range\n"
                )
            if verdict == "MLE":
                fields["memory_bytes"] = (256 << 20) + 4096
            if verdict == "CU":
                fields["checker"] = {"stdout": "", "stderr": "KeyError: 3\n", "exit_code": 1}
        yield case(verdict if index in failing else "AC", index, **fields)
