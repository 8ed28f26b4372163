"""Binaries by program and platform, the least used dropped first; each built once.

Two threads that want the same program: one builds, the other waits for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable

from sandbox.piston.build import Built

Key = tuple[str, str]  # the program's digest, the platform


class CompileCache:
    """At most `capacity_bytes` of binaries and logs."""

    def __init__(self, capacity_bytes: int = 256 << 20) -> None:
        self._capacity = capacity_bytes
        self._size = 0
        self._built: OrderedDict[Key, Built] = OrderedDict()
        self._lock = threading.Lock()
        self._building: dict[Key, threading.Lock] = {}

    def get(self, key: Key, build: Callable[[], Built]) -> tuple[Built, bool]:
        """What was built for `key`, and whether it was there already.

        What `build` raises goes to its caller; the next one tries again.
        """
        with self._lock:
            gate = self._building.setdefault(key, threading.Lock())
        try:
            with gate:
                found = self._find(key)
                if found is not None:
                    return found, True
                built = build()
                self._keep(key, built)
                return built, False
        finally:
            with self._lock:
                self._building.pop(key, None)

    def _find(self, key: Key) -> Built | None:
        with self._lock:
            found = self._built.get(key)
            if found is not None:
                self._built.move_to_end(key)
            return found

    def _keep(self, key: Key, built: Built) -> None:
        with self._lock:
            self._built[key] = built
            self._size += _weight(built)
            while self._size > self._capacity and len(self._built) > 1:
                _, dropped = self._built.popitem(last=False)
                self._size -= _weight(dropped)


def _weight(built: Built) -> int:
    return len(built.log) + len(built.binary or b"")
