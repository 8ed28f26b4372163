"""A request to POST /api/v2/execute, and its answer: {compile?: stage, run: stage}.

An answer is hostile until it is read: whatever does not have the documented form raises Transient.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from gradebox.sandbox.errors import Refused, Transient
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


_Figure = Annotated[float, Meta(ge=0, lt=1e9)] | None  # in ms: 11 days
_Memory = Annotated[float, Meta(ge=0, lt=1e12)] | None  # a larger figure is the server's mistake


class _Reported(msgspec.Struct):
    """A stage as it is sent."""

    stdout: str | None = None
    stderr: str | None = None
    code: _Figure = None
    signal: str | None = None
    status: StageStatus | None = None
    cpu_time: _Figure = None
    wall_time: _Figure = None
    memory: _Memory = None


@dataclass(frozen=True)
class Stage:
    """One stage of a job, as the server reported it.

    status  None: exited with code 0; RE, SG, TO, OL, EL as Piston names them
    cpu_s, wall_s, memory_bytes  None when the server did not report them
    """

    stdout: str
    stderr: str
    code: int | None
    signal: int | None
    status: StageStatus | None
    cpu_s: float | None
    wall_s: float | None
    memory_bytes: int | None


class Answer(NamedTuple):
    """The stages of a job; `compile` is None where the package compiles nothing."""

    compile: Stage | None
    run: Stage


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
) -> Answer:
    """Send a job and return its stages.

    timeout_s      for the answer to begin: the server's queue, compiling and the run
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


def read_answer(value: Any) -> Answer:
    """Read a JSON answer; raise Transient for status XX and for anything malformed."""
    if not isinstance(value, dict):
        raise Transient(f"the answer is a JSON {type(value).__name__}, not an object")
    if "run" not in value:
        raise Transient(f"the answer has no 'run' (keys: {sorted(map(str, value))[:8]})")
    compiled = value.get("compile")
    return Answer(
        compile=None if compiled is None else read_stage(compiled, "compile"),
        run=read_stage(value["run"], "run"),
    )


def read_stage(value: Any, name: str) -> Stage:
    """Read one stage; raise Transient when the server's own sandbox failed (XX)."""
    if isinstance(value, dict) and value.get("status") == "XX":
        message = str(value.get("message"))[:200]
        raise Transient(f"the server's sandbox failed (XX): {message!r}")
    try:
        given = msgspec.convert(value, _Reported)
        number = int(signal.Signals[given.signal]) if given.signal else None
    except (msgspec.ValidationError, KeyError) as error:
        raise Transient(f"stage {name!r} is not one: {str(error)[:200]}") from None
    return Stage(
        stdout=given.stdout or "",
        stderr=given.stderr or "",
        code=None if given.code is None else int(given.code),
        signal=number,
        status=given.status,
        cpu_s=None if given.cpu_time is None else given.cpu_time / 1000,
        wall_s=None if given.wall_time is None else given.wall_time / 1000,
        # the server multiplies isolate's KiB by 1000
        memory_bytes=None if given.memory is None else int(given.memory * 1.024),
    )
