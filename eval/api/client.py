"""`Client`: the calls of a `Grader`, executed by servers' `POST /grade`.

    solutions ─ by problem, in chunks ─▶ requests, a limited number at once on each server
        └─ 429, 503: wait     no answer: another server, later     ─▶ records, in order

Several nodes of a trainer can share the servers: what they cannot take now waits in the client.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradebox.eval.api.grade_request import (
    Chunk,
    NoAnswer,
    Refused,
    encode,
    message_of,
    parse_reply,
    post,
)
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.grading.solution_run import ungraded
from gradebox.eval.problems.in_memory import InMemoryProblems, Row, parse_row
from gradebox.eval.results.records import as_json
from gradebox.eval.solutions.reader import read_rows
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.async_bridge import run_in_thread

if TYPE_CHECKING:
    import requests

CHUNK = 8
AVOIDED_S = 15.0  # how long a server that failed is used last
BUSY = (429, 503)


@dataclass(eq=False)
class _Server:
    """One server and its state."""

    url: str
    places: threading.BoundedSemaphore
    avoided_until: float = 0.0


class _LastAnswer:
    """When a server last graded something of a batch.

    Chunks share it: with a limit for each, a batch of many would wait for dead servers many times.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self.now()

    def now(self) -> None:
        self._at = time.monotonic()

    def patience_left_s(self) -> float:
        return max(0.0, self._at + self._patience_s - time.monotonic())


class Client:
    """Grade on servers started with `python -m sandbox.server` (`gradebox serve`).

    urls         one address or several
    token        bearer token of the servers
    concurrency  requests at once on each server
    patience_s   how long the servers may grade nothing of a batch before the rest of its records
                 have the status `error`
    flags        flags that a request may set (docs/server.md), as keywords

    Any thread may call any method, also after fork: nothing stays open between calls.
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
        addresses = [urls] if isinstance(urls, str) else list(urls)
        wrong = [url for url in addresses if not url.startswith(("http://", "https://"))]
        if wrong or not addresses:
            what = f"url {shown(wrong[0])}" if wrong else "urls is empty"
            raise InputError(f"{what}: give addresses such as http://host:2000")
        if concurrency < 1 or not patience_s > 0:
            raise InputError(
                f"concurrency {concurrency} and patience_s {patience_s} must be over 0"
            )
        self._servers = [
            _Server(url.rstrip("/"), threading.BoundedSemaphore(concurrency)) for url in addresses
        ]
        self._threads = concurrency * len(addresses)
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
        """Return a record for each solution, in order, as `Grader.grade` does.

        problems      rows; or an id, or None, for problems in the servers' own --dataset
        time_limit_s  as for a Grader, of each request: at most 8 solutions of one problem

        Raises InputError for a request that a server refuses. A solution that no server graded
        has a record of status `error`, `patience_s` after the last answer to this call.
        """
        return self._grade(solutions, problems, time_limit_s, threading.Event())

    async def grade_async(
        self,
        solutions: Iterable[Mapping[str, Any]],
        problems: Row | str | Sequence[Row] | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[dict[str, Any]]:
        """Do the same as `grade` without blocking the event loop."""
        stop = threading.Event()
        return await run_in_thread(
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
        parsed = list(
            read_rows(
                [solutions] if isinstance(solutions, Mapping) else solutions,
                resolve=None if book is None else book.resolve,
                only_id=problems if isinstance(problems, str) else (book.only_id if book else ""),
            )
        )
        records: dict[int, dict[str, Any]] = {}
        sent: list[Solution] = []
        for s in parsed:
            error = s.error
            if not error and book is not None and book.get(s.problem_id) is None:
                error = f"line {s.line}: {book.why_missing(s.problem_id)}"
            if error:
                records[s.line] = as_json(ungraded(s, None, "invalid", error))
            else:
                sent.append(s)
        chunks = list(_chunks(sent, rows, time_limit_s))
        answered = _LastAnswer(self._patience_s)
        with requests.Session() as session, ThreadPoolExecutor(self._threads) as pool:
            try:
                answers = [
                    pool.submit(self._ask, session, chunk, stop, answered) for chunk in chunks
                ]
                for chunk, answer in zip(chunks, answers, strict=True):
                    for s, record in zip(chunk.solutions, answer.result(), strict=True):
                        records[s.line] = record
            except BaseException:
                stop.set()  # the other chunks are of no use any more
                raise
        return [records[s.line] for s in parsed]

    def _ask(
        self,
        session: requests.Session,
        chunk: Chunk,
        stop: threading.Event,
        answered: _LastAnswer,
    ) -> list[dict[str, Any]]:
        """Return a chunk's records; records of status `error` when no server graded it in time."""
        body = encode(chunk, self._flags)
        why, attempt = "no server was free", 0
        while not stop.is_set() and answered.patience_left_s() > 0:
            server = self._acquire_server(answered, stop)
            if server is None:
                break
            pause = 0.0
            try:
                status, raw, wait_s = post(
                    session, server.url, self._headers, body, answered.patience_left_s()
                )
                if status == 200:
                    records = parse_reply(raw, chunk.solutions)
                    answered.now()
                    return records
                if status not in BUSY:
                    raise NoAnswer(f"{server.url} answered {status}: {message_of(raw)}")
                why, pause = f"{server.url} is busy", wait_s
            except NoAnswer as error:
                why = str(error)
                server.avoided_until = time.monotonic() + AVOIDED_S * random.uniform(0.5, 1.0)
                pause = min(8.0, 0.25 * 2**attempt)
                attempt += 1
            except Refused as error:
                raise InputError(str(error)) from None
            finally:
                server.places.release()
            stop.wait(min(pause * random.uniform(0.5, 1.0), answered.patience_left_s()))
        why = "the caller cancelled the batch" if stop.is_set() else why
        return [as_json(ungraded(s, None, "error", f"not graded: {why}")) for s in chunk.solutions]

    def _acquire_server(self, answered: _LastAnswer, stop: threading.Event) -> _Server | None:
        """Wait for a place on a server and take it; None when the time is up.

        A server that failed lately is used only when all have.
        """
        while not stop.is_set() and answered.patience_left_s() > 0:
            now = time.monotonic()
            working = [s for s in self._servers if s.avoided_until <= now] or self._servers
            for server in random.sample(working, len(working)):
                if server.places.acquire(blocking=False):
                    return server
            stop.wait(0.02)
        return None


def _book(
    problems: Row | str | Sequence[Row] | None,
) -> tuple[InMemoryProblems | None, dict[str, Row]]:
    """Return the given problems and the row of each id; (None, {}) for the servers' own."""
    if problems is None or isinstance(problems, str):
        return None, {}
    rows = [problems] if isinstance(problems, Mapping) else list(problems)
    rows = [parse_row(row) for row in rows]
    by_id: dict[str, Row] = {}
    for row in rows:
        for name in InMemoryProblems([row]).ids():
            by_id.setdefault(name, {**row, "id": name})
    return InMemoryProblems(rows), by_id


def _chunks(
    solutions: Iterable[Solution], rows: Mapping[str, Row], time_limit_s: float | None
) -> Iterator[Chunk]:
    by_problem: dict[str, list[Solution]] = {}
    for s in solutions:
        by_problem.setdefault(s.problem_id, []).append(s)
    for name, group in by_problem.items():
        for at in range(0, len(group), CHUNK):
            yield Chunk(group[at : at + CHUNK], rows.get(name, name), time_limit_s)
