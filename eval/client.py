"""A `Client` of graders elsewhere: the same calls as a `Grader`, done by servers' `POST /grade`.

    solutions ─ by problem, in chunks ─▶ as many requests at once as a server may have
        └─ 429, 503: wait as told     no answer: another server, later     ─▶ records, in order

A trainer's nodes share the graders by this: what a server can't take now waits here.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eval.batch import ungraded
from eval.given_problems import GivenBook, Row, read_problem
from eval.in_thread import in_thread
from eval.input_error import InputError, shown
from eval.model import Solution
from eval.remote_records import ReplyError, read_reply
from eval.solutions import read_rows
from sandbox.retry_after import retry_after_s

if TYPE_CHECKING:
    import requests

CHUNK = 8
MOST_REPLY_BYTES = 1 << 30
LEFT_OUT_S = 15.0
LONGEST_WAIT_S = 60.0
BUSY = (429, 503)


class _Refused(Exception):
    """The server says the request itself is wrong: trying again gives the same."""


class _Failed(Exception):
    """No usable answer: another server, or the same one later, may have one."""


@dataclass(eq=False)
class _Server:
    """One server and how it is doing."""

    url: str
    places: threading.BoundedSemaphore
    out_until: float = 0.0


@dataclass(frozen=True)
class _Chunk:
    """Solutions of one problem, for one request."""

    solutions: list[Solution]
    problem: Row | str
    time_limit_s: float | None


class Client:
    """Grades on servers started with `python -m sandbox.server` (`gradebox serve`).

    urls         one address or several; each gets as much as it takes
    token        the servers' bearer token
    concurrency  requests at once on each server
    patience_s   how long a chunk is tried before its records are of status `error`
    flags        stop_on_first_failure, compare, max_stored_output, repeat, time_limit_scale

    From any thread, and after fork: nothing is kept open between calls.
    """

    def __init__(
        self,
        urls: str | Sequence[str],
        *,
        token: str | None = None,
        concurrency: int = 4,
        patience_s: float = 600.0,
        **flags: Any,
    ) -> None:
        given = [urls] if isinstance(urls, str) else list(urls)
        wrong = [url for url in given if not url.startswith(("http://", "https://"))]
        if wrong or not given:
            what = f"url {shown(wrong[0])}" if wrong else "urls: none"
            raise InputError(f"{what}: give addresses such as http://host:2000")
        if concurrency < 1 or not patience_s > 0:
            raise InputError("concurrency and patience_s must be over 0")
        self._servers = [
            _Server(url.rstrip("/"), threading.BoundedSemaphore(concurrency)) for url in given
        ]
        self._threads = concurrency * len(given)
        self._headers = {"Content-Type": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._patience_s = patience_s
        self._flags = flags

    def grade(
        self,
        solutions: Iterable[Mapping[str, Any]],
        problems: Row | str | Sequence[Row] | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[dict[str, Any]]:
        """A record for each solution, in order, as `Grader.grade` gives them.

        time_limit_s  as for a Grader, of each request: at most 8 solutions of one problem
        problems  rows; or an id, or None, of problems in the servers' own --dataset

        Raises InputError for what a server calls a wrong request. What no server answered
        in `patience_s` has a record of status `error`.
        """
        return self._grade(solutions, problems, time_limit_s, threading.Event())

    async def grade_async(
        self,
        solutions: Iterable[Mapping[str, Any]],
        problems: Row | str | Sequence[Row] | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[dict[str, Any]]:
        """`grade` without blocking the event loop."""
        stop = threading.Event()
        return await in_thread(
            lambda: self._grade(solutions, problems, time_limit_s, stop), stop.set
        )

    def _grade(
        self,
        solutions: Iterable[Mapping[str, Any]],
        problems: Row | str | Sequence[Row] | None,
        time_limit_s: float | None,
        stop: threading.Event,
    ) -> list[dict[str, Any]]:
        import requests

        book, rows = _book(problems)
        given = list(
            read_rows(
                [solutions] if isinstance(solutions, Mapping) else solutions,
                resolve=None if book is None else book.resolve,
                only_id=problems if isinstance(problems, str) else (book.only_id if book else ""),
            )
        )
        records: dict[int, dict[str, Any]] = {}
        sent: list[Solution] = []
        for s in given:
            unknown = book is not None and not s.error and book.get(s.problem_id) is None
            if s.error or unknown:
                why = s.error or f"line {s.line}: {book.why_missing(s.problem_id) if book else ''}"
                records[s.line] = _invalid(s, why)
            else:
                sent.append(s)
        chunks = list(_chunks(sent, rows, time_limit_s))
        with requests.Session() as session, ThreadPoolExecutor(self._threads) as pool:
            try:
                answers = [pool.submit(self._ask, session, chunk, stop) for chunk in chunks]
                for chunk, answer in zip(chunks, answers, strict=True):
                    for s, record in zip(chunk.solutions, answer.result(), strict=True):
                        records[s.line] = record
            except BaseException:
                stop.set()  # the others need not go on
                raise
        return [records[s.line] for s in given]

    def _ask(
        self, session: requests.Session, chunk: _Chunk, stop: threading.Event
    ) -> list[dict[str, Any]]:
        """The records of a chunk, whatever it takes; error records when it takes too long."""
        until = time.monotonic() + self._patience_s
        body = self._body(chunk)
        why, attempt = "no server was free", 0
        while not stop.is_set() and time.monotonic() < until:
            server = self._free_server(until, stop)
            if server is None:
                break
            pause = 0.0
            try:
                status, raw, told = self._post(session, server, body, until)
                if status == 200:
                    return read_reply(raw, chunk.solutions)
                if status not in BUSY:
                    raise _Failed(f"{server.url} answered {status}: {_words(raw)}")
                why, pause = f"{server.url} is busy", told
            except (_Failed, ReplyError) as error:
                why = str(error)
                server.out_until = time.monotonic() + LEFT_OUT_S * random.uniform(0.5, 1.0)
                pause = min(8.0, 0.25 * 2**attempt)
                attempt += 1
            except _Refused as error:
                raise InputError(str(error)) from None
            finally:
                server.places.release()
            stop.wait(min(pause * random.uniform(0.5, 1.0), max(0.0, until - time.monotonic())))
        why = "the caller cancelled the batch" if stop.is_set() else why
        return [ungraded(s, None, "error", f"not graded: {why}") for s in chunk.solutions]

    def _free_server(self, until: float, stop: threading.Event) -> _Server | None:
        """A server with a place, taken; those that failed lately come last. None: out of time."""
        while not stop.is_set() and time.monotonic() < until:
            now = time.monotonic()
            order = random.sample(self._servers, len(self._servers))
            order.sort(key=lambda server: server.out_until > now)
            for server in order:
                if server.out_until > now and any(s.out_until <= now for s in order):
                    break  # wait for a place on one that works
                if server.places.acquire(blocking=False):
                    return server
            stop.wait(0.02)
        return None

    def _post(
        self, session: requests.Session, server: _Server, body: bytes, until: float
    ) -> tuple[int, bytes, float]:
        """(status, body, seconds to wait); _Refused for 4xx that waiting does not mend."""
        import requests

        try:
            with session.post(
                f"{server.url}/grade",
                data=body,
                headers=self._headers,
                timeout=(10, max(1.0, until - time.monotonic())),
                allow_redirects=False,
                stream=True,
            ) as reply:
                raw = _bounded(reply)
                told = retry_after_s(reply.headers.get("Retry-After"), LONGEST_WAIT_S) or 1.0
        except (requests.RequestException, OSError) as error:
            raise _Failed(f"{server.url} does not answer ({type(error).__name__})") from None
        if reply.status_code in (400, 401, 403, 404, 413, 415):
            raise _Refused(f"{server.url}/grade: {reply.status_code}: {_words(raw)}")
        return reply.status_code, raw, told

    def _body(self, chunk: _Chunk) -> bytes:
        rows = []
        for s in chunk.solutions:
            answer = {"completion": ""} if s.code is None else {"code": s.code}
            rows.append(
                {
                    "problem_id": s.problem_id,
                    "solution_id": s.solution_id,
                    "language": s.language,
                    **answer,
                }
            )
        body: dict[str, Any] = {
            "solutions": rows,
            "flags": self._flags,
            "time_limit_s": chunk.time_limit_s,
        }
        if not isinstance(chunk.problem, str):
            body["problem"] = chunk.problem
        return json.dumps(body, default=_as_list).encode()


def _book(
    problems: Row | str | Sequence[Row] | None,
) -> tuple[GivenBook | None, dict[str, Row]]:
    """The problems given as rows, and the row of each id; (None, {}) for the servers' own."""
    if problems is None or isinstance(problems, str):
        return None, {}
    rows = [problems] if isinstance(problems, Mapping) else list(problems)
    rows = [read_problem(row) for row in rows]
    by_id: dict[str, Row] = {}
    for row in rows:
        for name in GivenBook([row]).ids():
            by_id.setdefault(name, {**row, "id": name})
    return GivenBook(rows), by_id


