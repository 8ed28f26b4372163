"""Keep every worker busy with cases while few solutions are open at once.

    jobs ──feeder──▶ heap (longest expected first, bounded) ──▶ active tasks ──▶ units

A job is a waiting solution, a task is a solution being graded, and a unit is one of its cases.
A worker takes several units of a task at a time, as many as the task runs together. It continues
with its own task, then starts the next job. Only when no job waits does it help with the task that
has most units left, of which workers then take smaller shares. So few solutions are open at once,
and the last one is spread over all workers. No case is queued: a unit is only a number. A worker is
a thread that is started when there is work for it.

At the end of all work, a worker whose unit takes long, perhaps because its program sleeps, gives
the rest of its units to idle workers.
"""

from __future__ import annotations

import heapq
import logging
import threading
from collections.abc import Callable, Iterable

from gradebox.eval.common.errors import InputError
from gradebox.eval.grading.retry import Interrupted
from gradebox.eval.grading.scheduling.work import Active, QueuedJob, Share, Task

log = logging.getLogger(__name__)

WINDOW_JOBS = 4096
WINDOW_BYTES = 64 << 20
TICK_S = 0.1


class Scheduler:
    """Runs jobs on at most `workers` threads.

    cap              most units of one task at once, 0 for no cap
    stop_on_failure  do not start units after the lowest failing one
    is_full          whether the queued jobs hold as many resources as they may
    lent             how many of the running programs sleep, so that others can use their cores:
                     there are as many more threads

    `stopping` is True when the run is ending early, after `stop` or an error.
    """

    def __init__(
        self,
        workers: int,
        *,
        cap: int = 0,
        stop_on_failure: bool = False,
        window_jobs: int = WINDOW_JOBS,
        window_bytes: int = WINDOW_BYTES,
        is_full: Callable[[], bool] = lambda: False,
        lent: Callable[[], int] = lambda: 0,
    ) -> None:
        self._workers = 0  # started
        self._cap = cap
        self._stop_on_failure = stop_on_failure
        self._window_jobs = window_jobs
        self._window_bytes = window_bytes
        self._is_full = is_full
        self._lent = lent
        lock = threading.Lock()
        self._cond = threading.Condition(lock)  # for workers
        self._room = threading.Condition(lock)  # for the feeder
        self._heap: list[tuple[float, int, int, QueuedJob]] = []
        self._heap_bytes = 0
        self._active: list[Active] = []
        self._starting = 0
        self._idle = 0
        self._all_read = False
        self.stopping = False
        self._error: BaseException | None = None
        self._threads: list[threading.Thread] = []
        self._wanted = workers

    def run(self, jobs: Iterable[QueuedJob], tick: Callable[[], None] = lambda: None) -> bool:
        """Run all jobs; return True when all are done, False when `stop` came first.

        `tick` is called ten times a second from the calling thread. The first InputError, or
        unexpected error of a job, stops the run and is raised at its end.
        """
        feeder = threading.Thread(target=self._feed, args=(jobs,), name="feeder", daemon=True)
        threads = self._threads
        threads.append(feeder)
        try:
            try:
                feeder.start()
            except RuntimeError as e:
                raise _too_few_threads(e) from None
            try:
                self._wait_for(threads, tick)
            except BaseException:  # such as KeyboardInterrupt: leave no thread behind
                self.stop()
                self._wait_for(threads, lambda: None)
                raise
        finally:
            for active in self._active:
                active.task.abandon()
            for *_, job in self._heap:
                job.discard()
        if self._error is not None:
            raise self._error
        return not self.stopping

    def widen(self, workers: int) -> None:
        """Use this many workers from now on, if there are fewer."""
        with self._cond:
            self._wanted = max(workers, self._wanted)
            new = self._helpers()
        self._start_workers(new)

    def _helpers(self) -> range:
        """Return the workers to start for the units that those there are cannot do at once."""
        if self._workers >= self._wanted or self._heap:
            return range(0)
        shares = 0
        for active in self._active:
            startable = active.startable(self._cap)
            shares += -(-startable // self._most(active)) if startable else 0
        return self._new_workers(min(self._wanted, self._workers + shares - self._idle))

    def _new_workers(self, total: int) -> range:
        """Return the numbers of the workers that are to be started, so that there are `total`."""
        new = range(self._workers, total)
        self._workers += len(new)
        return new

    def _start_workers(self, numbers: range) -> None:
        """Start workers. Without the lock: a thread's start takes long where many others run."""
        for number in numbers:
            worker = self._worker(number)
            try:
                worker.start()
                self._threads.append(worker)
            except RuntimeError as e:
                with self._cond:
                    self._workers -= numbers.stop - number
                if number < self._wanted:
                    self._fail(_too_few_threads(e))
                else:
                    log.info("one more worker: %s", e)  # it is only slower without
                return

    def _is_spare(self) -> bool:
        """Return whether a worker has to end, because the programs that slept do so no longer."""
        if self._workers <= self._wanted:
            return False
        with self._cond:
            if self._workers <= self._wanted + self._lent():
                return False
            self._workers -= 1
            self._cond.notify()
            return True

    def _worker(self, number: int) -> threading.Thread:
        return threading.Thread(target=self._work, name=f"grader-{number}", daemon=True)

    def _wait_for(self, threads: Iterable[threading.Thread], tick: Callable[[], None]) -> None:
        for thread in threads:
            while thread.is_alive():
                thread.join(TICK_S)
                tick()
                if lent := self._lent():
                    with self._cond:
                        total = min(self._workers, self._wanted) + lent
                        new = self._new_workers(total if self._has_more_work() else 0)
                    self._start_workers(new)
                if self._idle:
                    with self._cond:
                        self._share_again()
                if self.stopping:
                    with self._cond:
                        self._cond.notify_all()

    def _has_more_work(self) -> bool:
        return bool(self._heap) or any(
            active.startable(self._cap) or any(share.has_rest for share in active.shares)
            for active in self._active
        )

    def _share_again(self) -> None:
        """Give the idle workers what slow ones have not begun."""
        if not self._heap and not any(active.startable(self._cap) for active in self._active):
            for active in self._active:
                if not self._cap or len(active.shares) < self._cap:
                    active.take_rests()
            self._cond.notify_all()

    def stop(self) -> None:
        """Start no further unit; running ones end. Safe in a signal handler."""
        self.stopping = True

    @property
    def active(self) -> list[Task]:
        """The tasks being graded right now."""
        with self._cond:
            return [a.task for a in self._active]

    def _fail(self, error: BaseException) -> None:
        with self._cond:
            self._error = self._error or error
            self.stopping = True
            self._cond.notify_all()

    def _feed(self, jobs: Iterable[QueuedJob]) -> None:
        try:
            for number, job in enumerate(jobs):
                job.reserve()
                with self._cond:
                    while self._window_is_full() and not self.stopping:
                        self._room.wait(TICK_S)  # nothing reports that `is_full` has changed
                    heapq.heappush(self._heap, (-job.cost, job.group, number, job))
                    self._heap_bytes += job.held_bytes
                    if self.stopping:
                        return
                    if self._idle:
                        self._cond.notify()
                    new = self._new_workers(
                        min(self._wanted, self._workers + 1) if self._idle < len(self._heap) else 0
                    )
                self._start_workers(new)
        except InputError as e:
            self._fail(e)
        except Exception as e:
            log.exception("unexpected error while reading solutions")
            self._fail(e)
        finally:
            with self._cond:
                self._all_read = True
                self._cond.notify_all()

    def _window_is_full(self) -> bool:
        if len(self._heap) >= self._window_jobs or self._heap_bytes > self._window_bytes:
            return True
        return bool(self._heap) and self._is_full()

    def _work(self) -> None:
        own: Active | None = None
        while not self._is_spare():
            picked = self._pick(own)
            if picked is None:
                return
            try:
                if isinstance(picked, tuple):
                    own = picked[0]
                    self._run_units(*picked)
                else:
                    own = self._start(picked)
            except Interrupted:
                if isinstance(picked, tuple):
                    picked[0].interrupted = True
            except InputError as e:
                self._fail(e)
            except Exception as e:
                self._fail(e)  # first: an error while logging must not leave the run waiting
                log.exception("unexpected error of the grader")

    def _pick(self, own: Active | None) -> tuple[Active, Share] | QueuedJob | None:
        """Wait for and return a worker's next units, a job to start, or None to end."""
        with self._cond:
            while not self.stopping:
                if own is not None and own.startable(self._cap) > 0:
                    return own, own.take(self._most(own))
                if self._heap:
                    return self._pop()
                own = max(self._active, key=lambda a: a.startable(self._cap), default=None)
                if own is not None and own.startable(self._cap) > 0:
                    return own, own.take(self._most(own))
                if self._all_read and not self._starting and not self._active:
                    self._cond.notify_all()
                    return None
                self._idle += 1
                self._cond.wait()
                self._idle -= 1
            return None

    def _most(self, active: Active) -> int:
        """Return how many units a worker takes: the fewer, the nearer the end of all work is."""
        if self._heap:
            return active.task.most_at_once
        return min(active.task.most_at_once, 1 + active.left() // (2 * self._wanted))

    def _pop(self) -> QueuedJob:
        job = heapq.heappop(self._heap)[-1]
        self._heap_bytes -= job.held_bytes
        self._starting += 1
        if not self._all_read:
            self._room.notify()
        return job

    def _start(self, job: QueuedJob) -> Active | None:
        active, new = None, range(0)
        try:
            task = job.start()
            if task is not None:
                active = Active(task, task.units)
        finally:
            with self._cond:
                self._starting -= 1
                if active is not None:
                    self._active.append(active)
                    # The caller takes the first share itself.
                    self._idle += 1
                    new = self._helpers()
                    self._idle -= 1
                if self._idle:
                    self._cond.notify_all()
        self._start_workers(new)
        return active

    def _run_units(self, active: Active, share: Share) -> None:
        """Run units; after the last ones of a task, finish the task."""
        done_to, failed = active.task.run(share)
        with self._cond:
            active.shares.remove(share)
            if failed is not None:
                known = active.first_failure
                active.first_failure = failed if known is None else min(failed, known)
                if self._stop_on_failure:
                    active.end = min(active.end, failed + 1)
            if done_to < share.stop:
                active.given_back.append(range(done_to, share.stop))
            done = not active.shares and not active.left() and not active.interrupted
            if done:
                self._active.remove(active)
            if self._idle and (done or self._cap or done_to < share.stop):
                self._cond.notify_all()
        if done:
            active.task.finish(active.first_failure)


def _too_few_threads(error: RuntimeError) -> InputError:
    return InputError(
        f"{error}: raise the limit of processes (ulimit -u) or lower --workers, then start the run "
        "again"
    )
