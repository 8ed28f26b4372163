"""Find the run, the record and the case that the user's flags name.

results folder + --problem, --sample, --case ─▶ record ─▶ one of its details
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from gradebox.eval.common.errors import InputError, did_you_mean, shown
from gradebox.eval.problems.problem import spellings
from gradebox.eval.results.record import CaseType, CaseVerdict, Reason
from gradebox.eval.results.records import (
    RESULTS_NAME,
    check_record,
    latest_records,
    read_metrics,
    results_path,
)

Json = Mapping[str, Any]

FIRST_FAILED = "first-failed"
NO_CODE = "no_code"
REASONS: tuple[str, ...] = (*get_args(Reason), NO_CODE)
VERDICTS: tuple[str, ...] = get_args(CaseVerdict)
MAX_LISTED_SAMPLES = 12
_NOT_FAILED = frozenset(("AC", "SK"))


@dataclass(frozen=True)
class Results:
    """The files of a run. `metrics` is {} when the run is unfinished."""

    folder: Path
    records: Path
    metrics: Json

    @property
    def flags(self) -> Json:
        """The run's flags by name, such as "--dataset"."""
        return self.part("flags")

    @property
    def run(self) -> Json:
        """The metrics' facts about the run itself."""
        return self.part("run")

    def part(self, name: str) -> Json:
        """Return an object of the metrics, {} when it is missing."""
        found = self.metrics.get(name)
        return found if isinstance(found, dict) else {}


def open_results(path: str) -> Results:
    """Return the results in a folder or of a records file.

    Raises InputError when there are none. Unreadable metrics count as missing.
    """
    given = Path(path)
    records = results_path(given)
    if not records.is_file():
        inside = [p.parent.name for p in given.glob(f"*/{RESULTS_NAME}")]
        beside = [p.parent.name for p in given.parent.glob(f"*/{RESULTS_NAME}")]
        near = sorted(inside) or difflib.get_close_matches(given.name, beside, n=1)
        where = given if inside else given.parent
        hint = f"; did you mean {where / near[0]}" if near else ""
        raise InputError(f"{path} contains no {RESULTS_NAME}{hint}; give the folder of one run")
    try:
        metrics = read_metrics(records.parent)
    except InputError:
        metrics = {}
    return Results(records.parent, records, metrics)


@dataclass(frozen=True)
class SolutionQuery:
    """The solutions that --problem and --sample select; None selects all.

    sample  its number (sample_i), or, where no solution has that number, its own name (solution_id)
    """

    problem: str | None = None
    sample: str | int | None = None

    def records(self, results: Results) -> Iterator[Json]:
        """Yield the latest record of each selected solution, in file order.

        Raises InputError for a damaged record.
        """
        ids = spellings(self.problem) if self.problem is not None else ()
        found = False
        for field in ("sample_i", "solution_id") if self.sample is not None else ("",):
            for record in latest_records(results.records):
                if self.problem is not None and record.get("problem_id") not in ids:
                    continue
                if not field or str(record.get(field)) == str(self.sample):
                    found = True
                    check_record(results.records, record)
                    yield record
            if found:
                return


def find_record(results: Results, query: SolutionQuery) -> Json:
    """Return the record of the one selected solution; InputError when it is not exactly one."""
    samples = list(SolutionQuery(query.problem).records(results))
    if not samples:
        raise InputError(_unknown_problem(results, query.problem or ""))
    chosen = samples if query.sample is None else list(query.records(results))
    if len(chosen) == 1:
        return chosen[0]
    problem = shown(samples[0].get("problem_id"))
    has = f"{len(chosen)} samples" if chosen else f"no sample {query.sample}"
    listed = [f"{s['sample_i']} {s['verdict'] or s['status']}" for s in samples]
    del listed[MAX_LISTED_SAMPLES:]
    more = f" and {len(samples) - len(listed)} more" * (len(samples) > len(listed))
    raise InputError(
        f"problem {problem} has {has}; choose one with --sample: {', '.join(listed)}{more}"
    )


def _unknown_problem(results: Results, problem: str) -> str:
    ids = {str(r.get("problem_id")) for r in latest_records(results.records)}
    if not ids:
        return f"{results.records} has no record; start the run again"
    near = difflib.get_close_matches(problem, sorted(ids), n=1, cutoff=0.4)
    hint = f"; the nearest is {shown(near[0])}" if near else ""
    return (
        f"problem {shown(problem)} is not among the {len(ids)} problems in {results.folder}{hint}; "
        "--list failed lists the failed cases"
    )


def has_no_code(record: Json) -> bool:
    """Return whether a solution failed because its response has no program."""
    failed = record.get("status") == "failed" and record.get("verdict") is None
    return failed and not record.get("details")


def find_case(record: Json, name: str) -> Json:
    """Return the case named `official:0`, `generated:17` or `first-failed`.

    Raises InputError when the record has no such case.
    """
    cases = record.get("details") or []
    if name == FIRST_FAILED:
        failed = next((case for case in cases if case["verdict"] not in _NOT_FAILED), None)
        if failed is not None:
            return dict(failed)
        raise InputError(
            f"none of the {len(cases)} cases failed; choose a case with --case, such as "
            f"{case_name(cases[0]) if cases else 'official:0'}"
        )
    kind, number = parse_case(name)
    for case in cases:
        if case["case_type"] == kind and case["test_case_i"] == number:
            return dict(case)
    numbers = [c["test_case_i"] for c in cases if c["case_type"] == kind]
    known = f"{min(numbers)} to {max(numbers)}" if numbers else "none"
    raise InputError(f"the record has no case {name}; its {kind} cases are {known}")


def parse_case(text: str) -> tuple[str, int]:
    """Parse "official:0" to ("official", 0); InputError for anything else."""
    kind, _, number = text.partition(":")
    if kind not in get_args(CaseType) or not number.isascii() or not number.isdigit():
        raise InputError(
            f"--case {shown(text)} is not the name of a case; write official:0, generated:17 or "
            f"{FIRST_FAILED}"
        )
    return kind, int(number[:18])


def case_name(case: Json) -> str:
    """Return the name of a case as --case takes it, such as `official:0`."""
    return f"{case.get('case_type')}:{case.get('test_case_i')}"


def check_reason(text: str) -> str:
    """Return a name that --list takes; InputError, with the known names, for any other."""
    if text in REASONS or text in VERDICTS or text == "failed":
        return text
    raise InputError(
        f"--list {shown(text)} is not a reason{did_you_mean(text, ('failed', *REASONS))}; give "
        f"failed, {', '.join(REASONS)}, or a verdict such as {VERDICTS[1]}"
    )


def matching_cases(
    results: Results, query: SolutionQuery, reason: str
) -> Iterator[tuple[Json, Json | None]]:
    """Yield (record, case) of every selected case with this reason or verdict.

    A solution without code has no cases; it is yielded with None.
    """
    for record in query.records(results):
        for case in record.get("details") or ():
            failed = case["verdict"] not in _NOT_FAILED
            if failed if reason == "failed" else reason in (case["reason"], case["verdict"]):
                yield record, case
        if reason in (NO_CODE, "failed") and has_no_code(record):
            yield record, None
