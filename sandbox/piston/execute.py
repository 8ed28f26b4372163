"""A request to POST /api/v2/execute, and its answer: {compile?: stage, run: stage}.

An answer is hostile until it is read: whatever does not have the documented form raises Transient.
"""

from __future__ import annotations

import base64
import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, cast, get_args

from gradebox.sandbox.errors import Refused, Transient
from gradebox.sandbox.piston.transport import ANSWER_BYTES_MAX, Transport

ROUTE = "/api/v2/execute"
QUEUE_S = 150.0  # a request may spend this long in the server's queue and compile stage
StageStatus = Literal["RE", "SG", "TO", "OL", "EL"]
# A larger figure is the server's mistake: 11 days, 1 TB, and twice the memory that a run may use.
_MS_MAX, _BYTES_MAX, _CODE_MAX = 1e9, 1e12, 1e9


@dataclass(frozen=True)
class SentFile:
    """One file of a request. A `source` is sent as utf8, so that the server compiles or runs it."""

    name: str
    content: bytes
    source: bool = False

    def as_json(self) -> bytes:
        """Return the file as a JSON object."""
        if self.source:
            return _json({"name": self.name, "content": self.content.decode()})
        head = _json({"name": self.name, "encoding": "base64"})[:-1]
        # base64 needs no escapes, and json takes 20 times as long to find that out
        return b"".join((head, b',"content":"', base64.b64encode(self.content), b'"}'))


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
    head = _json({"language": language, "version": "*", **fields})[:-1]
    return b"".join((head, b',"files":[', b",".join(f.as_json() for f in files), b"]}"))


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


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
    memory_max = min(2 * fields.get("run_memory_limit", _BYTES_MAX), _BYTES_MAX)
    return read_answer(transport.post(ROUTE, body, timeout_s, answer_max), memory_max)


def read_answer(value: Any, memory_max: float = _BYTES_MAX) -> Answer:
    """Read a JSON answer; raise Transient for status XX and for anything malformed.

    memory_max  of the server's bytes that a stage can have used
    """
    if not isinstance(value, dict):
        raise Transient(f"the answer is a JSON {type(value).__name__}, not an object")
    if "run" not in value:
        raise Transient(f"the answer has no 'run' (keys: {sorted(map(str, value))[:8]})")
    compiled = value.get("compile")
    return Answer(
        compile=None if compiled is None else read_stage(compiled, "compile"),
        run=read_stage(value["run"], "run", memory_max),
    )


def read_stage(value: Any, name: str, memory_max: float = _BYTES_MAX) -> Stage:
    """Read one stage; raise Transient when the server's own sandbox failed (XX)."""
    if not isinstance(value, dict):
        raise Transient(f"stage {name!r} is a JSON {type(value).__name__}, not an object")
    status = value.get("status")
    if status == "XX":
        message = str(value.get("message"))[:200]
        raise Transient(f"the server's sandbox failed (XX): {message!r}")
    if status is not None and status not in get_args(StageStatus):
        raise Transient(f"stage {name!r} has the unknown status {str(status)[:40]!r}")
    code = _number(value, name, "code", _CODE_MAX)
    cpu_ms = _number(value, name, "cpu_time", _MS_MAX)
    wall_ms = _number(value, name, "wall_time", _MS_MAX)
    memory = _number(value, name, "memory", memory_max)
    return Stage(
        stdout=_text(value, name, "stdout"),
        stderr=_text(value, name, "stderr"),
        code=None if code is None else int(code),
        signal=_signal(_text(value, name, "signal"), name),
        status=cast("StageStatus | None", status),
        cpu_s=None if cpu_ms is None else cpu_ms / 1000,
        wall_s=None if wall_ms is None else wall_ms / 1000,
        # the server multiplies isolate's KiB by 1000
        memory_bytes=None if memory is None else int(memory * 1.024),
    )


def _text(stage: Mapping[str, Any], name: str, field: str) -> str:
    value = stage.get(field)
    if value is not None and not isinstance(value, str):
        raise Transient(
            f"malformed answer: {name}.{field} is a {type(value).__name__}, not a string"
        )
    return value or ""


def _number(stage: Mapping[str, Any], name: str, field: str, most: float) -> float | None:
    value = stage.get(field)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Transient(f"{name}.{field} is {str(value)[:40]!r}, not a number")
    if not 0 <= value < most:  # false for NaN, and exact for integers of any size
        raise Transient(f"{name}.{field} is {str(value)[:40]}, which no run can have")
    return value


def _signal(text: str, name: str) -> int | None:
    if not text:
        return None
    try:
        return int(signal.Signals[text])
    except KeyError:
        raise Transient(f"{name}.signal is {text[:40]!r}, which is no signal's name") from None
