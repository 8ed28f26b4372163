"""Cancel work in a thread, from another thread or from an event loop."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar


class Cancellation:
    """Work that may be cancelled, once and for good. Any thread may call any method."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: list[Callable[[], object]] = []
        self.is_cancelled = False

    def then(self, call: Callable[[], object]) -> None:
        """Make a call when the work is cancelled: at once if it is already."""
        with self._lock:
            if not self.is_cancelled:
                self._calls.append(call)
                return
        call()

    def cancel(self) -> None:
        """Cancel the work; make the calls. A second call has no effect."""
        with self._lock:
            self.is_cancelled = True
            calls, self._calls = self._calls, []
        for call in calls:
            call()


# ---- event loops ----

T = TypeVar("T")
P = ParamSpec("P")
_current: ContextVar[Cancellation | None] = ContextVar("cancellation", default=None)


def current_cancellation() -> Cancellation:
    """Return the cancellation of the call that `asynchronous` makes in this thread."""
    return _current.get() or Cancellation()


def asynchronous(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Return a coroutine function that makes a call in a thread of its own.

    Cancelling it cancels the call, as far as the call asks for its `current_cancellation`.
    """

    @functools.wraps(call)
    async def made(*args: P.args, **kwargs: P.kwargs) -> T:
        cancelled = Cancellation()

        def run() -> T:
            _current.set(cancelled)
            return call(*args, **kwargs)

        return await run_in_thread(run, cancelled.cancel)

    made.__name__ = f"{call.__name__}_async"
    made.__doc__ = f"Do the same as `{call.__name__}` without blocking the event loop."
    return made


async def run_in_thread(
    call: Callable[[], T], cancel: Callable[[], None], pool: ThreadPoolExecutor | None = None
) -> T:
    """Run `call` in a thread and return its result.

    cancel  called when the awaiting task is cancelled; the thread itself cannot be stopped
    pool    where to run; None: a thread of its own, which ends with the call. The event loop's
            default pool is never used, because it has few threads and keeps them.
    """
    used = pool or ThreadPoolExecutor(1, thread_name_prefix="gradebox-async")
    try:
        return await asyncio.wrap_future(used.submit(call))
    except asyncio.CancelledError:
        cancel()
        raise
    finally:
        if pool is None:
            used.shutdown(wait=False)
