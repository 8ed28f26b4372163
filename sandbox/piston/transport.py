"""One HTTP exchange with a Piston server: bytes out, a JSON value in, or a fault.

A server's answer is hostile until read: its size is capped, its text must be JSON, its
status decides who is at fault. Nothing here knows what the JSON means.
"""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from typing import Any

import requests

from sandbox.piston.connection import DRIP_S, BoundedAdapter
from sandbox.piston.faults import BodyTooLarge, Refused, Transient
from sandbox.retry_after import retry_after_s

CONNECT_TIMEOUT_S = 5.0
ANSWER_BYTES_MAX = 1 << 30
LONGEST_ASKED_S = 3600.0  # of a Retry-After; the fleet keeps to less
IDLE_S = 4.0  # Node closes a connection idle for 5 s: one idle for longer is not used again


@dataclass(frozen=True)
class Reply:
    """An HTTP status and the JSON value that came with it."""

    status: int
    value: Any


class Transport:
    """Exchanges with one server; each thread keeps one session with its connection."""

    def __init__(self, base_url: str, *, token: str | None = None) -> None:
        self.base_url = base_url
        self._token = token
        self._local = threading.local()
        self._sessions: list[requests.Session] = []
        self._lock = threading.Lock()

    def get(self, route: str, timeout_s: float = 10.0) -> Any:
        """The JSON value at a route; Transient or Refused when there is none."""
        return self._exchange("GET", route, None, timeout_s, ANSWER_BYTES_MAX)

    def post(
        self, route: str, body: bytes, timeout_s: float, answer_max: int = ANSWER_BYTES_MAX
    ) -> Any:
        """Sends a JSON body; `timeout_s` is for the whole answer to begin."""
        return self._exchange("POST", route, body, timeout_s, answer_max)

    def close(self) -> None:
        with self._lock:
            sessions, self._sessions = self._sessions, []
        for session in sessions:
            session.close()

    def _session(self) -> requests.Session:
        session: requests.Session | None = getattr(self._local, "session", None)
        now = time.monotonic()
        if session is not None and now - self._local.used > IDLE_S:
            session.close()  # drops its connections; the session itself stays usable
        if session is None:
            session = requests.Session()
            session.trust_env = False  # no proxy between a grader and its server
            for scheme in ("http://", "https://"):
                session.mount(scheme, BoundedAdapter())
            session.headers["Content-Type"] = "application/json"
            if self._token:
                session.headers["Authorization"] = f"Bearer {self._token}"
            with self._lock:
                self._sessions.append(session)
            self._local.session = session
        self._local.used = now
        return session

    def _exchange(
        self, method: str, route: str, body: bytes | None, timeout_s: float, answer_max: int
    ) -> Any:
        session = self._session()
        url = self.base_url + route
        deadline = time.monotonic() + timeout_s + DRIP_S  # an answer that drips is cut as well
        try:
            with session.request(
                method,
                url,
                data=body,
                timeout=(CONNECT_TIMEOUT_S, timeout_s),
                stream=True,
                allow_redirects=False,
            ) as response:
                raw = _read(response, answer_max, deadline, url)
                status = response.status_code
                headers = response.headers
                retry_after = headers.get("Retry-After", "")
                location = headers.get("Location", "")
        except requests.RequestException as error:
            session.close()
            raise Transient(f"{url}: {_cause(error, timeout_s)}") from error
        finally:
            self._local.used = time.monotonic()
        if 300 <= status < 400 and location:
            raise Refused(f"{url}: HTTP {status}, moved to {location[:200]}: name that server")
        return judge_reply(url, status, raw, len(body or b""), retry_after)


def _read(response: requests.Response, answer_max: int, deadline: float, url: str) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_content(1 << 16):
        size += len(part)
        if size > answer_max:
            raise Transient(f"{url}: answer of over {answer_max} bytes; not read further")
        if time.monotonic() > deadline:
            raise Transient(f"{url}: the answer came too slowly ({size} bytes); given up")
        parts.append(part)
    return b"".join(parts)


def judge_reply(url: str, status: int, raw: bytes, body_bytes: int, retry_after: str = "") -> Any:
    """The JSON value of a good reply, else the fault that status and body amount to."""
    try:
        value = json.loads(raw) if raw.strip() else None
    except (ValueError, RecursionError) as error:
        value = None
        if status == 200:
            raise Transient(f"{url}: answer is not JSON ({_short(raw)}): {error}") from error
    if status == 200:
        if value is None:
            raise Transient(f"{url}: empty answer")
        return value
    said = value if isinstance(value, dict) else {}
    stack = str(said.get("stack", ""))
    if status == 413 or "PayloadTooLarge" in stack:
        raise BodyTooLarge(
            f"{url}: a request of {body_bytes} bytes is over the server's body limit; raise it "
            "(docs/piston.md, 'The request body')"
        )
    message = said.get("message")
    if status in (400, 401, 403, 404, 415) and isinstance(message, str) and message:
        raise Refused(f"{url}: {message[:500]}")
    if status == 429:
        fault = Transient(f"{url}: busy (429), retry after {retry_after[:40] or '?'}")
    else:
        fault = Transient(f"{url}: HTTP {status} ({_short(raw) or 'empty body'})")
    fault.pause_s = retry_after_s(retry_after, LONGEST_ASKED_S) or 0.0
    raise fault


def _cause(error: BaseException, timeout_s: float) -> str:
    """What went wrong, in the system's words when it has any."""
    if isinstance(error, requests.Timeout):
        return f"{type(error).__name__}: no answer within {timeout_s:.0f} s"
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror
        seen = seen.__cause__ or seen.__context__
    return f"{type(error).__name__}: {str(error)[:200]}"


def _short(raw: bytes) -> str:
    return raw[:120].decode("utf-8", "replace")
