"""The queue for the cores: the graders of the machine that wait, the one that is due first.

Who waits holds a read lock on the byte whose number is its ticket. The kernel says which one
is first (F_OFD_GETLK, which takes no lock itself) and frees that of a process that has died.

    waiter    join ─▶ first() is its ticket? look for what it wants ─▶ not there: wait
    other     makes the change ─▶ wake_first()

A ticket is a time in ns; its low bits name the waiter's socket, to which `wake_first` sends an
empty datagram. A change between the look and the wait is not missed: the datagram is there by
then. No datagram comes from a process that was killed, or reaches one in another network
namespace. So every wait has a time limit, after which the caller looks again.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
import struct
import time

_LOCK = struct.Struct("hhqqi4x")  # struct flock of 64-bit systems: type, whence, start, length, pid
_ID_BITS = 16
_IDS = (1 << _ID_BITS) - 1
_BIND_TRIES = 64
MOST_TICKETS = 256  # looked at; more are somebody's attempt to block the queue
# A waiter that was only slow, on a busy machine, counts as the first again after this time. When it
# was passed over for good, graders with many short runs went before it: one that had been stopped
# for 0.25 s then waited 11 s for a core.
PASSED_OVER_NS = 1_000_000_000
_BLIND_S = 0.001  # between two looks where no datagram can come


def _address(ticket: int) -> bytes:
    """Return the abstract address of the socket of a ticket's owner."""
    return b"\0gradebox-queue-%04x" % (ticket & _IDS)


def _receiver() -> tuple[socket.socket | None, int]:
    """Return a socket that nobody else has, and its id; no socket where the system refuses it."""
    own = 0
    try:
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    except OSError:
        return None, own
    for _ in range(_BIND_TRIES):
        own = int.from_bytes(os.urandom(2), "little")
        try:
            receiver.bind(_address(own))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                continue
            break
        return receiver, own
    receiver.close()
    return None, own


class TicketQueue:
    """One process in the queue: it has no ticket or one.

    fd  of the file, open for reading, a description of its own; `close` closes it

    ticket  0 when it has none
    """

    def __init__(self, fd: int) -> None:
        self.ticket = 0
        self._fd = fd
        self._passed_over = self._passed_over_until_ns = 0
        self._receiver, self._id = _receiver()
        self._sender = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        self._sender.setblocking(False)

    def _lock(self, kind: int, ticket: int) -> None:
        # Without such locks, everybody is the first. ValueError: closed meanwhile.
        with contextlib.suppress(OSError, ValueError):
            fcntl.fcntl(self._fd, fcntl.F_OFD_SETLK, _LOCK.pack(kind, os.SEEK_SET, ticket, 1, 0))

    def _any_other(self, start: int, end: int = 0) -> int | None:
        """Return any ticket of another process from `start` to before `end`; 0: to the last."""
        length = end - start if end else 0
        asked = _LOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        try:
            kind, _, found, _, _ = _LOCK.unpack(fcntl.fcntl(self._fd, fcntl.F_OFD_GETLK, asked))
        except (OSError, ValueError):
            return None
        # A lock that begins before `start` is no ticket, but somebody's attempt to block the queue.
        return None if kind == fcntl.F_UNLCK or found < start else int(found)

    def others_wait(self) -> bool:
        """Return whether another process has a ticket. One system call, no lock."""
        return self._any_other(self._start()) is not None

    def count_others(self) -> int:
        """Return how many tickets other processes have, at most MOST_TICKETS."""
        count, parts = 0, [(self._start(), 0)]
        while parts and count < MOST_TICKETS:
            start, end = parts.pop()
            found = None if start == end else self._any_other(start, end)
            if found is not None:
                count += 1
                parts += [(start, found), (found + 1, end)]
        return count

    def first(self) -> int | None:
        """Return the lowest ticket, this process's included; None when nobody waits.

        One of the lowest, where another user has taken thousands.
        """
        lowest, start = self.ticket, self._start()
        for _ in range(MOST_TICKETS):
            found = None if lowest == start else self._any_other(start, lowest)
            if found is None:
                break
            lowest = found
        return lowest or None

    def join(self, due_ns: int = 0) -> None:
        """Take a ticket: for now, or for a later time of the monotonic clock."""
        if self._receiver is not None:  # what came for an earlier ticket
            self._receiver.setblocking(False)
            with contextlib.suppress(OSError):
                while True:
                    self._receiver.recv(1)
        at = max(due_ns, time.monotonic_ns())
        self.ticket = (at & ~_IDS) | self._id
        self._lock(fcntl.F_RDLCK, self.ticket)

    def leave(self) -> None:
        """Give the ticket back."""
        self._lock(fcntl.F_UNLCK, self.ticket)
        self.ticket = 0

    def pass_over(self, ticket: int) -> None:
        """Ignore the first ticket and all before it for a second: its process does not react."""
        self._passed_over = ticket
        self._passed_over_until_ns = time.monotonic_ns() + PASSED_OVER_NS

    def _start(self) -> int:
        """Return the lowest ticket that is not passed over."""
        if self._passed_over and time.monotonic_ns() > self._passed_over_until_ns:
            self._passed_over = 0
        return self._passed_over + 1

    def wait(self, timeout_s: float) -> None:
        """Sleep until this process is woken, or the time is over."""
        if self._receiver is None:
            time.sleep(min(timeout_s, _BLIND_S))
            return
        with contextlib.suppress(OSError):
            self._receiver.settimeout(timeout_s)
            self._receiver.recv(1)

    def wake_first(self) -> None:
        """Wake the process with the lowest ticket."""
        first = self.first()
        if first is not None:
            with contextlib.suppress(OSError):
                self._sender.sendto(b"", _address(first))

    def close(self) -> None:
        """Close the file once. Nobody may wait any more; a second call has no effect."""
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        os.close(fd)
        self._sender.close()
        if self._receiver is not None:
            self._receiver.close()
