"""May two runs be compared? What differs between them besides the solutions.

Differing limits, tests, checkers or comparison make another measurement: comparison is refused.
Another machine, sandbox or toolchain may matter: a warning, loud.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from eval.compare_parts.side import Conditions, Side

CALIBRATION_TOLERANCE = 0.1
# Flags that say what was graded, where and how fast, but not how it was judged; limits and
# tests are compared by what the records hold, not by the flags that led to them.
FLAGS_OF_NO_MATTER = frozenset(
    {
        *("--solutions-path", "--results-dir", "--limit", "--problems", "--generated-tests-dir"),
        *("--workers", "--generated-tests-workers", "--executor", "--ray-address"),
        *("--sandbox", "--endpoint", "--endpoint-concurrency", "--cache"),
        *("--fresh", "--dry-run", "--repeat", "--k", "--max-stored-output", "--log-file"),
    }
)
FLAGS_THAT_REFUSE = frozenset({"--compare", "--checker", "--testlib"})


@dataclass(frozen=True)
class Difference:
    """One thing that differs; `refuses` when the numbers can't be set against each other."""

    what: str
    refuses: bool
    text: str
    problems: tuple[str, ...] = ()


def differences(a: Side, b: Side) -> list[Difference]:
    """Everything that differs, what refuses first."""
    found = [*_conditions(a, b), *_flags(a, b), *_sandbox(a, b), *_calibration(a, b), *_left(a, b)]
    return sorted(found, key=lambda difference: not difference.refuses)


def _conditions(a: Side, b: Side) -> Iterator[Difference]:
    common = [problem for problem in a.shares if problem in b.shares]
    pairs = {problem: (a.conditions[problem], b.conditions[problem]) for problem in common}
    limits = [p for p, (x, y) in pairs.items() if x.limits != y.limits]
    if limits:
        x, y = (_limits_text(side) for side in pairs[limits[0]])
        text = f"limits or checker differ for {_of(limits, common)}; {limits[0]}: {x} and {y}"
        yield Difference("limits", True, text, tuple(limits))
    tests = [p for p, (x, y) in pairs.items() if _tests_differ(x, y)]
    if tests:
        of_a, of_b = (len(side.tests) for side in pairs[tests[0]])
        text = f"tests differ for {_of(tests, common)}; {tests[0]}: {of_a} and {of_b} tests"
        yield Difference("tests", True, text, tuple(tests))


def _limits_text(conditions: Conditions) -> str:
    def one(limit: tuple[float | None, int | None, bool | None]) -> str:
        time_s, memory, checker = limit
        megabytes = None if memory is None else memory >> 20
        return f"{time_s} s, {megabytes} MB, {'a' if checker else 'no'} checker"

    return " or ".join(sorted(map(one, conditions.limits)))


def _tests_differ(a: Conditions, b: Conditions) -> bool:
    if not a.tests or not b.tests:  # nothing compiled there: its tests are not known
        return False
    if a.tests.keys() != b.tests.keys():
        return True
    return any(_test_differs(test, b.tests[key]) for key, test in a.tests.items())


def _test_differs(a: tuple[str, int, int], b: tuple[str, int, int]) -> bool:
    inputs_differ = bool(a[0] and b[0]) and a[0] != b[0]
    # Runs may store different lengths of the expected output; equal lengths are comparable.
    return inputs_differ or (a[1] == b[1] and a[2] != b[2])


def _flags(a: Side, b: Side) -> Iterator[Difference]:
    for name in sorted(a.flags.keys() & b.flags.keys()):
        if name not in FLAGS_OF_NO_MATTER and a.flags[name] != b.flags[name]:
            text = f"{name} was {_short(a.flags[name])} and {_short(b.flags[name])}"
            yield Difference("flags", name in FLAGS_THAT_REFUSE, text)


def _sandbox(a: Side, b: Side) -> Iterator[Difference]:
    for name in sorted(a.sandbox.keys() & b.sandbox.keys()):
        x, y = a.sandbox[name], b.sandbox[name]
        if x != y:
            shown = [_short(" or ".join(sorted(side))) for side in (x, y)]
            yield Difference("sandbox", False, f"sandbox {name} was {shown[0]} and {shown[1]}")


def _calibration(a: Side, b: Side) -> Iterator[Difference]:
    x, y = (_calibration_s(side.metrics.get("calibration")) for side in (a, b))
    if x and y and abs(x / y - 1) > CALIBRATION_TOLERANCE:
        text = f"the same program took {x:.3f} s and {y:.3f} s: machines of different speed"
        yield Difference("calibration", False, text)


def _calibration_s(value: Any) -> float | None:
    if isinstance(value, dict):
        value = value.get("cpu_s")
    return float(value) if isinstance(value, (int, float)) and value > 0 else None


def _left(a: Side, b: Side) -> Iterator[Difference]:
    for letter, side in (("A", a), ("B", b)):
        errors = side.statuses.get("error", 0)
        if errors:
            text = f"{errors} solutions of {letter} ended in infrastructure errors and are left out"
            yield Difference("errors", False, text)
    only_a = sum(problem not in b.shares for problem in a.shares)
    only_b = sum(problem not in a.shares for problem in b.shares)
    if only_a or only_b:
        text = f"{only_a} problems only in A and {only_b} only in B are left out"
        yield Difference("problems", False, text)


def _of(some: Sequence[str], everything: Sequence[str]) -> str:
    return f"{len(some)} of {len(everything)} common problems"


def _short(value: object, width: int = 30) -> str:
    text = str(value)
    return text if len(text) <= width else text[: width - 1] + "…"
