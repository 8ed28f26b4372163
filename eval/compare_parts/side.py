"""One of two runs that are compared: its shares by problem and under what it was graded.

    results folder ─▶ Side {shares, conditions by problem, sandbox, flags, statuses}

Memory grows with problems and their tests, not with solutions.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from eval.input_error import InputError, shown
from eval.records import latest_records, results_path
from eval.statistics import Share, Tally, shares
from eval.statistics.tally import COUNTED, tally_of

METRICS_NAME = "piston_eval_metrics.json"
LEFT_OUT = frozenset({"skipped_large_input", "budget_exceeded"})


@dataclass
class Conditions:
    """Under what one problem was graded.

    limits  every (time_limit_s, memory_limit_bytes, has_checker) seen
    tests   (case_type, number) ─▶ (start of the input's SHA-256, length and CRC of what is
            stored of the expected output); tests left out by choice are not among them
    """

    limits: set[tuple[float | None, int | None, bool | None]] = field(default_factory=set)
    tests: dict[tuple[str, int], tuple[str, int, int]] = field(default_factory=dict)

    def add(self, record: Mapping[str, Any]) -> None:
        names = ("time_limit_s", "memory_limit_bytes", "has_checker")
        time_limit, memory_limit, checker = (record.get(name) for name in names)
        self.limits.add((time_limit, memory_limit, checker))
        for case in record.get("details") or ():
            key = (case["case_type"], case["test_case_i"])
            if case["reason"] in LEFT_OUT or self.tests.get(key, ("",))[0]:
                continue
            expected = case.get("expected") or ""
            stored = expected.encode("utf-8", "surrogatepass")
            digest = str(case.get("input_sha256") or "")[:16]
            self.tests[key] = (digest, len(stored), crc32(stored))


@dataclass
class Side:
    """A run read once, from first record to last."""

    name: str
    shares: dict[str, Share]
    conditions: dict[str, Conditions]
    sandbox: dict[str, set[str]]
    statuses: dict[str, int]
    metrics: Mapping[str, Any]

    @property
    def flags(self) -> Mapping[str, Any]:
        flags = self.metrics.get("flags")
        return flags if isinstance(flags, Mapping) else {}


def read_side(name: str) -> Side:
    """Read a results folder or file. InputError when there is nothing to compare in it."""
    path = results_path(name)
    reader = _Reader()
    for record in latest_records(path):
        try:
            reader.add(record)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{path}: the record of problem {shown(record.get('problem_id'))} is not one of a "
                f"graded solution ({type(error).__name__}: {shown(str(error))})"
            ) from None
    if not reader.tallies:
        raise InputError(f"{path}: no graded solution in it; grade some first")
    return Side(
        name,
        {share.problem_id: share for share in shares(reader.tallies.values())},
        reader.conditions,
        reader.sandbox,
        dict(reader.statuses),
        read_metrics(path.parent),
    )


class _Reader:
    """What is kept while records stream by."""

    def __init__(self) -> None:
        self.tallies: dict[tuple[str, str], Tally] = {}
        self.conditions: dict[str, Conditions] = {}
        self.sandbox: dict[str, set[str]] = {}
        self.statuses: Counter[str] = Counter()

    def add(self, record: Mapping[str, Any]) -> None:
        self.statuses[record["status"]] += 1
        if record["status"] not in COUNTED:
            return
        problem_id = str(record["problem_id"])
        key = (problem_id, str(record.get("language")))
        if key not in self.tallies:
            self.tallies[key] = tally_of(record)
        self.tallies[key].add(record)
        self.conditions.setdefault(problem_id, Conditions()).add(record)
        for item, value in (record.get("sandbox") or {}).items():
            name = f"{item} ({record.get('language')})" if item == "toolchain" else item
            self.sandbox.setdefault(name, set()).add(json.dumps(value, sort_keys=True))


def read_metrics(folder: Path) -> Mapping[str, Any]:
    """The metrics beside the records; empty when the run has not written any yet."""
    path = folder / METRICS_NAME
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: can't read metrics: {error}; grade again to write it") from None
    return metrics if isinstance(metrics, dict) else {}
