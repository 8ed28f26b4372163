"""One HTTP exchange with a Piston server: bytes out, a JSON value or bytes in, or a fault.

An answer is hostile until it is read. Its size is capped, it must be JSON, and its status decides
who is at fault. Nothing here knows what the JSON means.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

import requests
import urllib3

from gradebox.sandbox.common.retry_after import retry_after_s
from gradebox.sandbox.piston.faults import BodyTooLarge, Refused, Transient
from gradebox.sandbox.piston.http.connection import DeadlineAdapter

CONNECT_TIMEOUT_S = 5.0
ANSWER_BYTES_MAX = 256 << 20
ABOUT_BYTES_MAX = 4 << 20  # of GET: version and runtimes
LONGEST_ASKED_S = 3600.0  # of a Retry-After; the fleet waits less
FINISH_S = 2.0  # what follows the bytes that were expected may take so long
IDLE_S = 4.0  # Node closes a connection idle for 5 s: one idle for longer is not used again


class Transport:
    """Exchanges with one server; each thread keeps one session with its connection."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self.base_url = base_url
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

    @contextlib.contextmanager
    def stream(
        self, route: str, body: bytes, headers: Mapping[str, str], timeout_s: float
    ) -> Iterator[ByteStream]:
        """Send bytes; give an answer of the same content type, to be read as it comes.

        Raises Transient or Refused. Leaving it before its end closes the connection.
        """
        session, url = self._session(), self.base_url + route
        try:
            with self._request(session, "POST", route, body, timeout_s, headers) as response:
                status, known = response.status_code, response.headers
                if status != 200:
                    raw = _read(response, ABOUT_BYTES_MAX, url)
                    _refuse_move(url, status, known)
                    parse_answer(url, status, raw, len(body), known.get("Retry-After", ""))
                if known.get("Content-Type") != headers["Content-Type"]:
                    raise Transient(f"{url}: the answer is {known.get('Content-Type')!r:.80}")
                yield ByteStream(url, response, timeout_s)
        except requests.RequestException as error:
            session.close()
            raise Transient(f"{url}: {_cause(error, timeout_s)}") from error
        finally:
            self._local.used = time.monotonic()

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
            if self._token:
                session.headers["Authorization"] = f"Bearer {self._token}"
            with self._lock:
                self._sessions.append(session)
            self._local.session = session
        elif time.monotonic() - self._local.used > IDLE_S:
            session.close()  # drops its connections; the session itself stays usable
        return session

    def _request(
        self,
        session: requests.Session,
        method: str,
        route: str,
        body: bytes | None,
        timeout_s: float,
        headers: Mapping[str, str] | None = None,
    ) -> requests.Response:
        return session.request(
            method,
            self.base_url + route,
            data=body,
            headers=headers,
            timeout=(CONNECT_TIMEOUT_S, timeout_s),
            stream=True,
            allow_redirects=False,
        )

    def _exchange(
        self, method: str, route: str, body: bytes | None, timeout_s: float, answer_max: int
    ) -> Any:
        session = self._session()
        url = self.base_url + route
        try:
            with self._request(session, method, route, body, timeout_s) as response:
                raw = _read(response, answer_max, url)
                status, headers = response.status_code, response.headers
        except requests.RequestException as error:
            session.close()
            raise Transient(f"{url}: {_cause(error, timeout_s)}") from error
        finally:
            self._local.used = time.monotonic()
        _refuse_move(url, status, headers)
        return parse_answer(url, status, raw, len(body or b""), headers.get("Retry-After", ""))


class ByteStream:
    """The body of an answer, read in the sizes that its reader expects."""

    def __init__(self, url: str, response: requests.Response, timeout_s: float) -> None:
        self._url = url
        self._raw = response.raw
        self._timeout_s = timeout_s

    def read(self, size: int) -> bytes:
        """Return exactly so many bytes. Raises Transient."""
        parts: list[bytes] = []
        try:
            while size:
                part: bytes = self._raw.read(size, decode_content=False)
                if not part:
                    raise Transient(f"{self._url}: the answer ended {size} bytes early")
                parts.append(part)
                size -= len(part)
        except (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError) as error:
            raise Transient(f"{self._url}: {_cause(error, self._timeout_s)}") from error
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def more_time(self, seconds: float | None = None) -> None:
        """Begin a new time limit: so many seconds, or what the answer's beginning could take."""
        extend = getattr(getattr(self._raw, "_original_response", None), "more_time", None)
        if extend is not None:
            extend(seconds)

    def finish(self) -> None:
        """Read the end, so that the connection can be used again; it is closed if that fails."""
        self.more_time(FINISH_S)
        errors = (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError)
        with contextlib.suppress(*errors):
            self._raw.read(1, decode_content=False)


def _refuse_move(url: str, status: int, headers: Mapping[str, str]) -> None:
    location = headers.get("Location", "")
    if 300 <= status < 400 and location:
        raise Refused(f"{url}: HTTP {status}, moved to {location[:200]}: name that server")


def _read(response: requests.Response, answer_max: int, url: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_content(1 << 16):
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
        raise BodyTooLarge(
            f"{url}: a request of {body_bytes} bytes is over the server's body limit; raise it "
            "(docs/piston.md, 'The request body')"
        )
    message = fields.get("message")
    if status in (400, 401, 403, 415) and isinstance(message, str) and message:
        raise Refused(f"{url}: {message[:500]}")
    if status == 429:
        fault = Transient(f"{url}: busy (429), retry after {retry_after[:40] or '?'}")
    else:
        fault = Transient(f"{url}: HTTP {status} ({_short(raw) or 'empty body'})")
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
    return raw[:120].decode("utf-8", "replace")
