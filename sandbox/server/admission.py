"""Who may enter: at most `slots` requests run and `queue` wait; the next is told when to return.

enter ─▶ Ticket ─▶ work in a thread ─▶ leave
  └ Full (429 + Retry-After) · Closing (503)
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import math
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


class Full(Exception):
    """No place in the queue; `retry_after_s` is when there likely is one."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"busy; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class Closing(Exception):
    """The server is shutting down and takes nothing more."""


class Abandoned(Exception):
    """The client went away before its job began, so the job was not run."""


class Place:
    """The place of a request that is here: the bytes it holds."""

    def __init__(self, admission: Admission, size: int) -> None:
        self._admission = admission
        self.size = size

    def grow(self, size: int) -> None:
        """`size` bytes more than were announced. Raises Full."""
        self._admission.reserve(size, others=self._admission.present - 1)
        self.size += size


class Admission:
    """Counts requests from the moment they may send their body to their answer."""

    def __init__(self, slots: int, queue: int, held_bytes: int = 1 << 62) -> None:
        self.slots = slots
        self.queue = queue
        self._bytes_left = held_bytes
        self.present = 0
        self.running = 0
        self.closing = False
        self._mean_s = 0.5
        self._idle = asyncio.Event()
        self._idle.set()
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(slots, thread_name_prefix="execute")

    @contextlib.contextmanager
    def place(self, size: int = 0) -> Iterator[Place]:
        """A place for one request of `size` bytes; a large one alone always fits.

        Raises Full or Closing.
        """
        if self.closing:
            raise Closing
        if self.present >= self.slots + self.queue:
            raise Full(self.retry_after_s())
        self.reserve(size, others=self.present)
        self.present += 1
        self._idle.clear()
        place = Place(self, size)
        try:
            yield place
        finally:
            self.present -= 1
            self._bytes_left += place.size
            if not self.present:
                self._idle.set()

    def reserve(self, size: int, others: int) -> None:
        """`size` bytes for a request beside `others`; a large one alone always fits.

        Raises Full.
        """
        if others and size > self._bytes_left:
            raise Full(self.retry_after_s())
        self._bytes_left -= size

    def retry_after_s(self) -> int:
        """Seconds until a place is likely free: the time half of the queue takes."""
        seconds = self._mean_s * self.present / self.slots / 2
        return max(1, min(60, math.ceil(seconds)))

    async def work(self, call: Callable[[], T]) -> T:
        """Runs `call` in a thread; a caller that is cancelled while it waits takes it back."""
        abandoned = threading.Event()
        loop = asyncio.get_running_loop()
        started = functools.partial(self._started, call, abandoned)
        try:
            return await loop.run_in_executor(self._pool, started)
        except asyncio.CancelledError:
            abandoned.set()
            raise

    async def drain(self, grace_s: float) -> bool:
        """Takes nothing more and waits for what is here; False when the time ran out."""
        self.closing = True
        try:
            await asyncio.wait_for(self._idle.wait(), grace_s)
        except asyncio.TimeoutError:
            return False
        return True

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _started(self, call: Callable[[], T], abandoned: threading.Event) -> T:
        if abandoned.is_set():
            raise Abandoned
        with self._lock:
            self.running += 1
        began = time.monotonic()
        try:
            return call()
        finally:
            with self._lock:
                self.running -= 1
                self._mean_s = 0.9 * self._mean_s + 0.1 * (time.monotonic() - began)
