"""A run as a driver sees it: a scheduler of its own, whose jobs come from the parent."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.drivers.calls import Calls
from gradebox.eval.grading.drivers.problems import SentProblems
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.scheduling.scheduler import Scheduler
from gradebox.eval.grading.session import GradingSession
from gradebox.eval.grading.solution_job import JobContext, SolutionJob
from gradebox.eval.grading.solution_run import SolutionRun
from gradebox.eval.results.record import CaseVerdict, SolutionRecord
from gradebox.eval.results.records import EncodedRecord, as_json, encoded
from gradebox.sandbox.model import Execution
from gradebox.sandbox.protocol import lent_cores

log = logging.getLogger(__name__)


def _nothing() -> None: ...


@dataclass
class _Job(SolutionJob):
    """A job that reports its start, so that the parent knows what ran when a driver dies."""

    started: Callable[[], None] = _nothing

    def start(self) -> Any:
        self.started()
        return super().start()


class DriverRun:
    """Grades what `add` is given, until `end` or `stop`.

    context  of its session's records
    number   of the run
    workers  cases at once
    retry    (attempts, first_s, cap_s) of `Retry`
    """

    def __init__(
        self,
        number: int,
        session: GradingSession,
        problems: SentProblems,
        parent: Calls,
        *,
        workers: int,
        retry: tuple[int, float, float],
    ) -> None:
        self.context = session.context
        self._number = number
        self._parent = parent
        self._cache = session.verdict_cache
        self._numbers: dict[str, int] = {}  # of the work, by the key of its record
        self._lock = threading.Lock()
        self._cases: Counter[str] = Counter()
        self._run_s = 0.0
        self._stop = threading.Event()
        settings = session.case_settings(
            retry=Retry(*retry, stop=self._stop), on_run=self._count_run
        )
        options = session.options
        self._job_context = JobContext(
            settings, problems, self._send, self._count_case, options.stop_on_first_failure
        )
        self._scheduler = Scheduler(
            workers,
            cap=options.generated_tests_workers,
            stop_on_failure=options.stop_on_first_failure,
            lent=lambda: lent_cores(session.sandbox),
        )
        self._queue: SimpleQueue[_Job | None] = SimpleQueue()
        threading.Thread(target=self._work, name=f"run-{number}", daemon=True).start()

    def add(self, number: int, run: SolutionRun) -> None:
        """Grade a solution."""
        self._numbers[run.key] = number
        started = partial(self._parent.call, "started", self._number, number)
        self._queue.put(_Job(run, self._job_context, started=started))

    def widen(self, workers: int) -> None:
        """Run this many cases at once from now on."""
        self._scheduler.widen(workers)

    def end(self) -> None:
        """End when everything that was added is graded."""
        self._queue.put(None)

    def stop(self) -> None:
        """Start nothing more; end when the running cases have ended."""
        self._stop.set()
        self._scheduler.stop()
        self._queue.put(None)

    def _work(self) -> None:
        error, is_input = "", False
        try:
            self._scheduler.run(self._jobs(), self._tick)
        except InputError as e:
            error, is_input = str(e), True
        except Exception as e:
            log.exception("unexpected error of the grader")
            error = f"{type(e).__name__}: {e}"
        self._send_counts()
        self._parent.call("run_ended", self._number, error, is_input)

    def _jobs(self) -> Iterator[_Job]:
        while (job := self._queue.get()) is not None:
            yield job

    def _tick(self) -> None:
        if self._scheduler.stopping:  # after an error the feeder still waits for jobs
            self._queue.put(None)
        self._send_counts()

    def _send_counts(self) -> None:
        cases, run_s = self._take_counts()
        if cases or run_s:
            self._parent.call("counted", self._number, cases, run_s)

    def _take_counts(self) -> tuple[dict[str, int], float]:
        with self._lock:
            cases, run_s = dict(self._cases), self._run_s
            self._cases.clear()
            self._run_s = 0.0
        return cases, run_s

    def _count_case(self, verdict: CaseVerdict, number: int = 1) -> None:
        with self._lock:
            self._cases[verdict] += number

    def _count_run(self, execution: Execution) -> None:
        with self._lock:
            self._run_s += max(0.0, execution.wall_s)

    def _send(self, run: SolutionRun, record: SolutionRecord | EncodedRecord) -> None:
        assert isinstance(record, SolutionRecord)
        number = self._numbers.pop(run.key)
        self._parent.call("graded", self._number, number, encoded(record), *self._take_counts())
        if self._cache is not None:  # last: a full cache disk must not lose the record
            self._cache.put(as_json(record))
