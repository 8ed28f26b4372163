"""One batch of solutions, graded in memory over what a `Grader` has open.

    solutions ─ Ledger ─ Scheduler ─▶ records in the order of the solutions, one each

What a stopped batch did not get to has a record as well: status `error`, which says why
and is nobody's fault but the machine's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval.given_problems import ProblemBook
from eval.grade_case import Bench
from eval.grade_solution import Subject, Workshop
from eval.kits import KitFacts, KitShelf
from eval.metered import Meter, MeteredSandbox
from eval.model import Problem, Solution, Status
from eval.options import Options
from eval.plan import Ledger, Problems, Terms
from eval.progress import Tally
from eval.records import as_json
from eval.retry import Retry
from eval.scheduler import Scheduler
from eval.verdict_cache import VerdictCache
from sandbox.model import Description
from sandbox.protocol import Sandbox

NO_FACTS = KitFacts(0, "", "", 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Shop:
    """What every batch of a grader is graded with."""

    options: Options
    sandbox: Sandbox
    description: Description
    shelf: KitShelf
    cache: VerdictCache | None = None


class InMemory:
    """Records by ordinal (`eval.plan.RecordSink`)."""

    def __init__(self) -> None:
        self.records: dict[int, dict[str, Any]] = {}

    def find(self, key: str) -> dict[str, Any] | None:
        return None

    def add(self, ordinal: int, record: Mapping[str, Any]) -> None:
        self.records[ordinal] = dict(record)

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool:
        self.add(ordinal, record)
        return False


class Batch:
    """Grades once; `stop` ends it from any thread, after the cases under way."""

    def __init__(self, shop: Shop, time_limit_s: float | None = None) -> None:
        options = shop.options
        self._shop = shop
        self._time_limit_s = time_limit_s
        self._why_stopped = ""
        self._stop = threading.Event()
        self._scheduler = Scheduler(
            options.workers,
            cap=options.generated_tests_workers,
            stop_on_failure=options.stop_on_first_failure,
        )
        cores = max(1, min(options.workers, shop.sandbox.slots))
        most_s = None if time_limit_s is None else time_limit_s * cores
        self._meter = Meter(most_s, self._over)

    def _over(self) -> None:
        self.stop(
            f"the batch's time limit of {self._time_limit_s:g} s a core was used up; "
            "raise time_limit_s or give smaller batches"
        )

    def stop(self, why: str) -> None:
        """Nothing more is started; what is not graded gets an error record that says `why`."""
        self._why_stopped = self._why_stopped or why
        self._stop.set()
        self._scheduler.stop()

    def grade(
        self, solutions: Iterable[Solution], problems: Problems, book: ProblemBook
    ) -> list[dict[str, Any]]:
        """A record for each solution, in order. Raises what the ledger raises (InputError)."""
        shop, options, sink, tally = self._shop, self._shop.options, InMemory(), Tally()
        ledger = Ledger(
            sink,
            shop.shelf,
            problems,
            Terms(shop.description, options.time_limit_scale, options.record_flags()),
            tally,
            cache=shop.cache,
            is_stopping=self._stop.is_set,
        )
        bench = Bench(
            MeteredSandbox(shop.sandbox, self._meter),
            compare=options.compare,  # type: ignore[arg-type]
            stored_bytes=options.max_stored_output,
            repeat=options.repeat,
            retry=Retry(stop=self._stop),
        )
        workshop = Workshop(
            bench, shop.shelf, ledger.done, tally.case, options.stop_on_first_failure
        )
        seen: list[Solution] = []
        left = iter(solutions)
        try:
            self._scheduler.run(ledger.jobs(_kept(left, seen), workshop))
        except BaseException:
            self.stop("the batch was broken off")
            raise
        seen.extend(left)
        return [
            sink.records.get(i)
            or ungraded(solution, book.get(solution.problem_id), "error", self._why_stopped)
            for i, solution in enumerate(seen)
        ]


def _kept(solutions: Iterable[Solution], seen: list[Solution]) -> Iterator[Solution]:
    """The solutions, each noted in `seen` as it is read."""
    for solution in solutions:
        seen.append(solution)
        yield solution


def ungraded(
    solution: Solution, problem: Problem | None, status: Status, error: str
) -> dict[str, Any]:
    """The record of a solution of which nothing ran: `error` (verdict ER) or `invalid`."""
    known = problem or Problem(solution.problem_id)
    subject = Subject(solution, known, NO_FACTS, solution.language, 1.0, "", {})
    return as_json(subject.record(status, "ER" if status == "error" else None, None, error=error))
