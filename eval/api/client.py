"""`Client`: the calls of a `Grader`, executed by servers' `POST /grade`.

    solutions ─ by problem, in chunks ─▶ requests, a limited number at once on each server
        └─ 429: wait     no answer: another server, later     ─▶ records, in order

Several nodes of a trainer can share the servers: what they cannot take now waits in the client.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, cast

from gradebox.eval.api.keywords import RequestFlags, Unpack
from gradebox.eval.common.errors import InputError, Interrupted, shown
from gradebox.eval.grading.remote import GradeRequest, SentProblem
from gradebox.eval.grading.solution_run import ungraded
from gradebox.eval.problems.in_memory import InMemoryProblems, Row, rows_of
from gradebox.eval.results.record import as_json
from gradebox.eval.results.record_objects import Record
from gradebox.eval.solutions.reader import read_rows
from gradebox.eval.solutions.solution import Solution
from gradebox.sandbox.common.cancellation import asynchronous, current_cancellation
from gradebox.sandbox.errors import Refused, SandboxError
from gradebox.sandbox.piston.fleet import Endpoint, Fleet
from gradebox.sandbox.piston.transport import Transport, waiting

CHUNK = 8


class Client:
    """Grade on servers started with `python -m sandbox.server` (`gradebox serve`).

    urls         one address or several
    token        bearer token of the servers
    concurrency  requests at once on each server
    patience_s   how long all servers may fail, and a single answer may take, before the records
                 that wait for them have the status `error`
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
        **flags: Unpack[RequestFlags],
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
        transports = [Transport(url.rstrip("/"), token=token) for url in addresses]
        endpoints = [Endpoint(t.base_url, t, concurrency) for t in transports]
        self._fleet = Fleet(endpoints, _check, wait_s=patience_s)
        self._threads = concurrency * len(addresses)
        self._patience_s = patience_s
        self._flags: dict[str, Any] = {**flags}

    def grade(
        self,
        solutions: Iterable[Mapping[str, Any]],
        problems: Row | str | Sequence[Row] | None = None,
        *,
        time_limit_s: float | None = None,
    ) -> list[Record]:
        """Return a record for each solution, in order, as `Grader.grade` does.

        problems      rows; or an id, or None, for problems in the servers' own --dataset
        time_limit_s  as for a Grader, of each request: at most 8 solutions of one problem

        Raises InputError for a request that the servers refuse. A solution that no server graded
        has a record of status `error`.
        """
        book = None  # the servers' own problems
        if problems is not None and not isinstance(problems, str):
            book = InMemoryProblems(rows_of(problems), keep_rows=True)
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
        stop = threading.Event()
        current_cancellation().then(stop.set)
        requests = list(self._requests(sent, book, time_limit_s))
        with ThreadPoolExecutor(self._threads) as pool:
            try:
                answers = [pool.submit(self._ask, request, stop) for request in requests]
                for request, answer in zip(requests, answers, strict=True):
                    for s, record in zip(request.solutions, answer.result(), strict=True):
                        records[s.line] = record
            except BaseException:
                stop.set()  # the other chunks are of no use any more
                raise
            finally:
                self._fleet.disconnect()
        return cast("list[Record]", [records[s.line] for s in parsed])

    grade_async = asynchronous(grade)

    def _requests(
        self,
        solutions: Iterable[Solution],
        book: InMemoryProblems | None,
        time_limit_s: float | None,
    ) -> Iterator[GradeRequest]:
        by_problem: dict[str, list[Solution]] = {}
        for s in solutions:
            by_problem.setdefault(s.problem_id, []).append(s)
        for name, group in by_problem.items():
            problem = None
            if book is not None and (found := book.get(name)) is not None:
                size = sum(len(given) + len(expected) for given, expected in found.tests)
                problem = SentProblem(found.digest, size, partial(book.rows.__getitem__, name))
            for at in range(0, len(group), CHUNK):
                yield GradeRequest(group[at : at + CHUNK], problem, self._flags, time_limit_s)

    def _ask(self, request: GradeRequest, stop: threading.Event) -> list[dict[str, Any]]:
        """Return a chunk's records; records of status `error` when no server graded it in time."""

        def check() -> None:
            if stop.is_set():
                raise Interrupted

        def usable(endpoint: Endpoint) -> bool:
            check()  # also while all servers are down
            return True

        try:
            with waiting(check):
                return self._fleet.attempt(
                    usable,
                    lambda lease: request.ask(lease.endpoint, self._patience_s),
                    patience_s=self._patience_s,
                )
        except Interrupted:
            why = "the caller cancelled the batch"
        except Refused as error:
            raise InputError(str(error)) from None
        except SandboxError as error:
            why = str(error)
        return [
            as_json(ungraded(s, None, "error", f"not graded: {why}")) for s in request.solutions
        ]


def _check(endpoint: Endpoint) -> None:
    """Ask a server that failed whether it works again. Raises Transient or Refused."""
    endpoint.transport.get("/health")
