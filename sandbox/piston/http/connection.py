"""Connections with a deadline for each part: sending a request, waiting, reading the answer.

A socket's time-out covers a single read, so that a server which sends a byte now and then, in
its headers or its body, could hold a grader for ever. The time-out for connecting (5 s) would
also cover sending, and 100 MB of input take longer than that on a common network.

Bytes are counted as they come: a server that sends `100 Continue` for ever, one-byte chunks or
trailers sends nothing that counts as the answer's body.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import io
import socket
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.wait import wait_for_read

SEND_S = 120.0  # for sending a whole request
DRIP_S = 60.0  # an answer may take this much longer than its first byte may
CHECK_EVERY_S = 0.25
# A host that went away is noticed after 90 s, however long its answer may take.
KEEP_ALIVE = {socket.TCP_KEEPIDLE: 30, socket.TCP_KEEPINTVL: 10, socket.TCP_KEEPCNT: 6}
HEAD_BYTES_MAX = 1 << 20  # of an answer's status and headers


_check: ContextVar[Callable[[], object] | None] = ContextVar("check", default=None)


@contextlib.contextmanager
def waiting(check: Callable[[], object]) -> Iterator[None]:
    """Call `check` again and again while this thread waits for an answer; it may raise."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


class _DeadlineReader(io.RawIOBase):
    """Reads a socket; each read gets what is left until the deadline as its time-out.

    allowed   bytes that may still come
    """

    def __init__(self, raw: Any, sock: socket.socket) -> None:
        self._raw = raw
        self._sock = sock
        self._wait_s = sock.gettimeout()
        self.allowed = HEAD_BYTES_MAX
        self._deadline = time.monotonic() + (self._wait_s or 0.0) + DRIP_S

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._wait_s is not None:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError("the answer came too slowly")
            wait_s = min(self._wait_s, left_s)
            self._await(wait_s)
            self._sock.settimeout(wait_s)
        read: int | None = self._raw.readinto(buffer)
        self.allowed -= read or 0
        if self.allowed < 0:
            raise OSError(errno.EMSGSIZE, "more bytes came than an answer may have")
        return read

    def _await(self, wait_s: float) -> None:
        """Wait for bytes for so long, if there is something to check meanwhile."""
        check, until = _check.get(), time.monotonic() + wait_s
        if check is None or getattr(self._sock, "pending", lambda: 0)():
            return
        check()
        while time.monotonic() < until and not wait_for_read(self._sock, CHECK_EVERY_S):
            check()

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        reader = _DeadlineReader(self.fp.detach(), sock)
        self._reader = reader
        self.fp = io.BufferedReader(reader)

    def allow(self, size: int) -> None:
        """Let the body take so many bytes as they are sent, framing included."""
        self._reader.allowed = size


class _Deadlines(HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        super().connect()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEP_ALIVE.items():
            self.sock.setsockopt(socket.IPPROTO_TCP, option, value)
        self.sock.settimeout(SEND_S)


class _SecureDeadlines(_Deadlines, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Deadlines


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureDeadlines


class DeadlineAdapter(HTTPAdapter):
    """Gives a session of `requests` the connections above."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
