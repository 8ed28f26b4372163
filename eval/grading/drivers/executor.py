"""The executor that grades with driver processes: its own, or those that several sessions share."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import working_folder
from gradebox.eval.grading.drivers.calls import DriverSetup
from gradebox.eval.grading.drivers.pool import DriverPool
from gradebox.eval.grading.drivers.runs import Pending, Run
from gradebox.eval.grading.options import Options
from gradebox.eval.grading.scheduling.scheduler import TICK_S, WINDOW_BYTES, WINDOW_JOBS
from gradebox.eval.grading.session import GradingSession, box_options
from gradebox.eval.grading.solution_job import SolutionJob
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.protocol import Sandbox

_numbers = count(1)


def open_drivers(options: Options, sandbox: Sandbox, hidden: Iterable[str | Path]) -> DriverPool:
    """Start `options.drivers` drivers with `options.workers` in all. Raises InputError.

    sandbox  that theirs must be equal to
    hidden   paths that programs must not see
    """
    folder = working_folder()  # drivers inherit a removed one
    share, more = divmod(options.workers, options.drivers)
    level = logging.getLogger().getEffectiveLevel()
    paths = tuple(str(Path(folder or "", path)) for path in hidden)
    box = {**box_options(options), "measured": getattr(sandbox, "measured", None)}
    description = sandbox.describe()
    setups = [
        DriverSetup(box, options.workers, share + (index < more), paths, description, level)
        for index in range(options.drivers)
    ]
    return DriverPool(setups, folder)


class DriverSession(Closeable):
    """A session that drivers know, until it is closed."""

    def __init__(self, session: GradingSession) -> None:
        self.pool = session.drivers or session.keep(
            "own drivers",
            lambda: open_drivers(session.options, session.sandbox, session.private_paths()),
        )
        self.opening = next(_numbers), session.options.for_worker("box")

    def close(self) -> None:
        """Let the drivers forget the session and its problems."""
        self.pool.forget(self.opening[0])


WAIT_S = 0.02
log = logging.getLogger(__name__)


class DriversExecutor:
    """An `Executor` over the drivers of a session, which are started at its first use."""

    def __init__(self, session: GradingSession) -> None:
        self._session = session
        known = session.keep("in drivers", lambda: DriverSession(session))
        self._pool = known.pool
        self._run = Run(known.opening)

    @property
    def stopping(self) -> bool:
        """Whether the run is ending early."""
        return self._run.stopping

    def stop(self) -> None:
        """See `Executor.stop`."""
        self._run.stopping = True

    def slowest(self) -> tuple[str, float] | None:
        """See `Executor.slowest`."""
        found = self._pool.slowest(self._run)
        if found is None or found.started is None:
            return None
        return found.run.problem.id, time.monotonic() - found.started

    def run(self, jobs: Iterable[SolutionJob], tick: Callable[[], None] = lambda: None) -> bool:
        """See `Executor.run`."""
        feeder = threading.Thread(target=self._feed, args=(jobs,), name="feeder", daemon=True)
        try:
            feeder.start()
        except RuntimeError as e:
            raise InputError(f"{e}: raise the limit of processes (ulimit -u)") from None
        try:
            self._wait(tick)
        except BaseException:  # such as KeyboardInterrupt: leave nothing running
            self.stop()
            self._wait(lambda: None)
            raise
        finally:
            feeder.join()
        if self._run.error is not None:
            raise self._run.error
        return not self._run.stopping

    def _wait(self, tick: Callable[[], None]) -> None:
        while not self._run.ended.wait(TICK_S):
            tick()
            if self._run.stopping:
                self._pool.settle(self._run)

    def _feed(self, jobs: Iterable[SolutionJob]) -> None:
        run = self._run
        try:
            self._pool.open(run)
            for number, job in enumerate(jobs):
                resources = job.context.resources.acquire(job.solution_run.problem)
                pending = Pending(number, job, resources)
                while self._is_full() and not run.stopping:
                    time.sleep(WAIT_S)  # nothing reports that there is room
                self._pool.add(run, pending)
                if run.stopping:
                    break
        except InputError as e:
            run.fail(e)
        except Exception as e:
            log.exception("unexpected error while reading solutions")
            run.fail(e)
        finally:
            self._pool.end(run)

    def _is_full(self) -> bool:
        queue = self._run.queue
        if len(queue) >= WINDOW_JOBS or queue.bytes > WINDOW_BYTES:
            return True
        return bool(len(queue)) and self._session.resources.is_full
