"""Waiting in the kernel until another process says that something has changed.

A counter in a file that processes map together, and a futex on it:

    waiter    seen = wakeup.count ─▶ look for what it wants ─▶ not there: wakeup.wait(seen, timeout)
    other     makes the change ─▶ wakeup.wake()

A change between the look and the wait is not missed, because the counter has moved by then. A
process can die before it wakes anybody. So every wait has a time limit, after which the caller
looks again.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import time

_FUTEX = {"x86_64": 202, "aarch64": 98}.get(platform.machine())
_WAIT, _WAKE = 0, 1
_BLIND_S = 0.001  # between two looks where the kernel's call is not known

_syscall = ctypes.CDLL(None, use_errno=True).syscall


class _TimeSpec(ctypes.Structure):
    _fields_ = (("s", ctypes.c_long), ("ns", ctypes.c_long))


class Wakeup:
    """One counter, at a place (multiple of 8) in an open file, which is made long enough.

    Beside it is a flag that somebody may be waiting: where nobody is, waking is no system call,
    which would let other threads of this process take the interpreter's lock.
    """

    def __init__(self, fd: int, place: int = 0) -> None:
        if os.fstat(fd).st_size < mmap.PAGESIZE:
            os.ftruncate(fd, mmap.PAGESIZE)
        self._memory = mmap.mmap(fd, mmap.PAGESIZE)
        self._word = ctypes.c_uint32.from_buffer(self._memory, place)
        self._awaited = ctypes.c_uint32.from_buffer(self._memory, place + 4)
        self._address = ctypes.c_void_p(ctypes.addressof(self._word))

    @property
    def count(self) -> int:
        """The counter, to be read before looking for what may change."""
        return self._word.value

    def wait(self, seen: int, timeout_s: float) -> None:
        """Sleep until the counter is not `seen` and somebody has said so, or the time is over."""
        if _FUTEX is None:
            time.sleep(min(timeout_s, _BLIND_S))
            return
        self._awaited.value = 1
        whole, part = divmod(timeout_s, 1)
        timeout = _TimeSpec(int(whole), int(part * 1e9))
        _syscall(
            _FUTEX, self._address, _WAIT, ctypes.c_uint32(seen), ctypes.byref(timeout), None, 0
        )

    def wake(self) -> None:
        """Move the counter and wake the process that has waited longest."""
        self._word.value = (self._word.value + 1) & 0xFFFFFFFF
        if _FUTEX is None or not self._awaited.value:
            return
        if _syscall(_FUTEX, self._address, _WAKE, 1, None, None, 0) == 0:
            self._awaited.value = 0

    def close(self) -> None:
        """Free the memory. Nobody may wait any more; a second call has no effect."""
        del self._word, self._awaited
        self._word, self._awaited = ctypes.c_uint32(0), ctypes.c_uint32(0)
        self._memory.close()
