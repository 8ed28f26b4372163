"""A request to POST /api/v2/execute, and the run stage of its answer {compile?, run}.

An answer is hostile until it is read: whatever does not have the documented form raises Transient.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

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
        memory_bytes=found.memory_bytes and int(found.memory_bytes * 1.024),  # a KiB is 1000 there
    )
