"""Admission control: `slots` requests run, `queue` requests wait, further ones are refused.

place ─▶ body arrives ─▶ run in a thread ─▶ answer
  └ QueueFull (429 + Retry-After) · ShuttingDown (503)
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

from gradebox.sandbox.common.async_bridge import run_in_thread
from gradebox.sandbox.common.cancellation import Cancellation

T = TypeVar("T")


class QueueFull(Exception):
    """The queue is full; a place is likely free after `retry_after_s`."""

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"the server is busy; try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class ShuttingDown(Exception):
    """The server is shutting down and accepts no more requests."""


class ClientGone(Exception):
    """The client disconnected before its job began, so the job was not run."""


class Place:
    """The place of one admitted request, with the bytes reserved for it."""

    def __init__(self, admission: Admission, size: int) -> None:
        self._admission = admission
        self.size = size

    def grow(self, size: int) -> None:
        """Reserve `size` further bytes. Raises QueueFull."""
        self._admission.reserve(size, others=self._admission.present - 1)
        self.size += size

    def hold(self, size: int) -> None:
        """Count bytes that exist already, such as an answer's: other requests have less."""
        self._admission.reserve(size, others=0)
        self.size += size


class Admission:
    """Count requests from before their body arrives until they are answered."""

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
        """Admit a request of `size` bytes. Raises QueueFull or ShuttingDown."""
        if self.closing:
            raise ShuttingDown
        if self.present >= self.slots + self.queue:
            raise QueueFull(self.retry_after_s())
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
        """Reserve bytes for a request beside `others`; a single request always fits.

        Raises QueueFull.
        """
        if others and size > self._bytes_left:
            raise QueueFull(self.retry_after_s())
        self._bytes_left -= size

    def retry_after_s(self) -> int:
        """Return the seconds until a place is likely free: the time half of the queue takes."""
        seconds = self._mean_s * self.present / self.slots / 2
        return max(1, min(60, math.ceil(seconds)))

    async def run(self, call: Callable[[], T], cancelled: Cancellation | None = None) -> T:
        """Run `call` in a thread; it is not started if the caller is cancelled before.

        cancelled  is cancelled together with the caller

        Raises what `call` raises, and ClientGone.
        """
        cancelled = cancelled or Cancellation()
        timed = functools.partial(self._timed, call, cancelled)
        return await run_in_thread(timed, cancelled.cancel, self._pool)

    async def drain(self, grace_s: float) -> bool:
        """Admit nothing more and wait for all admitted requests; False after `grace_s`."""
        self.closing = True
        try:
            await asyncio.wait_for(self._idle.wait(), grace_s)
        except asyncio.TimeoutError:
            return False
        return True

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _timed(self, call: Callable[[], T], cancelled: Cancellation) -> T:
        if cancelled.is_cancelled:
            raise ClientGone
        with self._lock:
            self.running += 1
        began = time.monotonic()
        try:
            return call()
        finally:
            with self._lock:
                self.running -= 1
                self._mean_s = 0.9 * self._mean_s + 0.1 * (time.monotonic() - began)
