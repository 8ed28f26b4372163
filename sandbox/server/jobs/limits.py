"""The limits of a request, with Piston's names and error messages."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import MIB, Limits
from gradebox.sandbox.server.settings import Ceilings, capped, check_limits


def check_text(text: str, name: str) -> None:
    """Refuse half a surrogate pair, which JSON allows and UTF-8 cannot encode."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise BadRequest(f"{name} is not text: {error}") from error


def is_number(value: Any) -> bool:
    """Return whether a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def check_ceilings(body: Mapping[str, Any], ceilings: Ceilings) -> None:
    """Raise BadRequest, as Piston does, for a limit that is no number or over the server's."""
    for constraint in ("memory_limit", "timeout", "cpu_time"):
        for stage in ("compile", "run"):
            name = f"{stage}_{constraint}"
            value, most = body.get(name), getattr(ceilings, name)
            if not value:
                continue
            if not is_number(value):
                raise BadRequest(f"If specified, {name} must be a number")
            if value < 0 and constraint == "memory_limit":
                continue  # Piston's own readme sends -1: it names no limit
            if not value <= most:
                raise BadRequest(f"{name} cannot exceed the configured limit of {most}")
            if value < 0:
                raise BadRequest(f"{name} must be non-negative")


def _memory(body: Mapping[str, Any], stage: str, default: int) -> int:
    """Return the memory limit of a stage in bytes; a negative one counts as missing."""
    value = body.get(f"{stage}_memory_limit") or 0
    return int(value) if value > 0 else default


def run_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    """Return the limits of the run; a field that is missing has the server's default."""
    wanted = Limits(
        cpu_s=(body.get("run_cpu_time") or ceilings.run_cpu_time_default) / 1000,
        wall_s=(body.get("run_timeout") or ceilings.run_timeout_default) / 1000,
        memory_bytes=_memory(body, "run", ceilings.run_memory_default),
        output_bytes=ceilings.output_max_size,
        stderr_bytes=ceilings.output_max_size,
    )
    return capped(wanted, ceilings.run_limits())


def sharing_output(limits: Limits, collected: int) -> Limits:
    """Return limits under which collected files together are no larger than the output may be.

    Files with holes cost a program nothing, and an answer their whole size.
    """
    if collected < 2:
        return limits
    return dataclasses.replace(limits, output_bytes=limits.output_bytes // collected)


def compile_limits(body: Mapping[str, Any], ceilings: Ceilings) -> Limits:
    """Return the limits of the compiler; a field that is missing has the server's default."""
    wanted = Limits(
        cpu_s=(body.get("compile_cpu_time") or ceilings.compile_cpu_time) / 1000,
        wall_s=(body.get("compile_timeout") or ceilings.compile_timeout) / 1000,
        memory_bytes=_memory(body, "compile", ceilings.compile_memory_limit // 2),
        output_bytes=256 * MIB,
        file_size_bytes=256 * MIB,
        disk_bytes=512 * MIB,
    )
    return capped(wanted, ceilings.compile_limits())


def gradebox_limits(value: Any, most: Limits, default: Limits) -> Limits:
    """Return the limits of gradebox's own client; a field that is missing has its default.

    most  the ceiling of each limit
    """
    if value is None:
        return default
    types = {f.name: f.type for f in dataclasses.fields(Limits)}
    if not isinstance(value, dict) or not set(value) <= set(types):
        raise BadRequest(f"limits must be an object with fields of {sorted(types)}")
    for name, number in value.items():
        if not is_number(number) or not 0 <= number < 1e300:  # false for NaN, exact for integers
            raise BadRequest(
                f"limit {name} is {str(number)[:40]}; it must be a non-negative number"
            )
        if types[name] == "int" and number != int(number):
            raise BadRequest(f"limit {name} is {number}; it must be a whole number")
    limits = dataclasses.replace(default, **value)
    check_limits(limits, most)
    return limits
