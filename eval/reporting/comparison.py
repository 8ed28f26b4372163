"""Compare two runs: read each, find what differs besides their solutions, print the result.

results A ─ read_run ─▶ ComparedRun ─┐
results B ─ read_run ─▶ ComparedRun ─┴─ find_differences ─▶ warnings, refusals
                                       paired ─▶ text of 80 columns, JSON

Problems are compared in pairs, which removes their difficulty: the standard error of the difference
is usually much smaller than that of either pass@1.

Different limits, tests, checkers or comparison modes make the figures incomparable: the
comparison is refused. Another machine, sandbox or toolchain may matter: it is a warning.
Memory grows with the number of problems and tests, not with the number of solutions.
"""

from __future__ import annotations

import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, fsum, sqrt
from typing import Any
from zlib import crc32

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import cut, escape, pad
from gradebox.eval.results.records import read_metrics, results_path, usable_records
from gradebox.eval.results.statistics.counts import (
    COUNTED_STATUSES,
    DEFAULT_OPTIONS,
    LanguageCounts,
    ProblemCounts,
    StatisticsOptions,
    empty_counts,
    merge_languages,
)
from gradebox.eval.results.statistics.intervals import bootstrap_mean


def paired(
    a: Mapping[str, ProblemCounts],
    b: Mapping[str, ProblemCounts],
    options: StatisticsOptions = DEFAULT_OPTIONS,
) -> dict[str, Any] | None:
    """Compare the problems that both runs have; None when there are none.

    Differences are B minus A. `changed` lists {problem_id, a, b} with [right, samples], largest
    change first; `won` and `lost` count them. `interval` is None when all differences are equal.
    """
    common = [problem for problem in a if problem in b]
    if not common:
        return None
    differences = [b[problem].pass_at_1 - a[problem].pass_at_1 for problem in common]
    clusters = [a[problem].contest_id for problem in common] if options.cluster_by_contest else None
    interval = None
    if min(differences) != max(differences):
        interval = bootstrap_mean(differences, clusters, level=options.level, seed=options.seed)
    won = sum(difference > 0 for difference in differences)
    lost = sum(difference < 0 for difference in differences)
    order = sorted(zip(differences, common, strict=True), key=lambda pair: (-abs(pair[0]), pair[1]))
    return {
        "problems": len(common),
        "pass_at_1_a": fsum(a[problem].pass_at_1 for problem in common) / len(common),
        "pass_at_1_b": fsum(b[problem].pass_at_1 for problem in common) / len(common),
        "difference": fsum(differences) / len(common),
        "standard_error": standard_error(differences, clusters),
        "interval": interval,
        "won": won,
        "lost": lost,
        "sign_test_p": sign_test(won, lost),
        "changed": [
            {
                "problem_id": problem,
                "a": [a[problem].correct, a[problem].n],
                "b": [b[problem].correct, b[problem].n],
            }
            for difference, problem in order
            if difference
        ],
    }


def standard_error(values: Sequence[float], clusters: Sequence[str] | None = None) -> float | None:
    """Return the standard error of the mean; None for fewer than two values or clusters.

    With clusters, the deviations within a cluster are added before they are squared, and the
    small-sample factor for G clusters is G / (G - 1). Clusters of one value give the usual formula.
    """
    names = clusters if clusters is not None else [str(i) for i in range(len(values))]
    groups = len(set(names))
    if groups < 2:
        return None
    mean = fsum(values) / len(values)
    sums: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        sums[name] = sums.get(name, 0.0) + value - mean
    squares = fsum(total * total for total in sums.values())
    return sqrt(squares * groups / (groups - 1)) / len(values)


def sign_test(won: int, lost: int) -> float:
    """Return the p-value of the two-sided exact sign test.

    With one sample a problem it is McNemar's exact test.
    """
    trials = won + lost
    tail = sum(comb(trials, i) for i in range(min(won, lost) + 1))
    return float(min(1.0, 2 * tail / 2**trials))


SKIPPED_BY_CHOICE = frozenset({"skipped_large_input", "budget_exceeded"})
Limits = tuple[float | None, int | None, bool | None]


@dataclass
class Conditions:
    """How one problem was judged.

    limits  every (time_limit_s, memory_limit_bytes, has_checker) of its records
    tests   (case_type, number) ─▶ (16 digits of the input's SHA-256, length and CRC of the
            stored expected output); tests skipped by the user's choice are left out
    """

    limits: set[Limits] = field(default_factory=set)
    tests: dict[tuple[str, int], tuple[str, int, int]] = field(default_factory=dict)

    def add(self, record: Mapping[str, Any]) -> None:
        names = ("time_limit_s", "memory_limit_bytes", "has_checker")
        time_limit, memory_limit, checker = (record.get(name) for name in names)
        self.limits.add((time_limit, memory_limit, checker))
        for case in record.get("details") or ():
            test = (case["case_type"], case["test_case_i"])
            if case["reason"] in SKIPPED_BY_CHOICE or self.tests.get(test, ("",))[0]:
                continue
            expected = (case.get("expected") or "").encode("utf-8", "surrogatepass")
            digest = str(case.get("input_sha256") or "")[:16]
            self.tests[test] = (digest, len(expected), crc32(expected))


