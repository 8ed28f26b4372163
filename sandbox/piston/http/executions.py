"""An Execution as JSON, and back. What is read is hostile until it was checked."""

from __future__ import annotations

import base64
import binascii
import math
from typing import Any, get_args

from gradebox.sandbox.model import Execution, LimitName
from gradebox.sandbox.piston.faults import Transient

_LIMIT_NAMES: frozenset[str] = frozenset(get_args(LimitName))
_FLAGS = ("stdout_cut", "stderr_cut", "contended", "forked")


def write_execution(execution: Execution) -> dict[str, Any]:
    """Return an Execution as JSON, bytes in base64."""
    return {
        **vars(execution),
        "limits_hit": sorted(execution.limits_hit),
        "stdout": base64.b64encode(execution.stdout).decode(),
        "stderr": base64.b64encode(execution.stderr).decode(),
        "files": {n: base64.b64encode(c).decode() for n, c in execution.files.items()},
    }


def read_execution(value: Any) -> Execution:
    """Read what `write_execution` wrote; raise Transient for what no run can have."""
    fields = as_object(value, "evidence")
    known = {name: v for name, v in fields.items() if name in Execution.__dataclass_fields__}
    try:
        known |= {
            "stdout": as_bytes(fields["stdout"], "stdout"),
            "stderr": as_bytes(fields["stderr"], "stderr"),
            "files": {
                n: as_bytes(c, "file") for n, c in as_object(fields["files"], "files").items()
            },
            "limits_hit": _LIMIT_NAMES & {str(n) for n in fields["limits_hit"]},
        }
        execution = Execution(**known)
    except (KeyError, TypeError) as error:
        raise Transient(f"the server's evidence lacks or mistypes a field: {error}") from error
    numbers = (execution.cpu_s, execution.wall_s, execution.stdout_bytes)
    ends = (execution.exit_code, execution.signal, execution.memory_bytes)
    if (
        not all(type(n) in (int, float) and 0 <= n < math.inf for n in numbers)
        or not all(e is None or type(e) is int for e in ends)
        or not all(type(getattr(execution, name)) is bool for name in _FLAGS)
    ):
        raise Transient("the server's evidence has a figure that no run can have")
    killed_for: Any = execution.killed_for
    if killed_for is not None and not (isinstance(killed_for, str) and killed_for in _LIMIT_NAMES):
        raise Transient(f"the server's evidence names an unknown limit: {killed_for!r:.60}")
    return execution


def as_object(value: Any, name: str) -> dict[str, Any]:
    """Return a JSON object; raise Transient for any other value."""
    if not isinstance(value, dict):
        raise Transient(f"{name} is a JSON {type(value).__name__}, not an object")
    return value


def as_bytes(value: Any, name: str) -> bytes:
    """Return the bytes of base64, none for null; raise Transient for any other value."""
    if value is None:
        return b""
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise Transient(f"{name} is not base64: {error}") from error
