"""One HTTP exchange with a Piston server: bytes out, a JSON value or bytes in, or a fault.

An answer is hostile until it is read. Its size is capped, it must be JSON, and its status decides
who is at fault. Nothing here knows what the JSON means.

A socket's time-out covers a single read, so that a server which sends a byte now and then, in
its headers or its body, could hold a grader for ever. The time-out for connecting (5 s) would
also cover sending, and 100 MB of input take longer than that on a common network. So sending a
request, waiting and reading the answer have deadlines of their own. Bytes are counted as they
come: a server that sends `100 Continue` for ever, one-byte chunks or trailers sends nothing that
counts as the answer's body.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.wait import wait_for_read

from gradebox.sandbox.common.retry_after import retry_after_s
from gradebox.sandbox.endpoints import API, without_password
from gradebox.sandbox.errors import Refused, Transient

TOKEN_VARIABLE = "GRADEBOX_ENDPOINT_TOKEN"
CONNECT_TIMEOUT_S = 5.0
ANSWER_BYTES_MAX = 256 << 20
FRAMING_BYTES = 1 << 20  # of chunks and trailers, beside as many bytes as the answer has
ABOUT_BYTES_MAX = 4 << 20  # of GET: version and runtimes
LONGEST_ASKED_S = 3600.0  # of a Retry-After; the fleet waits less
IDLE_S = 4.0  # Node closes a connection idle for 5 s: one idle for longer is not used again


class Transport:
    """Exchanges with one server; each thread keeps one session with its connection."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        """Take the address of a server, or of Piston's API where that is not the usual /api/v2.

        A path such as /api/v2/piston is followed by /execute itself, with no second /api/v2.
        """
        self.base_url = without_password(base_url)  # as messages show it
        self.api_only = f"{API}/" in urlsplit(base_url).path
        self._root = base_url
        self._token = token
        self._local = threading.local()
        self._sessions: list[requests.Session] = []
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
        with self._lock:
            sessions, self._sessions = self._sessions, []
        for session in sessions:
            session.close()

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = requests.Session()
            session.trust_env = False  # no proxy between a grader and its server
            for scheme in ("http://", "https://"):
                session.mount(scheme, DeadlineAdapter())
            session.headers["Content-Type"] = "application/json"
            session.headers["Accept-Encoding"] = "identity"
            if self._token:
                session.headers["Authorization"] = f"Bearer {self._token}"
            with self._lock:
                self._sessions.append(session)
            self._local.session = session
        elif time.monotonic() - self._local.used > IDLE_S:
            session.close()  # drops its connections; the session itself stays usable
        return session

    def _url(self, root: str, route: str) -> str:
        return root + (route.removeprefix(API) if self.api_only else route)

    def _request(
        self,
        session: requests.Session,
        method: str,
        route: str,
        body: bytes | None,
        timeout_s: float,
    ) -> requests.Response:
        return session.request(
            method,
            self._url(self._root, route),
            data=body,
            timeout=(CONNECT_TIMEOUT_S, timeout_s),
            stream=True,
            allow_redirects=False,
        )

    def _exchange(
        self, method: str, route: str, body: bytes | None, timeout_s: float, answer_max: int
    ) -> Any:
        session = self._session()
        url = self._url(self.base_url, route)
        try:
            with self._request(session, method, route, body, timeout_s) as response:
                raw = _read(response, answer_max, url)
                status, headers = response.status_code, response.headers
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            session.close()
            raise Transient(f"{url}: {_cause(error, timeout_s)}") from error
        finally:
            self._local.used = time.monotonic()
        _refuse_move(url, status, headers)
        return parse_answer(url, status, raw, len(body or b""), headers.get("Retry-After", ""))


def _refuse_move(url: str, status: int, headers: Mapping[str, str]) -> None:
    location = headers.get("Location", "")
    if 300 <= status < 400 and location:
        moved = _printable(location, 200)
        raise Refused(f"{url}: HTTP {status}, moved to {moved}: name that server")


def _read(response: requests.Response, answer_max: int, url: str) -> bytes:
    """Return the body as it came: 64 KB that are compressed twice may be 64 GB."""
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise Transient(f"{url}: the answer is compressed, which was not asked for")
    allow = getattr(getattr(response.raw, "_original_response", None), "allow", None)
    if allow is not None:
        allow(2 * answer_max + FRAMING_BYTES)
    parts: list[bytes] = []
    size = 0
    for part in response.raw.stream(1 << 16, decode_content=False):
        size += len(part)
        if size > answer_max:
            raise Transient(f"{url}: the answer is over {answer_max} bytes; the rest was not read")
        parts.append(part)
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
    if isinstance(error, (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)):
        return f"{type(error).__name__}: no answer within {timeout_s:.0f} s"
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
        cause = cause.__cause__ or cause.__context__
    return f"{type(error).__name__}: {str(error)[:200]}"


def _short(raw: bytes) -> str:
    return _printable(raw[: 4 * 120].decode("utf-8", "replace"), 120)


def _printable(text: str, most: int) -> str:
    """Return a server's words on one line: what moves a terminal's cursor is an escape."""
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
