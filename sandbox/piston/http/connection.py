"""Connections with a deadline for each part: sending a request, waiting, reading the answer.

A socket's time-out covers a single read, so that a server which sends a byte now and then, in
its headers or its body, could hold a grader for ever. The time-out for connecting (5 s) would
also cover sending, and 100 MB of input take longer than that on a common network.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

SEND_S = 120.0  # for sending a whole request
DRIP_S = 60.0  # an answer may take this much longer than its first byte may


class _DeadlineReader(io.RawIOBase):
    """Reads a socket; each read gets what is left until the deadline as its time-out."""

    def __init__(self, raw: Any, sock: socket.socket) -> None:
        self._raw = raw
        self._sock = sock
        self._wait_s = sock.gettimeout()
        self.more_time()

    def more_time(self, seconds: float | None = None) -> None:
        """Let what follows take so long; None: as long as the beginning of the answer could."""
        if seconds is None:
            seconds = (self._wait_s or 0.0) + DRIP_S
        self._deadline = time.monotonic() + seconds

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        if self._wait_s is not None:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError("the answer came too slowly")
            self._sock.settimeout(min(self._wait_s, left_s))
        read: int | None = self._raw.readinto(buffer)
        return read

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        reader = _DeadlineReader(self.fp.detach(), sock)
        self.more_time = reader.more_time
        self.fp = io.BufferedReader(reader)


class _Deadlines(HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        super().connect()
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
