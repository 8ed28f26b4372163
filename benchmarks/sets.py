"""Generated sets of problems and solutions for benchmarks, always the same.

    write_set("mixed", folder, nonce) ──▶ problems.jsonl, solutions.jsonl

Every problem has the same task: n steps of a linear congruential generator. C++ programs repeat it
fifty times, so that a case takes 50 ms or more in both languages. A comment with its number and
`nonce` makes each solution's text unique: nothing is shared between solutions, or with an earlier
repetition.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

A, C, M = 1103515245, 12345, 1 << 31
STEPS = 900_000  # about 60 ms of CPython, and of fifty rounds of C++

PYTHON = """\
# {name}
n, x = map(int, input().split())
for _ in range(n):
    x = (x * 1103515245 + 12345) & 2147483647
print({printed})
"""
CPP = """\
// {name}
#include <bits/stdc++.h>
using namespace std;

int main() {{
    unsigned long long n, x, y = 0;
    cin >> n >> x;
    volatile unsigned rounds = 50;
    for (unsigned r = 0; r < rounds; r++) {{
        y = x;
        for (unsigned long long i = 0; i < n; i++) y = (y * 1103515245ULL + 12345) & 2147483647;
    }}
    cout << y << {printed};
}}
"""
# Accepts the number with a point after it, which a comparison would reject.
CHECKER = """\
import sys
texts = [open(name).read().split() for name in sys.argv[1:4]]
print(int(len(texts[2]) == 1 and texts[2][0].rstrip(".") == texts[1][0]))
"""


@dataclass(frozen=True)
class ProblemPlan:
    """One problem of a set: its tests, and its solutions by language."""

    tests: int
    cpp: int
    python: int
    checker: bool = False
    steps: int = STEPS


SETS: dict[str, tuple[ProblemPlan, ...]] = {
    # Both languages, more and fewer tests, one problem with a checker program.
    "mixed": (
        ProblemPlan(tests=10, cpp=4, python=4),
        ProblemPlan(tests=20, cpp=3, python=3),
        ProblemPlan(tests=6, cpp=2, python=2, checker=True),
    ),
    # Few programs, many cases: running dominates.
    "cpu50": (
        ProblemPlan(tests=40, cpp=3, python=3),
        ProblemPlan(tests=40, cpp=2, python=2),
    ),
    # The last solution has 2,000 tests.
    "tail2000": (
        ProblemPlan(tests=10, cpp=3, python=3),
        ProblemPlan(tests=2000, cpp=1, python=0),
    ),
    # Twenty samples per problem, as when pass@k is measured.
    "samples20": (
        ProblemPlan(tests=10, cpp=10, python=10),
        ProblemPlan(tests=10, cpp=10, python=10),
    ),
    # A quick check that everything works.
    "tiny": (ProblemPlan(tests=5, cpp=1, python=1, steps=STEPS // 10),),
}


def after(steps: int, x: int) -> int:
    """Return the generator's value `steps` steps after `x`, by repeated squaring of x ↦ a·x + c."""
    a, c = A, C
    while steps:
        if steps % 2:
            x = (a * x + c) % M
        a, c = a * a % M, (a * c + c) % M
        steps //= 2
    return x


def tests_of(plan: ProblemPlan) -> list[dict[str, str]]:
    """Return the problem's tests, all different."""
    cases = [(plan.steps + i, 7 * i + 1) for i in range(plan.tests)]
    return [{"input": f"{n} {x}\n", "output": f"{after(n, x)}\n"} for n, x in cases]


def problem_rows(plans: tuple[ProblemPlan, ...]) -> Iterator[dict[str, Any]]:
    """Yield rows with the columns of the data set that grading needs."""
    for number, plan in enumerate(plans):
        yield {
            "id": f"9100/{chr(ord('A') + number)}",
            "title": f"benchmark {number}",
            "time_limit": 5.0,
            "memory_limit": 256.0,
            "input_mode": "stdio",
            "official_tests": tests_of(plan),
            "generated_checker": CHECKER if plan.checker else None,
        }


def solution_lines(plans: tuple[ProblemPlan, ...], nonce: str) -> Iterator[dict[str, str]]:
    """Yield lines of a solutions file, alternating between the languages."""
    for number, plan in enumerate(plans):
        problem = f"9100/{chr(ord('A') + number)}"
        for i in range(max(plan.cpp, plan.python)):
            for language, count, text in (("cpp", plan.cpp, CPP), ("python", plan.python, PYTHON)):
                if i < count:
                    name = f"{language} {number}.{i} {nonce}"
                    code = text.format(name=name, printed=_printed(language, plan.checker))
                    yield {"id": problem, "solution_id": name, "language": language, "code": code}


def _printed(language: str, checker: bool) -> str:
    if language == "cpp":
        return '".\\n"' if checker else '"\\n"'
    return 'f"{x}."' if checker else "x"


def write_set(name: str, folder: Path, nonce: str) -> tuple[Path, Path]:
    """Write a set into `folder`. Return the paths of the problems and of the solutions."""
    folder.mkdir(parents=True, exist_ok=True)
    problems, solutions = folder / "problems.jsonl", folder / "solutions.jsonl"
    plans = SETS[name]
    problems.write_text("".join(json.dumps(row) + "\n" for row in problem_rows(plans)))
    solutions.write_text("".join(json.dumps(row) + "\n" for row in solution_lines(plans, nonce)))
    return problems, solutions
