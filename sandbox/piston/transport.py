"""One HTTP exchange with a server: bytes out, a JSON value or bytes in, or a fault.

An answer is hostile until it is read. Its size is capped, it must be JSON, and its status decides
who is at fault. Nothing here knows what the JSON means.

A socket's time-out covers a single read, so that a server which sends a byte now and then, in
its headers or its body, could hold a grader for ever. So connecting, sending a request, waiting and
reading the answer have deadlines of their own. Bytes are counted as they come: a server that sends
`100 Continue` for ever, one-byte chunks or trailers sends nothing that counts as the answer's body.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import functools
import http.client
import io
import json
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote, urlsplit

from gradebox.sandbox.common.retry_after import retry_after_s
from gradebox.sandbox.endpoints import API, without_password
from gradebox.sandbox.errors import Refused, Transient

TOKEN_VARIABLE = "GRADEBOX_ENDPOINT_TOKEN"
CONNECT_TIMEOUT_S = 5.0
ANSWER_BYTES_MAX = 256 << 20
FRAMING_BYTES = 1 << 20  # chunks and trailers may have so many bytes more than the answer
ABOUT_BYTES_MAX = 4 << 20  # of an answer to GET: version or runtimes
LONGEST_ASKED_S = 3600.0  # the longest Retry-After that is believed; the fleet waits less
IDLE_S = 4.0  # Node closes a connection idle for 5 s: one idle for longer is not used again


class Transport:
    """Exchanges with one server, at once from any threads; idle connections are used again."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        """Take the address of a server, or of Piston's API where that is not the usual /api/v2.

        A path such as /api/v2/piston is followed by /execute itself, with no second /api/v2.
        """
        self.base_url = without_password(base_url)  # as messages show it
        self._address = urlsplit(base_url)
        self.api_only = f"{API}/" in self._address.path
        self._headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        user, password = self._address.username, self._address.password
        if user is not None:
            pair = f"{unquote(user)}:{unquote(password or '')}".encode()
            self._headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        elif token:
            self._headers["Authorization"] = f"Bearer {token}"
        # connections with the time of their last use, the latest at the end
        self._idle: list[tuple[float, http.client.HTTPConnection]] = []
        self._lock = threading.Lock()

    def get(self, route: str, timeout_s: float = 10.0) -> Any:
        """Return the JSON value at a route; raise Transient or Refused when there is none."""
        return self._exchange("GET", route, None, timeout_s, ABOUT_BYTES_MAX)

    def post(
        self, route: str, body: bytes, timeout_s: float, answer_max: int = ANSWER_BYTES_MAX
    ) -> Any:
        """Send a JSON body and return the JSON value of the answer.

        timeout_s   for the answer to begin
        answer_max  bytes of the answer; a longer one is Transient
        """
        return self._exchange("POST", route, body, timeout_s, answer_max)

    def close(self) -> None:
        """Close the connections that are not in use; a later exchange opens a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for _, connection in idle:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        """Return a connection for one exchange; a new one connects when it sends a request."""
        with self._lock:
            used, connection = self._idle.pop() if self._idle else (0.0, None)
        if connection is not None and time.monotonic() - used <= IDLE_S:
            return connection
        if connection is not None:  # the other idle ones are older still
            connection.close()
            self.close()
        kind = _SecureConnection if self._address.scheme == "https" else _Connection
        return kind(self._address.hostname or "", self._address.port)

    def _exchange(
        self, method: str, route: str, body: bytes | None, timeout_s: float, answer_max: int
    ) -> Any:
        path = route.removeprefix(API) if self.api_only else route
        url, connection = self.base_url + path, self._connection()
        try:
            if connection.sock is not None:  # the connection was used before
                connection.sock.settimeout(SEND_S)
            connection.request(method, self._address.path + path, body, self._headers)
            connection.sock.settimeout(timeout_s)
            with connection.getresponse() as response:
                raw = _read(response, answer_max, url)
                status, headers = response.status, response.headers
        except BaseException as error:
            connection.close()
            if isinstance(error, (OSError, http.client.HTTPException, ValueError)):
                raise Transient(f"{url}: {_cause(error, timeout_s)}") from error
            raise
        with self._lock:
            self._idle.append((time.monotonic(), connection))
        if 300 <= status < 400 and headers.get("Location"):
            moved = _printable(headers["Location"], 200)
            raise Refused(f"{url}: HTTP {status}, moved to {moved}: name that server")
        return parse_answer(url, status, raw, len(body or b""), headers.get("Retry-After", ""))