@dataclass
class ComparedRun:
    """A run as `read_run` returns it.

    name        the path that the user gave
    shares      by problem: how many of its samples passed
    conditions  by problem
    sandbox     by field of the records' `sandbox`: every value of it, as JSON
    statuses    number of solutions by status
    """

    name: str
    shares: dict[str, ProblemCounts] = field(default_factory=dict)
    conditions: dict[str, Conditions] = field(default_factory=dict)
    sandbox: dict[str, set[str]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    metrics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def flags(self) -> Mapping[str, Any]:
        flags = self.metrics.get("flags")
        return flags if isinstance(flags, Mapping) else {}


def read_run(name: str) -> ComparedRun:
    """Read a results folder or records file once.

    Raises InputError when it holds no graded solution or a record of another shape.
    """
    path = results_path(name)
    run = ComparedRun(name)
    tallies: dict[tuple[str, str], LanguageCounts] = {}
    for record in usable_records(path):
        _add(run, tallies, record)
    if not tallies:
        raise InputError(f"{path}: no graded solution in it; grade some solutions first")
    run.shares = {share.problem_id: share for share in merge_languages(tallies.values())}
    run.metrics = read_metrics(path.parent)
    return run


def _add(
    run: ComparedRun, tallies: dict[tuple[str, str], LanguageCounts], record: Mapping[str, Any]
) -> None:
    run.statuses[record["status"]] += 1
    if record["status"] not in COUNTED_STATUSES:
        return
    problem_id, language = str(record["problem_id"]), str(record.get("language"))
    if (problem_id, language) not in tallies:
        tallies[problem_id, language] = empty_counts(record)
    tallies[problem_id, language].add(record)
    run.conditions.setdefault(problem_id, Conditions()).add(record)
    for item, value in (record.get("sandbox") or {}).items():
        name = f"{item} ({language})" if item == "toolchain" else item
        run.sandbox.setdefault(name, set()).add(json.dumps(value, sort_keys=True))


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
    return float(value) if isinstance(value, (int, float)) and 0 < value < 1e9 else None


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


WIDTH = 80


def warning_lines(differences: Sequence[Difference]) -> Iterator[str]:
    """Yield the wrapped lines of each difference, marked as a refusal or a warning."""
    for difference in differences:
        mark = "REFUSED" if difference.refuses else "warning"
        yield from textwrap.wrap(
            f"{mark}: {escape(difference.text)}", WIDTH, subsequent_indent="         "
        )


def comparison_lines(
    a: ComparedRun, b: ComparedRun, result: Mapping[str, Any], *, shown_changes: int | None
) -> Iterator[str]:
    """Yield the lines about both runs, their paired difference and the changed problems.

    result         of `paired`
    shown_changes  the most changed problems to list; None lists all
    """
    for letter, run in (("A", a), ("B", b)):
        counted = sum(share.n for share in run.shares.values())
        yield f"{letter}  {cut(run.name, WIDTH - 3)}"
        yield f"   {counted:,} graded solutions of {len(run.shares):,} problems"
    yield ""
    yield f"pass@1 on the {result['problems']:,} problems of both runs"
    yield f"   A          {result['pass_at_1_a']:8.2%}"
    yield f"   B          {result['pass_at_1_b']:8.2%}"
    yield f"   B - A      {100 * result['difference']:+8.2f} points{_error(result)}"
    yield ""
    same = result["problems"] - result["won"] - result["lost"]
    yield f"B is better on {result['won']:,}, worse on {result['lost']:,}, the same on {same:,}"
    yield f"exact sign test: p = {result['sign_test_p']:.3g}, the chance of a split this uneven"
    yield from _changes(result["changed"], shown_changes)


def _error(result: Mapping[str, Any]) -> str:
    if result["standard_error"] is None:
        return ", no standard error: it needs two problems or contests"
    text = f", standard error {100 * result['standard_error']:.2f}"
    interval = result["interval"]
    if interval:
        low, high = 100 * interval["low"], 100 * interval["high"]
        text += f"\n   {interval['level']:.0%} interval {low:+.2f} … {high:+.2f} points"
        text += f" ({interval['method']})"
    return text


def _changes(changed: Sequence[Mapping[str, Any]], limit: int | None) -> Iterator[str]:
    if not changed:
        return
    shown = changed if limit is None else changed[:limit]
    yield ""
    yield f"{'problem':40}{'A':>12}{'B':>12}"
    for change in shown:
        (passed_a, of_a), (passed_b, of_b) = change["a"], change["b"]
        outcome = "won" if passed_b * of_a > passed_a * of_b else "lost"
        counts = f"{f'{passed_a}/{of_a}':>12}{f'{passed_b}/{of_b}':>12}"
        yield f"{pad(change['problem_id'], 39)} {counts}   {outcome}"
    if len(shown) < len(changed):
        yield f"… and {len(changed) - len(shown):,} more; --all lists them"
