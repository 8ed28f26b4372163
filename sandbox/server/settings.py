"""What a server is told at its start, and the limits it holds requests to."""

from __future__ import annotations

from dataclasses import dataclass

from sandbox.errors import BadRequest
from sandbox.model import MIB


@dataclass(frozen=True)
class Ceilings:
    """The most a request may ask for. Piston's names; milliseconds and bytes.

    The *_default values hold for a request that names none.
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
    files_max: int = 256


@dataclass(frozen=True)
class ServerSettings:
    """How a server is run.

    queue       requests that may wait beside those that run; more get 429
    body_bytes  the largest request
    held_bytes  all requests that are here at once; more get 429
    upload_s    how long a request may take to arrive: until then it holds a place
    token       bearer token asked of every route but /health; None: none
    grace_s     how long a shutdown waits for what runs
    judge       "module:function" that judges for the Codeforces protocol
    grading     "module:function" that opens the service behind POST /grade
    dataset     where /grade finds problems that a request names by id; None: nowhere
    """

    host: str = "127.0.0.1"
    port: int = 2000
    slots: int | None = None
    queue: int = 256
    body_bytes: int = 512 * MIB
    held_bytes: int = 2048 * MIB
    upload_s: float = 300.0
    token: str | None = None
    grace_s: float = 60.0
    judge: str = "eval.codeforces_judge:judge"
    grading: str = "eval.grade_service:open_service"
    dataset: str | None = None
    ceilings: Ceilings = Ceilings()

    def __post_init__(self) -> None:
        for name, value, least in (
            ("port", self.port, 0),
            ("queue", self.queue, 0),
            ("body_bytes", self.body_bytes, 1024),
        ):
            if value < least:
                raise BadRequest(f"{name} is {value}; it must be at least {least}")
        if self.port > 65535:
            raise BadRequest(f"port is {self.port}; it must be at most 65535")
        if self.slots is not None and self.slots < 1:
            raise BadRequest(f"slots is {self.slots}; it must be at least 1")
