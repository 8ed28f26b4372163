"""Keep every core busy with cases while few solutions are open at once.

    jobs ──feeder──▶ heap (longest expected first, bounded) ──▶ active tasks ──▶ units

A job is a waiting solution, a task is a solution being graded (solution_job.py), and a unit is one
of its cases.
A worker is called when there is work for it, and goes when it finds none. It takes several units of
a task at a time, continues with its own task, then starts the next job. Only when no job waits does
it help with the task that has most units left, of which workers then take smaller shares. So few
solutions are open at once, and the last one is spread over all workers.
"""

from __future__ import annotations

import heapq
import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from gradebox.eval.common.errors import InputError, Interrupted

if TYPE_CHECKING:
    from gradebox.eval.grading.drivers.pool import RunInDrivers
    from gradebox.eval.grading.ray_cluster import RayCluster
    from gradebox.eval.grading.solution_job import GradeWhole, SolutionJob, SolutionTask, WholeTask

log = logging.getLogger(__name__)

WINDOW_JOBS = 4096
WINDOW_BYTES = 64 << 20
TICK_S = 0.1
MOST_THREADS = 1 << 16  # `workers` bounds them


class Done(NamedTuple):
    """What a task did: the units of a range before `end`; a failing one that is to be the last."""

    end: int
    first_failure: int | None = None


@dataclass(eq=False)
class Active:
    """A task being graded: which of its units are left, and who has the others.

    end         units from here on need not run
    given_back  they were taken, but did not run
    shares      the units that each worker at it has taken. Those of a worker that failed stay here,
                so that the task never finishes
    """

    task: SolutionTask | WholeTask
    end: int
    first_failure: int | None = None
    next: int = 0
    given_back: list[range] = field(default_factory=list)
    shares: list[range] = field(default_factory=list)

    def left(self) -> int:
        """Return the number of units that no worker has taken."""
        back = 0
        if self.given_back:
            back = sum(max(0, min(r.stop, self.end) - r.start) for r in self.given_back)
        return max(0, self.end - self.next) + back

    def startable(self, cap: int) -> int:
        """Return how many units could be started now."""
        return 0 if cap and len(self.shares) >= cap else self.left()

    def take(self, most: int) -> range:
        """Give a worker the next units."""
        self.shares.append(self._next_units(most))
        return self.shares[-1]

    def _next_units(self, most: int) -> range:
        while self.given_back:
            back = self.given_back.pop()
            if back[most:]:
                self.given_back.append(back[most:])
            if back.start < self.end:
                return range(back.start, min(back.start + most, back.stop, self.end))
        start, self.next = self.next, min(self.next + most, self.end)
        return range(start, self.next)


