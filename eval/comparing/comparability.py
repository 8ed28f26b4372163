"""Find what differs between two runs besides their solutions.

Different limits, tests, checkers or comparison modes make the figures incomparable: the
comparison is refused. Another machine, sandbox or toolchain may matter: it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradebox.eval.comparing.compared_run import ComparedRun, Conditions, Limits

CALIBRATION_TOLERANCE = 0.1
# Flags that choose what is graded, where and how fast, but not how it is judged. Limits and
# tests are compared by the records, not by the flags they came from.
IRRELEVANT_FLAGS = frozenset(
    {
        *("--solutions-path", "--results-dir", "--limit", "--problems", "--generated-tests-dir"),
        *("--workers", "--drivers", "--generated-tests-workers"),
        *("--executor", "--ray-address"),
        *("--sandbox", "--endpoint", "--endpoint-concurrency", "--cache"),
        *("--fresh", "--dry-run", "--repeat", "--k", "--max-stored-output", "--log-file"),
    }
)
REFUSING_FLAGS = frozenset({"--compare", "--checker", "--testlib"})


@dataclass(frozen=True)
class Difference:
    """One difference. `refuses`: it makes the figures incomparable."""

    what: str
    refuses: bool
    text: str
    problems: tuple[str, ...] = ()


def find_differences(a: ComparedRun, b: ComparedRun) -> list[Difference]:
    """Return every difference, those that refuse a comparison first."""
    found = [*_judging(a, b), *_flags(a, b), *_sandbox(a, b), *_speed(a, b), *_left_out(a, b)]
    return sorted(found, key=lambda difference: not difference.refuses)


def _judging(a: ComparedRun, b: ComparedRun) -> Iterator[Difference]:
    common = [problem for problem in a.shares if problem in b.shares]
    pairs = {problem: (a.conditions[problem], b.conditions[problem]) for problem in common}
    limits = [p for p, (x, y) in pairs.items() if x.limits != y.limits]
    if limits:
        x, y = (" or ".join(sorted(map(_limits_text, c.limits))) for c in pairs[limits[0]])
        text = f"limits or checker differ for {_of(limits, common)}; {limits[0]}: {x} and {y}"
        yield Difference("limits", True, text, tuple(limits))
    tests = [p for p, (x, y) in pairs.items() if _tests_differ(x, y)]
    if tests:
        of_a, of_b = (len(conditions.tests) for conditions in pairs[tests[0]])
        text = f"tests differ for {_of(tests, common)}; {tests[0]}: {of_a} and {of_b} tests"
        yield Difference("tests", True, text, tuple(tests))


def _limits_text(limits: Limits) -> str:
    time_s, memory_bytes, checker = limits
    megabytes = None if memory_bytes is None else memory_bytes >> 20
    return f"{time_s} s, {megabytes} MB, {'a' if checker else 'no'} checker"


def _tests_differ(a: Conditions, b: Conditions) -> bool:
    if not a.tests or not b.tests:  # no program compiled, so the tests are unknown
        return False
    if a.tests.keys() != b.tests.keys():
        return True
    return any(_test_differs(test, b.tests[key]) for key, test in a.tests.items())


def _test_differs(a: tuple[str, int, int], b: tuple[str, int, int]) -> bool:
    inputs_differ = bool(a[0] and b[0]) and a[0] != b[0]
    # Runs may store different lengths of the expected output; equal lengths are comparable.
    return inputs_differ or (a[1] == b[1] and a[2] != b[2])


def _flags(a: ComparedRun, b: ComparedRun) -> Iterator[Difference]:
    for name in sorted(a.flags.keys() & b.flags.keys()):
        if name not in IRRELEVANT_FLAGS and a.flags[name] != b.flags[name]:
            text = f"{name} was {_cut(a.flags[name])} and {_cut(b.flags[name])}"
            yield Difference("flags", name in REFUSING_FLAGS, text)


def _sandbox(a: ComparedRun, b: ComparedRun) -> Iterator[Difference]:
    for name in sorted(a.sandbox.keys() & b.sandbox.keys()):
        x, y = (_cut(" or ".join(sorted(run.sandbox[name]))) for run in (a, b))
        if a.sandbox[name] != b.sandbox[name]:
            yield Difference("sandbox", False, f"sandbox {name} was {x} and {y}")


def _speed(a: ComparedRun, b: ComparedRun) -> Iterator[Difference]:
    x, y = (_calibration_s(run.metrics.get("calibration")) for run in (a, b))
    if x and y and abs(x / y - 1) > CALIBRATION_TOLERANCE:
        text = f"the same program took {x:.3f} s and {y:.3f} s: the machines differ in speed"
        yield Difference("calibration", False, text)


def _calibration_s(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("cpu_s")
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def _left_out(a: ComparedRun, b: ComparedRun) -> Iterator[Difference]:
    for letter, run in (("A", a), ("B", b)):
        if errors := run.statuses["error"]:
            text = f"{errors} solutions of {letter} ended in infrastructure errors and are left out"
            yield Difference("errors", False, text)
    only_a, only_b = len(a.shares.keys() - b.shares), len(b.shares.keys() - a.shares)
    if only_a or only_b:
        text = f"{only_a} problems only in A and {only_b} only in B are left out"
        yield Difference("problems", False, text)


def _of(some: Sequence[str], everything: Sequence[str]) -> str:
    return f"{len(some)} of {len(everything)} common problems"


def _cut(value: object) -> str:
    text = str(value)
    return text if len(text) <= 30 else text[:29] + "…"
