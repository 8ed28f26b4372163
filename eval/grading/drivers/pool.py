"""Started drivers: what each is given, what comes back, and what follows when one dies.

    executor ─ add ─▶ Run.queue ─ hand out ─▶ driver ─▶ Started, Graded ─▶ the planner
                          ▲                     │ died
                          └── suspects ◀────────┘ what it had started; the rest is queued again

One thread reads from all drivers. `Dispatch` in process.py decides which driver gets what.
"""

from __future__ import annotations

import logging
import os
import selectors
import threading
import warnings
import weakref
from collections.abc import Mapping
from typing import Any

from gradebox.eval.common.errors import DriversUnavailable, InputError
from gradebox.eval.grading.drivers.calls import DriverSetup
from gradebox.eval.grading.drivers.process import CLOSE_S, Dispatch, DriverProcess
from gradebox.eval.grading.drivers.runs import Pending, Run
from gradebox.eval.results.record import SolutionRecord
from gradebox.eval.results.records import EncodedRecord
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.model import Description

MOST_DEATHS = 3  # of drivers while they graded one solution
MOST_FRUITLESS = 5  # drivers that died in a row, none of which graded anything
log = logging.getLogger(__name__)


class DriverPool(Closeable):
    """Started drivers. Any thread may call any method. Raises DriversUnavailable.

    setups  of the drivers, one each
    folder  their working folder; None: this process's
    """

    def __init__(self, setups: list[DriverSetup], folder: str | None) -> None:
        self._setups = setups
        self._folder = folder
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}
        self._fruitless = 0
        self._gone: set[int] = set()  # drivers that ended and have no successor
        self._closing = False
        self._error: InputError | None = None
        self._warned: dict[Any, Any] = {}  # registry of the warnings that were shown
        self._selector = selectors.DefaultSelector()
        self._waker = os.eventfd(0, os.EFD_CLOEXEC)
        self._selector.register(self._waker, selectors.EVENT_READ)
        self._drivers: dict[int, DriverProcess] = {}
        self._dispatch = Dispatch(self._drivers, sum(setup.workers for setup in setups))
        try:
            for index in range(len(setups)):
                self._start(index)
        except BaseException:
            for driver in self._drivers.values():
                driver.end()
            self._selector.close()
            os.close(self._waker)
            raise
        self._thread = threading.Thread(target=self._read_all, name="drivers", daemon=True)
        self._thread.start()
        _pools.add(self)

    def _start(self, index: int) -> None:
        driver = DriverProcess(index, self._setups[index], self._folder)
        self._drivers[index] = driver
        self._selector.register(driver.child.channel, selectors.EVENT_READ, driver)

    # ---- called by executors ------------------------------------------------------------

    def open(self, run: Run) -> None:
        """Begin a run."""
        with self._lock:
            if self._closing:
                raise DriversUnavailable("the driver processes were closed")
            if not self._thread.is_alive():
                raise RuntimeError("the thread that reads from the drivers has ended")
            self._runs[run.number] = run
            if self._gone:  # an earlier run failed; what was wrong may be repaired
                self._error, self._fruitless = None, 0
                for driver in self._drivers.values():
                    driver.excused = not driver.ready
                gone, self._gone = sorted(self._gone), set()
                for index in gone:
                    self._start_again(index)

    def add(self, run: Run, pending: Pending) -> None:
        """Queue a solution."""
        with self._lock:
            run.context = pending.job.context
            run.queue.push(pending)
            self._dispatch.hand_out(run)

    def end(self, run: Run) -> None:
        """Let a run end when everything that was added has its record."""
        with self._lock:
            run.all_read = True
            self._dispatch.hand_out(run)
            self._settle(run)

    def settle(self, run: Run) -> None:
        """End a run that is to stop, or that has nothing left to do."""
        with self._lock:
            self._settle(run)

    def forget(self, session: int) -> None:
        """Let the drivers forget a session, whose runs have ended."""
        with self._lock:
            for driver in self._drivers.values():
                driver.forget(session)

    def slowest(self, run: Run) -> Pending | None:
        """Return the solution of a run that was started first of those being graded."""
        with self._lock:
            started = [
                pending
                for driver in self._drivers.values()
                for (number, _), pending in driver.sent.items()
                if number == run.number and pending.started is not None
            ]
        return min(started, key=lambda pending: pending.started or 0.0, default=None)

    # ---- ends of runs, under the lock ----------------------------------------------------

    def _settle(self, run: Run) -> None:
        """End a run that has nothing left to do, or that is to stop."""
        if run.ended.is_set():
            return
        sent = any(number == run.number for d in self._drivers.values() for number, _ in d.sent)
        finished = run.all_read and not run.waiting and not sent
        if (run.stopping or finished) and not run.stop_sent:
            run.stop_sent = True
            for index in run.open_in:
                self._drivers[index].tell("stop_run" if run.stopping else "end_run", run.number)
        if run.stop_sent and not run.open_in and run.all_read:
            self._close_run(run)

    def _close_run(self, run: Run) -> None:
        self._runs.pop(run.number, None)
        left = [*run.queue.drain(), *run.suspects]
        for driver in self._drivers.values():
            numbers = [key for key in driver.sent if key[0] == run.number]
            left += filter(None, [driver.take_back(*key) for key in numbers])
        for pending in left:
            pending.release()
        run.ended.set()

    # ---- calls of drivers, in the reading thread ----------------------------------------

    def _read_all(self) -> None:
        try:
            while not self._closing:
                self._read_some()
        except Exception as e:  # without this thread every run would wait forever
            log.exception("unexpected error of the grader")
            with self._lock:
                for run in list(self._runs.values()):
                    run.fail(e)
                    self._close_run(run)

    def _read_some(self) -> None:
        for key, _ in self._selector.select():
            driver: DriverProcess | None = key.data
            if driver is None:
                return  # the pool is being closed
            call = driver.calls.take()
            if call is not None:
                getattr(self, f"on_{call[0]}")(driver, *call[1])
                continue
            self._selector.unregister(driver.child.channel)
            if not self._closing:
                self._on_death(driver)
        with self._lock:
            for run in list(self._runs.values()):
                self._dispatch.hand_out(run)
                self._settle(run)

    def on_ready(self, driver: DriverProcess, description: Description | None, error: str) -> None:
        """Its sandbox is open; `error` says why it is not."""
        expected = self._setups[driver.index].description
        driver.ready = description == expected
        if error:
            with self._lock:
                why = f"--drivers: a driver process cannot be used: {error}"
                self._fail_all(DriversUnavailable(why))
        elif not driver.ready:  # such as a start by fork that failed once: another one may do
            driver.end_because(f"its sandbox is {description}, not {expected}")

    def on_started(self, driver: DriverProcess, run: int, number: int) -> None:
        """The grading of a solution begins."""
        pending = driver.sent.get((run, number))
        if pending is not None:
            pending.begin()

    def on_graded(
        self,
        driver: DriverProcess,
        run_number: int,
        number: int,
        record: EncodedRecord,
        cases: Mapping[str, int],
        run_s: float,
    ) -> None:
        """A solution has its record; the rest is as in `on_counted`."""
        with self._lock:
            self._fruitless = 0
            run = self._runs[run_number]
            pending = driver.take_back(run_number, number)
            if not driver.load:
                driver.alone = False
        run.count(cases, run_s)
        if pending is not None:
            self._pass_on(run, pending, record)

    def on_counted(
        self, driver: DriverProcess, run: int, cases: Mapping[str, int], run_s: float
    ) -> None:
        """Verdicts of cases, and seconds that programs ran, since the run's last call."""
        self._runs[run].count(cases, run_s)

    def on_run_ended(
        self, driver: DriverProcess, run_number: int, error: str, is_input: bool
    ) -> None:
        """The run has ended in this driver; an `error` is the user's (`is_input`) or ours."""
        run = self._runs[run_number]
        with self._lock:
            driver.runs.pop(run_number, None)
            run.open_in.discard(driver.index)
            if error:
                run.fail((InputError if is_input else RuntimeError)(error))
            self._settle(run)

    def on_logged(self, driver: DriverProcess, name: str, level: int, text: str) -> None:
        """A message for the user's log, with the traceback as text."""
        logger = logging.getLogger(name)
        if logger.isEnabledFor(level):
            logger.log(level, "%s", text)

    def on_warned(
        self, driver: DriverProcess, category: type[Warning], text: str, file: str, line: int
    ) -> None:
        """A Python warning."""
        try:
            warnings.warn_explicit(text, category, file, line, registry=self._warned)
        except Warning as warning:  # the user's filters make it an error; nobody here catches it
            log.warning("%s", warning)

    def _pass_on(self, run: Run, pending: Pending, record: SolutionRecord | EncodedRecord) -> None:
        try:
            pending.job.context.on_record(pending.run, record)
        except Exception as e:
            if not isinstance(e, InputError):
                log.exception("unexpected error of the grader")
            with self._lock:
                run.fail(e)
        finally:
            pending.release()

    # ---- ends ---------------------------------------------------------------------------

    def _on_death(self, driver: DriverProcess) -> None:
        how = driver.end()
        doomed: list[tuple[Run, Pending]] = []
        with self._lock:
            for run in self._runs.values():
                run.queue.leave(driver.index)
                run.open_in.discard(driver.index)
            for (number, _), pending in driver.sent.items():
                run = self._runs[number]
                if pending.started is not None:
                    pending.deaths += 1
                if pending.deaths >= MOST_DEATHS and not run.stopping:
                    doomed.append((run, pending))
                elif pending.deaths:
                    run.suspects.append(pending)
                else:
                    run.queue.push(pending, first=True)
            self._fruitless += 1
            if self._error is not None:
                self._gone.add(driver.index)
            else:
                self._replace(driver, how, len(driver.sent) - len(doomed))
        for run, pending in doomed:
            error = f"the driver process ended {MOST_DEATHS} times while it graded this: {how}"
            self._pass_on(run, pending, pending.run.record("error", "ER", None, error=error))

    def _replace(self, driver: DriverProcess, how: str, solutions: int) -> None:
        """Start another driver, unless that would not help. The caller holds the lock."""
        hopeless = not driver.ready and driver.failed_by_itself and not driver.excused
        if hopeless or self._fruitless >= MOST_FRUITLESS:
            self._fail_all(
                DriversUnavailable(
                    f"--drivers: driver processes end before they grade anything ({how}); give "
                    "fewer --drivers or --workers, or --drivers 1"
                )
            )
            self._gone.add(driver.index)
            return
        log.warning(
            "a driver process ended (%s): another one takes its place, and the %d solutions that "
            "it had are graded again",
            how,
            solutions,
        )
        self._start_again(driver.index)

    def _start_again(self, index: int) -> None:
        try:
            self._start(index)
        except InputError as error:
            self._gone.add(index)
            self._fail_all(error)

    def _fail_all(self, error: InputError) -> None:
        """End every run, those that are opened later as well. The caller holds the lock."""
        self._error = self._error or error
        for run in list(self._runs.values()):
            run.fail(error)
            self._settle(run)

    def close(self) -> None:
        """End all drivers and wait for them; runs fail. A second call has no effect."""
        if self._closing:
            return
        self._closing = True
        _pools.discard(self)  # the numbers of its descriptors may be used again
        os.eventfd_write(self._waker, 1)
        self._thread.join(CLOSE_S)  # it may wait for the rest of a message, of a stopped driver
        for driver in self._drivers.values():
            driver.child.channel.shutdown()
        self._thread.join()
        with self._lock:
            for run in list(self._runs.values()):
                run.fail(DriversUnavailable("the driver processes were closed"))
                self._close_run(run)
        for driver in self._drivers.values():
            driver.child.end(CLOSE_S)
        self._selector.close()
        os.close(self._waker)

    def disown(self) -> None:
        """Close, in a forked child, what belongs to the parent: drivers end with the parent."""
        self._closing = True
        self._selector.close()
        os.close(self._waker)


_pools: weakref.WeakSet[DriverPool] = weakref.WeakSet()


def _after_fork() -> None:
    for pool in list(_pools):
        pool.disown()


os.register_at_fork(after_in_child=_after_fork)
