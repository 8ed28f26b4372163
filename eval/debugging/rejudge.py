"""Chosen cases graded again, and the run's records and metrics brought up to date.

    chosen solutions ─ stored output or a new run ─▶ records appended
        ─▶ the file rewritten whole, one record a solution ─▶ metrics of it

Under the run's lock. A record holds what it took to grade it in its key, so a solution whose
key changes (another checker, other tests) has all its cases graded again, not only the chosen
ones. Stored outputs are used where they are whole and only the checker is another one.
Interrupted, it leaves a file that has some records twice: the last one counts.
"""

from __future__ import annotations

import logging
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from eval.debugging.find import Json, Results, open_results
from eval.debugging.regrade import Regrader
from eval.debugging.reopen import located_checker
from eval.input_error import InputError
from eval.lock import FolderLock
from eval.materials import Materials
from eval.metrics import RunFacts, compute
from eval.offset_index import OffsetIndex
from eval.records import RecordLog, encode, identity, read_records, scan
from eval.results_folder import METRICS_NAME, replacing, write_json_whole
from eval.solutions import read_solutions

AHEAD = 4  # solutions waiting for each worker
log = logging.getLogger(__name__)

Chosen = dict[int, frozenset[tuple[str, int]]]


@dataclass
class Rejudged:
    """What became of it: `changed` counts (verdict then, verdict now) of cases."""

    solutions: int = 0
    cases: int = 0
    from_stored: int = 0
    skipped: list[str] = field(default_factory=list)
    changed: Counter[tuple[str, str]] = field(default_factory=Counter)
    statuses: Counter[tuple[str, str]] = field(default_factory=Counter)
    metrics: Json | None = None
    interrupted: bool = False


def rejudge(
    results: Results,
    chosen: Chosen,
    materials: Materials,
    tick: Callable[[Rejudged], None] = lambda _: None,
) -> Rejudged:
    """Grades the chosen cases again; `chosen` maps the line of a solution to its cases.

    An empty set of cases stands for all of them. Raises InputError for a folder that is in
    use or can't be written, and for a checker that can't be had.
    """
    if not chosen:
        raise InputError("no case is chosen: --list REASON or --problem ID says which")
    materials.try_named_checker()
    told = Rejudged()
    with FolderLock(results.folder):
        results = open_results(str(results.folder))  # as they are now that nobody writes
        appended = RecordLog(results.records)
        try:
            _regrade_all(results, chosen, materials, appended, told, tick)
        finally:
            appended.close()
        if told.solutions:
            _compact(results)
            told.metrics = _metrics(results, materials, told)
            if told.metrics is not None:
                write_json_whole(results.folder / METRICS_NAME, told.metrics)
    return told


def _regrade_all(
    results: Results,
    chosen: Chosen,
    materials: Materials,
    appended: RecordLog,
    told: Rejudged,
    tick: Callable[[Rejudged], None],
) -> None:
    """Keeps the workers busy, a few solutions ahead, and appends what they give."""
    regrader = Regrader(materials, _earlier_checkers(results))
    pending: set[Future[tuple[Json, Json, int]]] = set()
    workers = materials.options.workers

    def collect(most: int) -> None:
        nonlocal pending
        while len(pending) > most:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    old, new, from_stored = future.result()
                except InputError as e:  # its problem can't be used any more
                    told.skipped.append(str(e))
                else:
                    _take(old, new, from_stored, appended, told)
            tick(told)

    with ThreadPoolExecutor(workers) as pool:
        try:
            for record, solution in _solutions(results, chosen, materials, told):
                cases = chosen[solution.line]
                pending.add(pool.submit(regrader.regrade, record, solution, cases))
                collect(AHEAD * workers)
            collect(0)
        except KeyboardInterrupt:
            told.interrupted = True
            for future in pending:
                future.cancel()


def _take(old: Json, new: Json, from_stored: int, appended: RecordLog, told: Rejudged) -> None:
    appended.append(encode(new))
    told.solutions += 1
    told.from_stored += from_stored
    told.statuses[str(old.get("status")), str(new["status"])] += 1
    before = {(c["case_type"], c["test_case_i"]): c["verdict"] for c in old.get("details") or ()}
    for case in new["details"]:
        told.cases += 1
        then = before.get((case["case_type"], case["test_case_i"]), "none")
        if then != case["verdict"]:
            told.changed[then, case["verdict"]] += 1


def _solutions(
    results: Results, chosen: Chosen, materials: Materials, told: Rejudged
) -> Iterator[tuple[Json, Any]]:
    """(record, solution) of the chosen lines, in the solutions file's order."""
    last = OffsetIndex()
    for offset, record in scan(results.records):
        if record is not None and record.get("line") in chosen:
            last.put(int(record["line"]), offset)
    reader = RecordLog(results.records)
    try:
        for solution in read_solutions([materials.files[0]], resolve=materials.problems.resolve):
            place = last.get(solution.line)
            record = reader.read(place) if place is not None else None
            if record is None:
                continue
            names = (solution.problem_id, solution.solution_id)
            if names != (record.get("problem_id"), record.get("solution_id")) or solution.error:
                told.skipped.append(f"line {solution.line} is another solution now")
                continue
            if materials.problems.get(solution.problem_id) is None:
                told.skipped.append(materials.problems.why_missing(solution.problem_id))
                continue
            yield record, solution
    finally:
        reader.close()


def _compact(results: Results) -> None:
    """Writes the file whole: the last record of each solution, in the order they first stood."""
    last, order = OffsetIndex(), array("Q")
    for offset, record in scan(results.records):
        if record is not None:
            name = identity(record)
            if last.get(name) is None:
                order.append(name)
            last.put(name, offset)
    reader = RecordLog(results.records)
    try:
        with replacing(results.records) as file:
            for name in order:
                file.write(reader.read_line(last.get(name) or 0))
    finally:
        reader.close()


def _metrics(results: Results, materials: Materials, told: Rejudged) -> Json | None:
    """The run's metrics over its new records; None where the run had none."""
    old = results.metrics
    if not old:
        return None
    checker = materials.options.checker
    facts = RunFacts(
        timestamp=datetime.now(timezone.utc).isoformat(timespec="seconds"),
        flags=results.flags,
        sandbox=_part(old, "sandbox"),
        calibration=old.get("calibration"),
        problems=_part(old, "problems"),
        run={
            **results.run,
            "rejudged": [
                *_earlier(results.run),
                {
                    "solutions": told.solutions,
                    "cases": told.cases,
                    "checker": checker,
                    "sandbox": materials.description.as_json(),
                },
            ],
        },
    )
    ks: Sequence[int] = materials.options.k
    return compute(read_records(results.records), ks, facts, seed=materials.options.seed)


def _earlier_checkers(results: Results) -> list[str | None]:
    """What judged the run's records so far; None: the problems' own checkers."""
    names = [results.flags.get("--checker"), None]
    names += [e.get("checker") for e in _earlier(results.run) if isinstance(e, dict)]
    return [located_checker(results, name) if isinstance(name, str) else None for name in names]


def _part(metrics: Json, name: str) -> Json:
    found = metrics.get(name)
    return found if isinstance(found, dict) else {}


def _earlier(run: Json) -> list[Any]:
    found = run.get("rejudged")
    return found if isinstance(found, list) else []
