"""A run as the parent sees it: waiting solutions, why it ended, and where its results go."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from itertools import count
from typing import Any

from gradebox.eval.grading.drivers.queue import JobQueue, Pending
from gradebox.eval.grading.retry import Retry
from gradebox.eval.grading.solution_job import JobContext

_numbers = count(1)


class Run:
    """The state of one run over the drivers. The pool's lock guards what is not said otherwise.

    session   its session's number, and the options that a driver opens it with
    context   of its jobs, None before the first one
    suspects  solutions of which a driver died; each is graded by a driver that has nothing else
    all_read  no further solution follows
    stopping  it ends early; any thread, and a signal handler, may set it
    error     why it ended
    ended     it is over in every driver (may be waited for)
    """

    def __init__(self, session: tuple[int, Mapping[str, Any]]) -> None:
        self.session = session
        self.number = next(_numbers)
        self.context: JobContext | None = None
        self.queue = JobQueue()
        self.suspects: deque[Pending] = deque()
        self.all_read = False
        self.stopping = False
        self.stop_sent = False
        self.error: BaseException | None = None
        self.ended = threading.Event()
        self.open_in: set[int] = set()  # drivers that have not said that it ended there

    def fail(self, error: BaseException) -> None:
        """End the run because of an error; the first one counts."""
        self.error = self.error or error
        self.stopping = True

    @property
    def opening(self) -> tuple[int, int, tuple[int, float, float]]:
        """What opens the run in a driver: its number, its session's, the fields of `Retry`."""
        retry = Retry() if self.context is None else self.context.settings.retry
        return self.number, self.session[0], (retry.attempts, retry.first_s, retry.cap_s)

    def count(self, cases: Mapping[str, int], run_s: float) -> None:
        """Pass on what a driver counted."""
        if self.context is not None:
            for verdict, number in cases.items():
                self.context.on_case(verdict, number)
            self.context.on_run_s(run_s)

    @property
    def waiting(self) -> int:
        """The number of solutions that no driver has."""
        return len(self.queue) + len(self.suspects)
