"""A synthetic run of any size; the same seed gives the same records."""

import random
from collections.abc import Iterator
from typing import Any

from tests.eval.results.statistics.made_records import case, solution

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


def synthetic_run(solutions: int, samples: int = 4, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Yield `solutions` records, `samples` for each problem."""
    rng = random.Random(seed)
    for number in range(solutions):
        problem, sample = divmod(number, samples)
        problem_rng = random.Random(f"{seed} {problem}")
        rating = problem_rng.choice([None, *range(800, 3600, 100)])
        chance = 1 / (1 + 10 ** (((rating or 1500) - 1700) / 400))
        passes = rng.random() < 0.15 + 0.8 * chance
        facts = {
            "rating": rating,
            "tags": sorted(problem_rng.sample(TAGS, problem_rng.randint(0, 4))),
            "language": rng.choice(["python", "python", "python", "c++17", "rust"]),
            "contest_year": 2015 + problem % 9,
            "has_checker": problem % 3 == 0,
            "time_limit_s": problem_rng.choice([1.0, 2.0, 3.0]),
            "solution_id": f"gen-{number:05d}",
            "official_tests_complete": problem_rng.random() < 0.7,
        }
        cases = list(_cases(rng, passes, facts["time_limit_s"], problem_rng.randint(6, 14)))
        yield solution(f"{1000 + problem // 6}/{'ABCDEF'[problem % 6]}", sample, cases, **facts)


def _cases(rng: random.Random, passes: bool, limit: float, count: int) -> Iterator[Any]:
    failing = set() if passes else set(rng.sample(range(count), rng.randint(1, 3)))
    verdict = rng.choice(FAILURES)
    for index in range(count):
        cpu_s = min(0.98, rng.lognormvariate(-3, 1.2)) * limit
        numbers = [str(rng.randint(1, 999)) for _ in range(rng.randint(3, 12))]
        expected = "\n".join(numbers) + "\n"
        fields: dict[str, Any] = {
            "case_type": "official" if index < 5 else "generated",
            "cpu_s": cpu_s,
            "wall_s": cpu_s + 0.01,
            "memory_bytes": int(rng.lognormvariate(16.5, 0.8)),
            "output": expected,
            "expected": expected,
            "output_bytes": len(expected),
            "input_bytes": rng.randint(10, 100_000),
        }
        if index in failing:
            numbers[rng.randrange(len(numbers))] = "0"
            fields["output"] = "\n".join(numbers) + "\n"
            fields["output_bytes"] = len(fields["output"])
            if verdict == "TLE":
                fields.update(cpu_s=limit * rng.uniform(1.01, 1.26), output="", output_bytes=0)
            if verdict == "RE":
                fields.update(
                    exit_code=1, stderr="Traceback …\nIndexError: list index out of range\n"
                )
            if verdict == "MLE":
                fields["memory_bytes"] = (256 << 20) + 4096
            if verdict == "CU":
                fields["checker"] = {"stdout": "", "stderr": "KeyError: 3\n", "exit_code": 1}
        yield case(verdict if index in failing else "AC", index, **fields)