def _read(response: http.client.HTTPResponse, answer_max: int, url: str) -> bytes:
    """Return the body; refuse a compressed one: 64 KB, compressed twice, may hold 64 GB."""
    if response.headers.get("Content-Encoding", "identity") != "identity":
        raise Transient(f"{url}: the answer is compressed, which was not asked for")
    if isinstance(response, _Response):
        response.allow(2 * answer_max + FRAMING_BYTES)
    parts: list[bytes] = []
    size = 0
    while part := response.read(1 << 16):
        size += len(part)
        if size > answer_max:
            raise Transient(f"{url}: the answer is over {answer_max} bytes; the rest was not read")
        parts.append(part)
    if response.length:  # so many bytes of the body are missing
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(parts)


def parse_answer(url: str, status: int, raw: bytes, body_bytes: int, retry_after: str = "") -> Any:
    """Return the JSON value of a good answer, else raise the fault of its status and body."""
    try:
        value = json.loads(raw) if raw.strip() else None
    except (ValueError, RecursionError) as error:
        value = None
        if status == 200:
            raise Transient(f"{url}: the answer is not JSON ({_short(raw)}): {error}") from error
    if status == 200:
        if value is None:
            raise Transient(f"{url}: empty answer")
        return value
    fields = value if isinstance(value, dict) else {}
    if status == 413 or "PayloadTooLarge" in str(fields.get("stack", "")):
        raise Refused(
            f"{url}: a request of {body_bytes} bytes is over the server's body limit; raise it "
            "(docs/piston.md, 'The request body')",
            "body",
        )
    message = fields.get("message")
    words = _printable(message, 500) if isinstance(message, str) else ""
    if status in (401, 403):
        raise Refused(
            f"{url}: HTTP {status} ({words or _short(raw) or 'empty body'}); where a server asks "
            f"for a bearer token, {TOKEN_VARIABLE} must be it"
        )
    if status in (400, 415) and words:
        raise Refused(f"{url}: {words}")
    said = f"busy (429), retry after {_printable(retry_after, 40) or '?'}"
    if status != 429:
        said = f"HTTP {status} ({_short(raw) or 'empty body'})"
    fault = Transient(f"{url}: {said}")
    fault.busy = status == 429
    fault.pause_s = retry_after_s(retry_after, LONGEST_ASKED_S) or 0.0
    raise fault


def _cause(error: BaseException, timeout_s: float) -> str:
    """Return what went wrong, in the system's words where there are any."""
    if isinstance(error, TimeoutError):
        return f"{type(error).__name__}: no answer within {timeout_s:.0f} s"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return f"{type(error).__name__}: {str(error)[:200]}"


def _short(raw: bytes) -> str:
    return _printable(raw[: 4 * 120].decode("utf-8", "replace"), 120)


def _printable(text: str, most: int) -> str:
    """Return a server's words on one line; what would move a terminal's cursor is escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text[:most])


# ---- connections with a deadline for each part of an exchange ----

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
        """Wait at most `wait_s` for bytes and call the check meanwhile; don't wait without one."""
        check, until = _check.get(), time.monotonic() + wait_s
        if check is None or getattr(self._sock, "pending", lambda: 0)():
            return
        check()
        poll = select.poll()  # select.select refuses descriptors over 1023
        poll.register(self._sock, select.POLLIN)
        while time.monotonic() < until and not poll.poll(CHECK_EVERY_S * 1000):
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
        """Let the body have `size` bytes as it is sent, framing included."""
        self._reader.allowed = size


class _Connection(http.client.HTTPConnection):
    response_class = _Response

    def connect(self) -> None:
        self.timeout = CONNECT_TIMEOUT_S
        super().connect()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEP_ALIVE.items():
            self.sock.setsockopt(socket.IPPROTO_TCP, option, value)
        self.sock.settimeout(SEND_S)


class _SecureConnection(_Connection, http.client.HTTPSConnection):
    def __init__(self, host: str, port: int | None) -> None:
        super().__init__(host, port, context=_tls_context())


@functools.cache
def _tls_context() -> ssl.SSLContext:
    return ssl.create_default_context()  # loading the certificates takes 20 ms
