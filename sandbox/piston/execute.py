"""A request to POST /api/v2/execute, its limits, and the run stage of its answer {compile?, run}.

    Limits of the run + ServerLimits ──plan_limits──▶ SentLimits

An answer is hostile until it is read: whatever does not have the documented form raises Transient.
"""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from gradebox.sandbox.errors import Refused, Transient
from gradebox.sandbox.model import MIB, Limits
from gradebox.sandbox.piston.transport import ANSWER_BYTES_MAX, Transport

ROUTE = "/api/v2/execute"
QUEUE_S = 150.0  # a request may spend this long in the server's queue and compile stage
StageStatus = Literal["RE", "SG", "TO", "OL", "EL"]


@dataclass(frozen=True)
class SentFile:
    """One file of a request. A `source` is sent as utf8, so that the server compiles or runs it."""

    name: str
    content: bytes
    source: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return the file as a JSON object, whose bytes msgspec writes as base64."""
        if self.source:
            return {"name": self.name, "content": self.content.decode()}
        return {"name": self.name, "encoding": "base64", "content": self.content}


_Figure = Annotated[float, Meta(ge=0, lt=1e9)] | None  # in ms, under 12 days
_Memory = Annotated[int, Meta(ge=0, lt=10**12)] | None  # a larger figure is the server's mistake


class Stage(msgspec.Struct, frozen=True):
    """One stage of a job, as the server reported it.

    signal  its number
    status  None: exited with code 0; RE, SG, TO, OL, EL as Piston names them
    cpu_s, wall_s, memory_bytes  None when the server did not report them
    """

    stdout: str = ""
    stderr: str = ""
    code: int | None = None
    signal: int | None = None
    status: StageStatus | None = None
    cpu_s: _Figure = msgspec.field(default=None, name="cpu_time")
    wall_s: _Figure = msgspec.field(default=None, name="wall_time")
    memory_bytes: _Memory = msgspec.field(default=None, name="memory")


def encode(language: str, files: Sequence[SentFile], fields: Mapping[str, Any]) -> bytes:
    """Return the body of a request for any version of a runtime."""
    sent = [file.as_json() for file in files]
    return msgspec.json.encode({"language": language, "version": "*", **fields, "files": sent})


def execute(
    transport: Transport,
    language: str,
    files: Sequence[SentFile],
    fields: Mapping[str, Any],
    *,
    timeout_s: float = 60.0,
    answer_max: int = ANSWER_BYTES_MAX,
    refused_bytes: int | None = None,
) -> Stage:
    """Send a job and return its run.

    timeout_s      until the answer begins: the server's queue, compiling and the run
    answer_max     bytes of the answer that are read at most
    refused_bytes  raise Refused for a body of this size without sending it
    """
    body = encode(language, files, fields)
    if refused_bytes is not None and len(body) >= refused_bytes:
        raise Refused(
            f"{transport.base_url}: this run needs a request of {len(body)} bytes and the server "
            f"refuses {refused_bytes}; raise its body limit (docs/piston.md, 'The request body')",
            "body",
        )
    return read_answer(transport.post(ROUTE, body, timeout_s, answer_max))


def read_answer(value: Any) -> Stage:
    """Return the run stage of a JSON answer; raise Transient for status XX and what is malformed.

    XX: the server's own sandbox failed. The launcher compiles, so the compile stage says nothing.
    """
    if not isinstance(value, dict):
        raise Transient(f"the answer is a JSON {type(value).__name__}, not an object")
    stage = value.get("run")
    if not isinstance(stage, dict):
        raise Transient(f"the answer has no 'run' (keys: {sorted(map(str, value))[:8]})")
    if stage.get("status") == "XX":
        message = str(stage.get("message"))[:200]
        raise Transient(f"the server's sandbox failed (XX): {message!r}")
    given = {name: field for name, field in stage.items() if field is not None}
    try:
        if name := str(given.pop("signal", "")):
            given["signal"] = int(signal.Signals[name])
        found = msgspec.convert(given, Stage)
    except (msgspec.ValidationError, KeyError) as error:
        raise Transient(f"the answer's 'run' is not a stage: {str(error)[:200]}") from None
    return msgspec.structs.replace(
        found,
        cpu_s=found.cpu_s and found.cpu_s / 1000,
        wall_s=found.wall_s and found.wall_s / 1000,
        memory_bytes=found.memory_bytes and int(found.memory_bytes * 1.024),  # KiB of 1000 bytes
    )


# ---- the limits a server allows, and those that a run's request carries ----

COMPILE_LIMITS = Limits(
    cpu_s=30, wall_s=60, memory_bytes=2048 * MIB, output_bytes=256 * MIB, processes=64
)

# The environment variable of a Piston server that sets each limit.
SETTING = {
    "run_timeout": "PISTON_RUN_TIMEOUT",
    "run_cpu_time": "PISTON_RUN_CPU_TIME",
    "run_memory_limit": "PISTON_RUN_MEMORY_LIMIT",
    "output": "PISTON_OUTPUT_MAX_SIZE",
}


def limit_too_small(name: str, actual: str, needed: str) -> Refused:
    """Return the error of a run that needs more than a server's limit, a key of SETTING."""
    return Refused(
        f"the Piston server's {SETTING[name]} ({actual}) is too small for this run, "
        f"which needs {needed}: raise it (piston.env) and restart the server",
        limit=name,
    )


