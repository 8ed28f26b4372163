"""The settings of a server, the limits that requests may ask for, and what grades.

The sandbox knows neither checkers nor problems and may not import them, so the module of what
grades is loaded by its name, SERVICE. No other code imports a module by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB, Limits


@dataclass(frozen=True)
class Ceilings:
    """The largest limits a request may ask for, under Piston's names: milliseconds and bytes.

    The *_default values apply to a request that names no limit. `grade_cases` limits a request of
    POST /grade: its solutions times the tests of its problems times `repeat`; `grade_stored_size`
    that times `max_stored_output`.
    """

    run_timeout: int = 300_000
    run_cpu_time: int = 120_000
    compile_timeout: int = 180_000
    compile_cpu_time: int = 120_000
    run_memory_limit: int = 4096 * MIB
    compile_memory_limit: int = 4096 * MIB
    run_timeout_default: int = 30_000
    run_cpu_time_default: int = 10_000
    run_memory_default: int = 512 * MIB
    output_max_size: int = 64 * MIB
    compile_output_max_size: int = 256 * MIB
    max_process_count: int = 256
    max_open_files: int = 2048
    max_file_size: int = 256 * MIB
    max_disk_size: int = 512 * MIB
    files_max: int = 256
    args_max: int = 1024
    grade_cases: int = 100_000
    grade_stored_size: int = 512 * MIB

    def run_limits(self) -> Limits:
        """Return the ceiling of each limit of a run."""
        return Limits(
            cpu_s=self.run_cpu_time / 1000,
            wall_s=self.run_timeout / 1000,
            memory_bytes=self.run_memory_limit,
            output_bytes=self.output_max_size,
            stderr_bytes=self.output_max_size,
            processes=self.max_process_count,
            open_files=self.max_open_files,
            file_size_bytes=self.max_file_size,
            disk_bytes=self.max_disk_size,
        )

    def compile_limits(self) -> Limits:
        """Return the ceiling of each limit of a compilation."""
        return replace(
            self.run_limits(),
            cpu_s=self.compile_cpu_time / 1000,
            wall_s=self.compile_timeout / 1000,
            memory_bytes=self.compile_memory_limit,
            output_bytes=self.compile_output_max_size,
            stderr_bytes=self.compile_output_max_size,
        )


def capped(limits: Limits, most: Limits) -> Limits:
    """Return `limits`, none of them above its ceiling."""
    return Limits(**{name: min(value, getattr(most, name)) for name, value in vars(limits).items()})


def check_limits(limits: Limits, most: Limits) -> None:
    """Raise BadRequest for a limit above its ceiling, or below 0."""
    for name, value in vars(limits).items():
        if not 0 <= value <= getattr(most, name):  # also for NaN
            raise BadRequest(
                f"limit {name} of {value} cannot exceed the configured limit of "
                f"{getattr(most, name)}, and is at least 0"
            )


@dataclass(frozen=True)
class ServerSettings:
    """How a server runs.

    slots       programs running at once; None: one for each core
    drivers     processes that answer the routes that grade, 1: the server's own; 0: one for each
                8 slots
    queue       requests that may wait; further ones get 429
    body_bytes  the largest request
    held_bytes  the bodies of all admitted requests together; further ones get 429
    upload_s    how long a request may take to arrive, since it holds a place meanwhile, and how
                long an answer may take to be read
    head_s      how long a new connection may take to send the head of its request
    token       bearer token of every route but /health; None: no token is required
    allowed_hosts  names of this server that requests without a token may have as Host, beside
                addresses and the loopback names
    grace_s     how long a shutdown waits for admitted requests
    dataset     problems that requests to /grade may name by id
    """

    host: str = "127.0.0.1"
    port: int = 2000
    slots: int | None = None
    drivers: int = 0
    queue: int = 256
    body_bytes: int = 512 * MIB
    held_bytes: int = 2048 * MIB
    upload_s: float = 300.0
    head_s: float = 20.0
    token: str | None = None
    allowed_hosts: frozenset[str] = frozenset()
    grace_s: float = 60.0
    dataset: str | None = None
    ceilings: Ceilings = Ceilings()

    def __post_init__(self) -> None:
        for name, least in (
            ("port", 0),
            ("queue", 0),
            ("body_bytes", 1024),
            ("slots", 1),
            ("drivers", 0),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise BadRequest(f"{name} is {value}; it must be at least {least}")
        if self.port > 65535:
            raise BadRequest(f"port is {self.port}; it must be at most 65535")


# ---- the service that grades ----

SERVICE = "gradebox.eval.api.service"  # its `open_service(sandbox, settings)` returns a Grading


@dataclass(frozen=True)
class ServerRequest:
    """A request that the server has admitted, read and decoded.

    parameters  of its address, by name: `{name}` in the path, and the query
    body        its JSON values; None for a GET or DELETE, which has no place among the requests
    cancelled   whether the client has gone
    """

    parameters: Mapping[str, str]
    body: Any = None
    cancelled: Cancellation = field(default_factory=Cancellation)


# A status and JSON values. The whole, or an element of a list, may be bytes: JSON already.
Answer = tuple[int, Any]
Route = Callable[[ServerRequest], Answer]  # in a thread; raises BadRequest, RequestRefused
Routes = Mapping[tuple[str, str], Route]  # by method and path


def telling(fact: Any) -> Route:
    """Return a route whose answer is always the same."""
    return lambda asked: (200, fact)


@dataclass(frozen=True)
class Judgement:
    """The outcome of one output; `by` names what decided it."""

    outcome: Literal["accepted", "rejected", "unclear"]
    by: Literal["checker", "diff"]
    message: str = ""


class Grading(Protocol):
    """What grades over the server's sandbox, which it does not close. Many threads call it."""

    @property
    def routes(self) -> Routes:
        """POST /grade and other routes; the server admits, reads and decodes their requests."""
        ...

    def judge(self, input: bytes, output: bytes, expected: bytes, checker: str | None) -> Judgement:
        """Judge one output of the Codeforces protocol after the run. Raises SandboxError.

        checker  the source of a checker, if there is one
        """
        ...

    def close(self) -> None: ...