def _chunks(
    solutions: Iterable[Solution], rows: Mapping[str, Row], time_limit_s: float | None
) -> Iterator[_Chunk]:
    by_problem: dict[str, list[Solution]] = {}
    for s in solutions:
        by_problem.setdefault(s.problem_id, []).append(s)
    for name, group in by_problem.items():
        for at in range(0, len(group), CHUNK):
            yield _Chunk(group[at : at + CHUNK], rows.get(name, name), time_limit_s)


def _invalid(solution: Solution, why: str) -> dict[str, Any]:
    record = ungraded(solution, None, "invalid", why)
    return {**record, "time_limit_s": None, "memory_limit_bytes": None, "has_checker": None}


def _as_list(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise InputError(f"{shown(value)} in a problem can't be sent: text, numbers and lists can")


def _bounded(reply: requests.Response) -> bytes:
    parts, size = [], 0
    for part in reply.iter_content(1 << 20):
        size += len(part)
        if size > MOST_REPLY_BYTES:
            raise _Failed(f"a reply of over {MOST_REPLY_BYTES} bytes")
        parts.append(part)
    return b"".join(parts)


def _words(raw: bytes) -> str:
    """A server's message, short and printable."""
    try:
        said = json.loads(raw)["message"]
    except (ValueError, KeyError, TypeError, RecursionError):
        said = raw[:80].decode("utf-8", "replace")
    return shown(str(said), 300)
