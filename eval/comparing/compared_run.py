"""One of two compared runs: its results by problem, and how each problem was judged.

Memory grows with the number of problems and tests, not with the number of solutions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from gradebox.eval.common.errors import InputError
from gradebox.eval.results.records import (
    latest_records,
    read_metrics,
    reporting_bad_record,
    results_path,
)
from gradebox.eval.results.statistics import LanguageCounts, ProblemCounts, merge_languages
from gradebox.eval.results.statistics.counts import COUNTED_STATUSES, empty_counts

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
    for record in latest_records(path):
        with reporting_bad_record(path, record):
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
