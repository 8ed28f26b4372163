"""One batch of solutions, graded in memory by the session of a `Grader`.

    solutions ─ Planner ─ Scheduler ─▶ one record for each solution, in order

The solutions that a stopped batch did not grade get records of status `error` with the reason.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from gradebox.eval.cli.progress import Progress
from gradebox.eval.common.errors import InputError, Retry
from gradebox.eval.grading.planner import Planner, Problems, ProgressCounts, open_scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_run import ungraded
from gradebox.eval.results.record import as_json
from gradebox.eval.results.records import EncodedRecord
from gradebox.eval.solutions.solution import Solution

OUT_OF_TIME = "the batch's time limit of "
BROKEN_OFF = "the batch was broken off"


class InMemoryRecords:
    """Records by ordinal (`planner.RecordStore`); those that were graded stay encoded."""

    def __init__(self) -> None:
        self.records: dict[int, dict[str, Any] | EncodedRecord] = {}

    def find(self, key: str) -> dict[str, Any] | None:
        return None

    def add_graded(self, ordinal: int, names: Mapping[str, Any], record: EncodedRecord) -> None:
        self.records[ordinal] = record

    def place(self, ordinal: int, record: Mapping[str, Any]) -> bool:
        self.records[ordinal] = dict(record)
        return False


def ran_out_of_time(record: Mapping[str, Any]) -> bool:
    """Return whether a record of status `error` is that of a batch that used up its time."""
    return record["status"] == "error" and str(record["error"]).startswith(OUT_OF_TIME)


class Batch:
    """Grades solutions once.

    time_limit_s  seconds of running programs for each core, None for no limit
    broken_off    called when an exception such as KeyboardInterrupt ends the batch
    """

    def __init__(self, session: GradingSession, time_limit_s: float | None = None) -> None:
        self._session = session
        self.broken_off: Callable[[], None] = lambda: None
        self._why_stopped = ""
        self._stop = threading.Event()
        self._scheduler = open_scheduler(session)
        self._scheduler.broken_off = self._break_off
        self._time_limit_s = time_limit_s
        self._cores = max(1, min(session.options.workers, session.sandbox.slots))
        self._run_s = 0.0
        self._lock = threading.Lock()

    @property
    def stopped(self) -> bool:
        """Whether some solutions may be ungraded."""
        return self._stop.is_set()

    def stop(self, why: str = "the batch was stopped") -> None:
        """End the batch after the running cases. `why` becomes the error of ungraded solutions."""
        self._why_stopped = self._why_stopped or why
        self._stop.set()
        self._scheduler.stop()

    def _break_off(self) -> None:
        self.stop(BROKEN_OFF)
        self.broken_off()

    def _count_run_s(self, seconds: float) -> None:
        """Stop the batch when its programs have used its time; waiting is not part of it."""
        if self._time_limit_s is None:
            return
        with self._lock:
            self._run_s += max(0.0, seconds)
            exceeded = self._run_s > self._time_limit_s * self._cores
        if exceeded:
            self.stop(
                f"{OUT_OF_TIME}{self._time_limit_s:g} s a core was used up; "
                "raise time_limit_s or give smaller batches"
            )

    def grade(
        self,
        solutions: Iterable[Solution],
        problems: Problems,
        records: InMemoryRecords | None = None,
        progress: bool = False,
    ) -> list[dict[str, Any] | EncodedRecord]:
        """Return a record for each solution, in order.

        Solutions of an unusable problem are invalid, and all others are graded.

        records   where records are put and earlier ones are found; those in memory are forgotten
        progress  whether it is shown; then `solutions` must be a list
        """
        session, counts = self._session, ProgressCounts()
        records = records or InMemoryRecords()
        records.records.clear()
        planner = Planner(
            session,
            problems,
            records,
            counts,
            lambda: self._scheduler.stopping,
            invalidating=InputError,
        )
        settings = session.case_settings(
            retry=Retry(stop=self._stop), on_run=lambda x: self._count_run_s(x.wall_s)
        )
        context = replace(
            session.job_context(
                settings, planner.done, counts.add_case, self._scheduler.grade_whole
            ),
            on_run_s=self._count_run_s,
            time_limit_s=self._time_limit_s,
        )
        read: list[Solution] = []

        def remembered(solutions: Iterable[Solution]) -> Iterator[Solution]:
            for solution in solutions:
                read.append(solution)
                yield solution

        left = iter(solutions)
        display = (
            Progress(counts, len(solutions)) if progress and isinstance(solutions, list) else None
        )
        try:
            jobs = planner.jobs(remembered(left), context)
            tick = display.tick if display else lambda: None
            self._scheduler.run(jobs, tick)
        except BaseException:
            self.stop(BROKEN_OFF)
            raise
        finally:
            if display:
                display.close()
        read.extend(left)
        return [
            records.records.get(i)
            or as_json(
                ungraded(solution, problems.get(solution.problem_id), "error", self._why_stopped)
            )
            for i, solution in enumerate(read)
        ]
