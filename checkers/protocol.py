"""The one interface of everything that judges an output against an expected one."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from checkers.model import Check


@runtime_checkable
class Checker(Protocol):
    """Judges outputs; may be called from any thread.

    `digest` changes whenever the checker could judge differently: it is part of a
    record's key. Faults of the machine raise `sandbox.SandboxError`; faults of the
    checker come back as an unclear `Check`.
    """

    @property
    def name(self) -> str: ...

    @property
    def digest(self) -> str: ...

    def check(self, input: bytes, output: bytes, expected: bytes) -> Check: ...

    def close(self) -> None: ...
