"""What /api/v2/execute answered, read into types. Whatever does not fit is Transient.

{language, version, compile?: stage, run: stage}
"""

from __future__ import annotations

import signal
from dataclasses import dataclass
from typing import Any, Literal, cast

from sandbox.piston.faults import Transient

StageStatus = Literal["RE", "SG", "TO", "OL", "EL"]
_STATUSES = ("RE", "SG", "TO", "OL", "EL")
# Beyond these a figure is the server's mistake, not a run's: 11 days, 10 TB.
_MS_MAX, _BYTES_MAX, _CODE_MAX = 1e9, 1e13, 1e9


@dataclass(frozen=True)
class Stage:
    """One stage of a job, as the server saw it.

    status  None: ended by itself with code 0; RE, SG, TO, OL, EL as Piston names them
    cpu_s, wall_s, memory_bytes  None when the server did not say
    """

    stdout: str
    stderr: str
    code: int | None
    signal: int | None
    status: StageStatus | None
    cpu_s: float | None
    wall_s: float | None
    memory_bytes: int | None
    message: str = ""


@dataclass(frozen=True)
class Answer:
    """A whole job: the compiler's stage when there is one, and the program's."""

    compile: Stage | None
    run: Stage
    extra: dict[str, Any]


def read_answer(value: Any) -> Answer:
    """Reads a JSON answer. XX and anything malformed raise Transient."""
    if not isinstance(value, dict):
        raise Transient(f"the answer is a JSON {type(value).__name__}, not an object")
    if "run" not in value:
        raise Transient(f"the answer has no 'run' (keys: {sorted(map(str, value))[:8]})")
    compiled = value.get("compile")
    return Answer(
        compile=None if compiled is None else read_stage(compiled, "compile"),
        run=read_stage(value["run"], "run"),
        extra={k: v for k, v in value.items() if k not in ("run", "compile")},
    )


def read_stage(value: Any, name: str) -> Stage:
    """Reads one stage; raises Transient when the sandbox itself failed (XX)."""
    if not isinstance(value, dict):
        raise Transient(f"stage {name!r} is a JSON {type(value).__name__}, not an object")
    status = value.get("status")
    message = _text(value.get("message"), name, "message")
    if status == "XX":
        raise Transient(f"the server's sandbox failed (XX): {message[:200] or 'no message'}")
    if status is not None and status not in _STATUSES:
        raise Transient(f"stage {name!r} has the unknown status {str(status)[:40]!r}")
    memory = _number(value.get("memory"), name, "memory", _BYTES_MAX)
    return Stage(
        stdout=_text(value.get("stdout"), name, "stdout"),
        stderr=_text(value.get("stderr"), name, "stderr"),
        code=_code(value.get("code"), name),
        signal=_signal(value.get("signal"), name),
        status=cast("StageStatus | None", status),
        cpu_s=_ms(value.get("cpu_time"), name, "cpu_time"),
        wall_s=_ms(value.get("wall_time"), name, "wall_time"),
        # the server multiplies isolate's KiB by 1000
        memory_bytes=None if memory is None else int(memory * 1.024),
        message=message,
    )


def _text(value: Any, stage: str, name: str) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Transient(f"{stage}.{name} is a JSON {type(value).__name__}, not a string")
    return value


def _number(value: Any, stage: str, name: str, most: float) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise Transient(f"{stage}.{name} is {str(value)[:40]!r}, not a number")
    if not 0 <= value < most:  # false for NaN, and exact for integers of any size
        raise Transient(f"{stage}.{name} is {str(value)[:40]}, which no run can have")
    return value


def _ms(value: Any, stage: str, name: str) -> float | None:
    ms = _number(value, stage, name, _MS_MAX)
    return None if ms is None else ms / 1000


def _code(value: Any, stage: str) -> int | None:
    code = _number(value, stage, "code", _CODE_MAX)
    return None if code is None else int(code)


def _signal(value: Any, stage: str) -> int | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise Transient(f"{stage}.signal is {str(value)[:40]!r}, not a name")
    try:
        return int(signal.Signals[value])
    except KeyError:
        raise Transient(f"{stage}.signal is {value[:40]!r}, which is no signal") from None
