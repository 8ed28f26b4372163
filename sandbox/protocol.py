"""The one interface of a sandbox. Two backends have it: `sandbox.box` and `sandbox.piston`.

Both pass `tests/sandbox/test_conformance.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Literal, Protocol, runtime_checkable

from sandbox.model import Compiled, Description, Execution, Interaction, Limits, Program

Capability = Literal["interact", "collect", "alone", "processes"]


@runtime_checkable
class Sandbox(Protocol):
    """Runs untrusted programs. Every method may be called from any thread.

    Faults of the machine raise `SandboxError`, impossible requests `BadRequest`;
    whatever the program does comes back as evidence in an `Execution`.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What of this interface the backend really has."""
        ...

    @property
    def slots(self) -> int:
        """How many programs it runs at once; more calls than that wait."""
        ...

    def compile(self, program: Program, limits: Limits | None = None) -> Compiled:
        """Makes `program` ready to run, once; the same program again comes from a cache.

        A compiler's refusal is a Compiled with ok False, not an exception.
        `limits` are the compiler's own (the backend's defaults when None).
        """
        ...

    def run(
        self,
        compiled: Compiled,
        limits: Limits,
        *,
        stdin: bytes = b"",
        args: Sequence[str] = (),
        files: Mapping[str, bytes] | None = None,
        collect: Sequence[str] = (),
        alone: bool = False,
    ) -> Execution:
        """Runs it from a clean state.

        files     put into the working folder before the start
        collect   files of the working folder to hand back in Execution.files
        alone     wait until nothing else of this sandbox runs, and keep others out
        """
        ...

    def interact(
        self,
        first: Compiled,
        second: Compiled,
        first_limits: Limits,
        second_limits: Limits,
        *,
        second_args: Sequence[str] = (),
        second_files: Mapping[str, bytes] | None = None,
        second_collect: Sequence[str] = (),
        transcript_bytes: int = 65536,
    ) -> Interaction:
        """Runs two programs, each one's stdout being the other's stdin."""
        ...

    def describe(self) -> Description:
        """What results depend on; cheap after the first call."""
        ...

    def close(self) -> None:
        """Ends every process of it. Calling it twice is harmless."""
        ...

    def __enter__(self) -> Sandbox: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