class Scheduler:
    """Runs jobs, once, on at most `workers` threads.

    place    grades whole solutions instead of this process, where a thread waits for each. `grade`
             returns a record, or raises Interrupted once the run is stopping; `poll` is called ten
             times a second, also while a stopped run ends; `end` is called at the end of the run
    cap      most units of one task at once, 0 for no cap
    is_full  whether the queued jobs hold as many resources as they may
    lent     how many of the running programs sleep, so that others can use their cores: there may
             be as many more threads

    `stopping` is True when the run is ending early, after `stop` or an error; `all_started` when no
    job waits, so that the end of all work is near.
    """

    def __init__(
        self,
        workers: int,
        place: RunInDrivers | RayCluster | None = None,
        *,
        cap: int = 0,
        is_full: Callable[[], bool] = lambda: False,
        lent: Callable[[], int] = lambda: 0,
    ) -> None:
        self._wanted = workers
        self._place = place
        self._cap = cap
        self._is_full = is_full
        self._lent = lent
        self._lock = threading.Lock()
        self._room = threading.Condition(self._lock)  # for the feeder
        self._heap: list[tuple[float, int, int, SolutionJob]] = []
        self._heap_bytes = 0
        self._active: list[Active] = []
        self._workers = 0  # called and not gone
        self._called = 0  # of them, those that have not come yet
        self._all_read = False
        self.all_started = False
        self._over = threading.Event()
        self.broken_off: Callable[[], None] = lambda: None  # may end what is running
        self.stopping = False
        self._error: BaseException | None = None
        self._threads: ThreadPoolExecutor | None = None

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = lambda: None) -> bool:
        """Run all jobs; return True when all are done, False when `stop` came first.

        `tick` is called ten times a second from the calling thread. The first InputError, or
        unexpected error of a job, stops the run and is raised at its end.
        """
        try:
            with ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="grader") as self._threads:
                self._start_thread(self._feed, jobs)
                try:
                    self._wait(tick)
                except BaseException:  # such as KeyboardInterrupt: leave nothing running
                    self.stop()
                    self.broken_off()
                    self._wait(lambda: None)
                    raise
        finally:
            for active in self._active:
                active.task.abandon()
            for *_, job in self._heap:
                job.discard()
            if self._place is not None:
                self._place.end()
        if self._error is not None:
            raise self._error
        return not self.stopping

    def stop(self) -> None:
        """Start no further unit; running ones end. Safe in a signal handler."""
        self.stopping = True

    @property
    def grade_whole(self) -> GradeWhole | None:
        """The function that grades a whole solution in the place; None where there is no place."""
        return None if self._place is None else self._place.grade

    def slowest(self) -> tuple[str, float] | None:
        """Return (problem id, seconds) of the solution that has been running longest, if known."""
        with self._lock:
            tasks = [active.task for active in self._active]
        if not tasks:
            return None
        task = min(tasks, key=lambda t: t.started)
        return task.solution_run.problem.id, time.monotonic() - task.started

    def widen(self, workers: int) -> None:
        """Use this many workers from now on, if there are fewer."""
        self._wanted = max(workers, self._wanted)

    def _wait(self, tick: Callable[[], None]) -> None:
        while not self._over.wait(TICK_S):
            if self._place is not None:
                self._place.poll(self)
            tick()
            with self._lock:
                self.all_started = self._all_read and not self._heap
                self._note_end()
            self._call_workers()

    def _note_end(self) -> None:
        left = not self.stopping and (self._heap or self._active)
        if self._all_read and self._workers <= 0 and not left:
            self._over.set()

    # ---- workers: called for work that is there, gone when there is none ----

    def _start_thread(self, function: Callable[..., None], *arguments: Any) -> None:
        assert self._threads is not None
        try:
            self._threads.submit(function, *arguments)
        except RuntimeError as e:
            with self._lock:
                self._all_read = self._all_read or function == self._feed
                extra = self._workers > self._wanted
                if function == self._work:
                    self._workers -= 1
                    self._called -= 1
            if extra:  # the run is only slower without
                log.info("one more worker: %s", e)
                return
            remedy = "raise the limit of processes (ulimit -u) or lower --workers, then run again"
            if not threading.main_thread().is_alive():
                remedy = "wait for this thread before the program ends"
            self._fail(InputError(f"{e}: {remedy}"))

    def _call_workers(self) -> None:
        with self._lock:
            most = max(0, self._wanted + self._lent() - self._workers)
            new = max(0, min(most, self._shares() - self._called)) if not self.stopping else 0
            self._workers += new
            self._called += new
        for _ in range(new):  # without the lock: a thread's start takes long beside many others
            self._start_thread(self._work)

    def _shares(self) -> int:
        """Return how many workers would find work."""
        if self._heap:
            return len(self._heap)
        found = [(a.startable(self._cap), self._most(a)) for a in self._active]
        return sum(-(-startable // most) for startable, most in found)

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            self._error = self._error or error
            self.stopping = True

    def _feed(self, jobs: Iterable[SolutionJob]) -> None:
        try:
            for number, job in enumerate(jobs):
                job.reserve()
                with self._lock:
                    while self._window_is_full() and not self.stopping:
                        self._room.wait(TICK_S)  # nothing reports that `is_full` has changed
                    heapq.heappush(self._heap, (-job.cost, job.group, number, job))
                    self._heap_bytes += job.held_bytes
                    if self.stopping:
                        return
                self._call_workers()
        except InputError as e:
            self._fail(e)
        except Exception as e:
            log.exception("unexpected error while reading solutions")
            self._fail(e)
        finally:
            with self._lock:
                self._all_read = True
                self._note_end()

    def _window_is_full(self) -> bool:
        if len(self._heap) >= WINDOW_JOBS or self._heap_bytes > WINDOW_BYTES:
            return True
        return bool(self._heap) and self._is_full()

    def _work(self) -> None:
        own: Active | None = None
        with self._lock:
            self._called -= 1
        while (picked := self._pick(own)) is not None:
            try:
                if isinstance(picked, tuple):
                    own = picked[0]
                    self._run_units(*picked)
                else:
                    own = self._start(picked)
            except Interrupted:
                pass
            except InputError as e:
                self._fail(e)
            except Exception as e:
                self._fail(e)  # first: an error while logging must not leave the run waiting
                log.exception("unexpected error of the grader")

    def _pick(self, own: Active | None) -> tuple[Active, range] | SolutionJob | None:
        """Return a worker's next units, a job to start, or None when it is to go."""
        with self._lock:
            # Programs that slept when it was called may do so no longer.
            wanted = self._workers <= self._wanted or self._workers <= self._wanted + self._lent()
            if wanted and not self.stopping:
                if own is not None and own.startable(self._cap) > 0:
                    return own, own.take(self._most(own))
                if self._heap:
                    return self._pop()
                own = max(self._active, key=lambda a: a.startable(self._cap), default=None)
                if own is not None and own.startable(self._cap) > 0:
                    return own, own.take(self._most(own))
            self._workers -= 1
            self._note_end()
            return None

    def _most(self, active: Active) -> int:
        """Return how many units a worker takes: the fewer, the nearer the end of all work is."""
        if self._heap:
            return active.task.most_at_once
        return min(active.task.most_at_once, 1 + active.left() // (2 * self._wanted))

    def _pop(self) -> SolutionJob:
        job = heapq.heappop(self._heap)[-1]
        self._heap_bytes -= job.held_bytes
        if not self._all_read:
            self._room.notify()
        return job

    def _start(self, job: SolutionJob) -> Active | None:
        task = job.start()
        if task is None:
            return None
        active = Active(task, task.units)
        with self._lock:
            self._active.append(active)
            self._called += 1  # this worker takes the first share itself
        self._call_workers()
        with self._lock:
            self._called -= 1
        return active

    def _run_units(self, active: Active, share: range) -> None:
        """Run units; after the last ones of a task, finish the task."""
        done_to, failed = active.task.run(share)
        with self._lock:
            active.shares.remove(share)
            if failed is not None:
                known = active.first_failure
                active.first_failure = failed if known is None else min(failed, known)
                active.end = min(active.end, failed + 1)
            if done_to < share.stop:
                active.given_back.append(range(done_to, share.stop))
            done = not active.shares and not active.left()
            if done:
                self._active.remove(active)
        if done:
            active.task.finish(active.first_failure)
        elif self._cap or done_to < share.stop:
            self._call_workers()