# Memory and CPU time of the launcher, its interpreter, its starter and the server's shells.
# Measured: 0.022 s in the package python, 0.041 s in codeforces; Node and Ruby take 0.06 s more.
LAUNCHER_BYTES = 24 * MIB
LAUNCHER_CPU_S = 0.1
# The server's wall clock also runs while the program waits for a core.
WALL_FACTOR, WALL_EXTRA_S = 2.0, 10.0


@dataclass(frozen=True)
class ServerLimits:
    """What a server was found to allow; None means that no limit was found.

    run_ms, cpu_ms   wall and CPU time of a run, in milliseconds
    memory_units     memory of a run in the server's bytes (it counts a KiB as 1000)
    output_chars     characters of stdout that are known to come through
    body_bytes       a request of this size was refused
    advice           lines for people: settings to raise
    """

    run_ms: int | None = None
    cpu_ms: int | None = None
    memory_units: int | None = None
    output_chars: int | None = None
    body_bytes: int | None = None
    advice: tuple[str, ...] = ()


@dataclass(frozen=True)
class SentLimits:
    """The limits of one request.

    fields       as Piston names them
    cpu_s, wall_s, memory_bytes  the same, in our units: what the server enforces
    allowance_s, launcher_bytes  CPU time and memory granted to the launcher
    short        names of fields that the server caps below what this run needs
    """

    fields: dict[str, int]
    cpu_s: float
    wall_s: float
    memory_bytes: int
    allowance_s: float
    launcher_bytes: int = LAUNCHER_BYTES
    short: tuple[str, ...] = ()


def carrying_s(count: int) -> float:
    """Return the CPU seconds that the launcher may use for carrying bytes: 10 ns for each."""
    return count * 1e-8


def plan_limits(
    limits: Limits, server: ServerLimits, carried_bytes: int, starter_bytes: int = 0
) -> SentLimits:
    """Return the limits to send: those of the run plus the launcher's, capped by the server's.

    starter_bytes  memory of what waits beside the launcher

    Every limit is over 0: Piston takes 0 for unlimited and refuses -1.
    """
    allowance_s = LAUNCHER_CPU_S + carrying_s(carried_bytes)
    launcher_bytes = LAUNCHER_BYTES + starter_bytes
    wanted = {
        "run_timeout": math.ceil((limits.wall_s * WALL_FACTOR + WALL_EXTRA_S) * 1000),
        "run_cpu_time": math.ceil((limits.cpu_s + allowance_s) * 1000),
        "run_memory_limit": math.ceil((limits.memory_bytes + launcher_bytes) / 1024) * 1000,
    }
    caps = (server.run_ms, server.cpu_ms, server.memory_units)
    fields = {
        name: value if cap is None else min(value, cap)
        for (name, value), cap in zip(wanted.items(), caps, strict=True)
    }
    return SentLimits(
        fields=fields,
        cpu_s=fields["run_cpu_time"] / 1000,
        wall_s=fields["run_timeout"] / 1000,
        memory_bytes=fields["run_memory_limit"] * 1024 // 1000,
        allowance_s=allowance_s,
        launcher_bytes=launcher_bytes,
        short=tuple(name for name, value in fields.items() if value < wanted[name]),
    )
