"""A bounded cache that drops what was used least recently."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """Keep values by key up to a total cost. Any thread may call any method.

    capacity  largest total cost; the newest value is kept even when it alone costs more
    cost      cost of one value; by default each counts 1
    dropped   called with each value that leaves the cache, after the lock is released
    """

    def __init__(
        self,
        capacity: int,
        *,
        cost: Callable[[V], int] = lambda value: 1,
        dropped: Callable[[V], object] = lambda value: None,
    ) -> None:
        self._capacity = capacity
        self._cost = cost
        self._dropped = dropped
        self._lock = threading.Lock()
        self._values: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._total = 0

    def get(self, key: K) -> V | None:
        """Return the value of a key and mark it as used; None when it is absent."""
        with self._lock:
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, key: K, value: V) -> None:
        """Store a value as the most recently used one; drop old ones to fit the capacity."""
        with self._lock:
            gone = self._store(key, value)
        for old in gone:
            self._dropped(old)

    def find(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; when it is absent, the one that `make` returns, stored.

        Threads that ask for a key at once get the same value.
        """
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]
            value = make()
            gone = self._store(key, value)
        for old in gone:
            self._dropped(old)
        return value

    def pop(self, key: K) -> V | None:
        """Remove a key and return its value, which is not passed to `dropped`."""
        with self._lock:
            return self._take(key) if key in self._values else None

    def clear(self) -> list[V]:
        """Remove everything and return it, oldest first; `dropped` is not called."""
        with self._lock:
            return [self._take(key) for key in list(self._values)]

    def __len__(self) -> int:
        return len(self._values)

    def _store(self, key: K, value: V) -> list[V]:
        """Store a value; return those that leave."""
        gone = [self._take(key)] if key in self._values else []
        cost = self._cost(value)
        self._values[key] = (value, cost)
        self._total += cost
        while self._total > self._capacity and len(self._values) > 1:
            gone.append(self._take(next(iter(self._values))))
        return gone

    def _take(self, key: K) -> V:
        value, cost = self._values.pop(key)
        self._total -= cost
        return value
