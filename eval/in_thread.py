"""Blocking work for an event loop, in a thread that ends with it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


async def in_thread(call: Callable[[], T], cancel: Callable[[], None]) -> T:
    """What `call` gives, from a thread of its own that ends with it.

    The event loop's pool is left alone: it has few threads and keeps them.
    """
    pool = ThreadPoolExecutor(1, thread_name_prefix="gradebox-async")
    try:
        return await asyncio.wrap_future(pool.submit(call))
    except asyncio.CancelledError:
        cancel()
        raise
    finally:
        pool.shutdown(wait=False)
