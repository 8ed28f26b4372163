"""Which driver gets which solution.

A driver gets a few solutions ahead, as many as last a fraction of a second, so that all finish
together. When the queue is empty and a driver has nothing left, those that are still busy run as
many cases at once as the free workers allow.
"""

from __future__ import annotations

from collections.abc import Mapping

from gradebox.eval.grading.drivers.process import DriverProcess
from gradebox.eval.grading.drivers.queue import Pending
from gradebox.eval.grading.drivers.run import Run


class Dispatch:
    """Gives the solutions of runs to drivers. Not thread-safe: the pool's lock is held.

    drivers  by index, as they are at the moment
    workers  of all of them
    """

    def __init__(self, drivers: Mapping[int, DriverProcess], workers: int) -> None:
        self._drivers = drivers
        self._workers = workers

    def hand_out(self, run: Run) -> None:
        """Give drivers what they have room for."""
        if run.stopping or run.stop_sent:
            return
        while run.suspects:
            driver = next((d for d in self._drivers.values() if d.ready and not d.load), None)
            if driver is None:
                break
            self._give(driver, run, run.suspects.popleft())
            driver.alone = True
        if run.queue:
            while self._give_next(run):
                pass
        if run.all_read and not run.waiting:
            self._widen(run)

    def _give_next(self, run: Run) -> bool:
        """Give the next solution to the driver that has least; return False when none takes it."""
        count = len(self._drivers)
        for driver in sorted(self._drivers.values(), key=lambda d: d.load / d.workers):
            if not driver.room(len(run.queue) // count if run.all_read else None):
                continue
            pending = run.queue.take(driver.index, join=driver.load <= driver.workers)
            if pending is not None:
                self._give(driver, run, pending)
                return True
        return False

    def _give(self, driver: DriverProcess, run: Run, pending: Pending) -> None:
        run.open_in.add(driver.index)
        driver.give(run, pending)

    def _widen(self, run: Run) -> None:
        """Let the drivers that still have work use the workers of those that have none."""
        busy = [d for d in self._drivers.values() if d.load or not d.ready]
        if not busy or len(busy) == len(self._drivers):
            return
        for driver in busy:
            share = self._workers // len(busy)
            if driver.load and driver.runs.get(run.number, share) < share:
                driver.runs[run.number] = share
                driver.tell("widen", run.number, share)
