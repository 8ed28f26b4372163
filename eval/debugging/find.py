"""Which record and which case a user means.

results folder + --problem, --sample, --case ─▶ record ─▶ one of its details
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from eval.input_error import InputError, shown
from eval.model import CaseType, CaseVerdict, Reason
from eval.problem_ids import spellings
from eval.records import RESULTS_NAME, latest_records, results_path
from eval.results_folder import METRICS_NAME

Json = Mapping[str, Any]

FIRST_FAILED = "first-failed"
REASONS: tuple[str, ...] = (*get_args(Reason), "no_code")
VERDICTS: tuple[str, ...] = get_args(CaseVerdict)
SAMPLES_NAMED = 12
_FINE = frozenset(("AC", "SK"))


@dataclass(frozen=True)
class Results:
    """The files of a run. `metrics` is empty where the run has not ended."""

    folder: Path
    records: Path
    metrics: Json

    @property
    def flags(self) -> Json:
        """The run's flags by name, such as "--dataset"."""
        found = self.metrics.get("flags")
        return found if isinstance(found, dict) else {}

    @property
    def run(self) -> Json:
        """What the metrics say of the run itself."""
        found = self.metrics.get("run")
        return found if isinstance(found, dict) else {}


def open_results(path: str) -> Results:
    """The results a user names by their folder or records file; InputError for anything else."""
    given = Path(path)
    if not given.exists():
        near = _nearest_folder(given)
        raise InputError(f"no results at {path}{near}; give a folder that holds {RESULTS_NAME}")
    records = results_path(given)
    if not records.is_file():
        inside = sorted(p.parent.name for p in given.glob(f"*/{RESULTS_NAME}"))
        hint = f"; did you mean {given / inside[0]}" if inside else ""
        raise InputError(f"{path} holds no {RESULTS_NAME}{hint}; give the folder of one run")
    return Results(records.parent, records, _metrics(records.parent / METRICS_NAME))


def _nearest_folder(given: Path) -> str:
    try:
        names = [p.name for p in given.parent.iterdir() if p.is_dir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(given.name, names, n=1)
    return f"; did you mean {given.parent / near[0]}" if near else ""


def _metrics(path: Path) -> Json:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@dataclass(frozen=True)
class Wanted:
    """Which solutions, as the user said it; None leaves a thing open."""

    problem: str | None = None
    sample: int | None = None

    def records(self, results: Results) -> Iterator[Json]:
        """The latest record of each solution that fits, in file order."""
        names = spellings(self.problem) if self.problem is not None else ()
        for record in latest_records(results.records):
            if self.problem is not None and record.get("problem_id") not in names:
                continue
            if self.sample is None or record.get("sample_i") == self.sample:
                yield _whole(record, results)


def _whole(record: Json, results: Results) -> Json:
    """The record; InputError for one that no run wrote."""
    cases = record.get("details", [])
    if isinstance(cases, list) and all(map(_is_case, cases)):
        return record
    raise InputError(
        f"{results.records}: the record of line {shown(record.get('line'))} is damaged: its "
        "details are no list of cases; start the run again"
    )


def _is_case(case: object) -> bool:
    return (
        isinstance(case, dict)
        and isinstance(case.get("verdict"), str)
        and isinstance(case.get("reason"), str)
        and "case_type" in case
        and "test_case_i" in case
    )


def find_record(results: Results, wanted: Wanted) -> Json:
    """The one record meant; InputError when it is none or several."""
    found = list(Wanted(wanted.problem).records(results))
    if not found:
        raise InputError(_unknown_problem(results, wanted.problem or ""))
    chosen = [r for r in found if wanted.sample is None or r.get("sample_i") == wanted.sample]
    if len(chosen) == 1:
        return chosen[0]
    problem = shown(found[0].get("problem_id"))
    samples = _samples(found)
    if not chosen:
        raise InputError(
            f"problem {problem} has no sample {wanted.sample}: it has {samples}; "
            "choose one with --sample"
        )
    raise InputError(
        f"problem {problem} has {len(chosen)} samples; choose one with --sample: {samples}"
    )


def _samples(records: Sequence[Json]) -> str:
    told = [f"{shown(r.get('sample_i'))} {_outcome(r)}" for r in records[:SAMPLES_NAMED]]
    more = len(records) - len(told)
    return ", ".join(told) + (f" and {more} more" if more else "")


def _outcome(record: Json) -> str:
    verdict, status = record.get("verdict"), record.get("status")
    return str(verdict if verdict in VERDICTS else shown(status)[:20].strip("'"))


def _unknown_problem(results: Results, problem: str) -> str:
    ids = {str(r.get("problem_id")) for r in latest_records(results.records)}
    if not ids:
        return f"{results.records} has no record; start the run again"
    near = difflib.get_close_matches(problem, sorted(ids), n=1, cutoff=0.4)
    hint = f"; the nearest is {shown(near[0])}" if near else ""
    return (
        f"problem {shown(problem)} is not among the {len(ids)} of {results.folder}{hint}; "
        "--list failed shows what failed"
    )


def find_case(record: Json, text: str) -> Json:
    """The case of a record that `official:0`, `generated:17` or `first-failed` means."""
    cases = record.get("details") or []
    if text == FIRST_FAILED:
        bad = next((case for case in cases if case["verdict"] not in _FINE), None)
        if bad is not None:
            return dict(bad)
        raise InputError(
            f"no case failed, of {len(cases)}; choose one with --case, such as "
            f"{name_of(cases[0]) if cases else 'official:0'}"
        )
    kind, number = parse_case(text)
    for case in cases:
        if case["case_type"] == kind and case["test_case_i"] == number:
            return dict(case)
    numbers = [c["test_case_i"] for c in cases if c["case_type"] == kind]
    known = f"{min(numbers)} to {max(numbers)}" if numbers else "none"
    raise InputError(f"there is no case {text}: {kind} ones of this record are {known}")


def parse_case(text: str) -> tuple[str, int]:
    """("official", 0) of "official:0"; InputError for what is no case's name."""
    kind, _, number = text.partition(":")
    if kind not in get_args(CaseType) or not number.isascii() or not number.isdigit():
        raise InputError(
            f"--case {shown(text)} is no case: write official:0, generated:17 or {FIRST_FAILED}"
        )
    return kind, int(number[:18])


def name_of(case: Json) -> str:
    """`official:0`: a case as --case takes it."""
    return f"{case.get('case_type')}:{case.get('test_case_i')}"


def check_reason(text: str) -> str:
    """A name that `--list` takes; InputError names those there are."""
    if text in REASONS or text in VERDICTS or text == "failed":
        return text
    near = difflib.get_close_matches(text, ("failed", *REASONS), n=1)
    hint = f"; did you mean {near[0]}" if near else ""
    raise InputError(
        f"--list {shown(text)} is no reason{hint}: one of failed, {', '.join(REASONS)}, "
        f"or a verdict such as {VERDICTS[1]}"
    )


def has_reason(case: Json, reason: str) -> bool:
    """Whether a case is listed under a name that `check_reason` let through."""
    if reason == "failed":
        return case.get("verdict") not in _FINE
    return reason in (case.get("reason"), case.get("verdict"))
