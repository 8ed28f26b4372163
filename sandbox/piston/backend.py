"""What the client asks of each kind of server: a stock Piston and gradebox.sandbox.server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from gradebox.sandbox.languages import Language
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from gradebox.sandbox.piston.fleet import Endpoint, Lease

COMPILE_LIMITS = Limits(
    cpu_s=30, wall_s=60, memory_bytes=2048 * MIB, output_bytes=256 * MIB, processes=64
)


@dataclass(frozen=True)
class RunRequest:
    """One run as the caller asked for it; the fields are those of Sandbox.run."""

    compiled: Compiled
    limits: Limits
    stdin: bytes = b""
    args: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()


class Backend(Protocol):
    """Compiles and runs on endpoints of one kind; raises the faults of faults.py."""

    def can_run(self, endpoint: Endpoint, row: Language) -> bool: ...

    def toolchain(self, endpoint: Endpoint, row: Language) -> str:
        """Return the name and version of what runs a language, for records."""
        ...

    def prepare(self, endpoint: Endpoint) -> None:
        """Find out what the endpoint allows, at its first use."""
        ...

    def compile(self, endpoint: Endpoint, program: Program, limits: Limits) -> Compiled: ...

    def run(self, lease: Lease, request: RunRequest) -> Execution: ...
