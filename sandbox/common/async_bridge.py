"""Run blocking code for an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


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
