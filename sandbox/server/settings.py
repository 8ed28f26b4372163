"""The settings of a server, and the limits that requests may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB


@dataclass(frozen=True)
class Ceilings:
    """The largest limits a request may ask for, under Piston's names: milliseconds and bytes.

    The *_default values apply to a request that names no limit.
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
    """How a server runs.

    slots       programs running at once; None: one for each core
    queue       requests that may wait; further ones get 429
    body_bytes  the largest request
    held_bytes  the bodies of all admitted requests together; further ones get 429
    upload_s    how long a request may take to arrive, since it holds a place meanwhile
    token       bearer token of every route but /health; None: no token is required
    grace_s     how long a shutdown waits for admitted requests
    judge       "module:function" that judges for the Codeforces protocol
    grading     "module:function" that opens the service behind POST /grade
    dataset     problems that requests to /grade may name by id
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
    judge: str = "gradebox.eval.api.codeforces_judge:judge"
    grading: str = "gradebox.eval.api.service:open_service"
    dataset: str | None = None
    ceilings: Ceilings = Ceilings()

    def __post_init__(self) -> None:
        for name, least in (("port", 0), ("queue", 0), ("body_bytes", 1024), ("slots", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise BadRequest(f"{name} is {value}; it must be at least {least}")
        if self.port > 65535:
            raise BadRequest(f"port is {self.port}; it must be at most 65535")
