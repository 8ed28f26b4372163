"""Connections whose every part has an end: sending a request, waiting, reading the answer.

A socket's time-out is one of a single read: a server that sends a byte now and then, in its
headers or its body, would hold a grader for ever. And the one for connecting (5 s) would
also hold for sending, which 100 MB of input over a common network do not fit into.
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

SEND_S = 120.0  # for the whole of a request to be taken
DRIP_S = 60.0  # an answer may take this much longer than its first byte may


class _UntilDeadline(io.RawIOBase):
    """Reads a socket, with what is left of the deadline as each read's time-out."""

    def __init__(self, raw: Any, sock: socket.socket) -> None:
        self._raw = raw
        self._sock = sock
        self._wait_s = sock.gettimeout()
        self._deadline = time.monotonic() + (self._wait_s or 0.0) + DRIP_S

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
        self.fp = io.BufferedReader(_UntilDeadline(self.fp.detach(), sock))


class _Connection(HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(SEND_S)


class _SecureConnection(HTTPSConnection):
    response_class = _Response

    def connect(self) -> None:
        super().connect()
        self.sock.settimeout(SEND_S)


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class BoundedAdapter(HTTPAdapter):
    """For a session of `requests`: its connections are the ones above."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
