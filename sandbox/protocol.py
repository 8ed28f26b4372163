"""The interface of a sandbox. Its backends, `sandbox/box` and `sandbox/piston`, pass the same tests
(`tests/sandbox/test_conformance.py`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence, Sized
from types import TracebackType
from typing import Literal, Protocol, runtime_checkable

from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.model import (
    MIB,
    Compiled,
    Description,
    Execution,
    Interaction,
    Limits,
    Program,
)

Capability = Literal["interact", "collect", "alone", "processes", "batch", "grade"]


@runtime_checkable
class Sandbox(Protocol):
    """Runs untrusted programs. Every method may be called from any thread.

    Faults of the machine raise `SandboxError`, impossible requests `BadRequest`. Whatever the
    program does is reported in an `Execution`.
    """

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The optional parts of this interface that the backend has."""
        ...

    @property
    def slots(self) -> int:
        """The number of programs that run at once; further calls wait."""
        ...

    def compile(
        self, program: Program, limits: Limits | None = None, *, interpreted: bool = True
    ) -> Compiled:
        """Compile a program; a program that was compiled before comes from a cache.

        limits       of the compiler; None: the backend's defaults
        interpreted  let an interpreter compile too, where it can do so without running the
                     program (Python); otherwise such a program is only known when it runs

        Return a Compiled with ok False when the compiler rejects the program.
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
        """Run a program from a clean state.

        files     are put into the working folder before the start
        collect   names of files in the working folder to return in Execution.files; a sandbox with
                  capability "interact" takes FOLDER for all of them
        alone     run while no other program of this sandbox runs
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
    ) -> Interaction:
        """Run two programs; the stdout of each is the stdin of the other."""
        ...

    def describe(self) -> Description:
        """Return the properties that results depend on; cheap after the first call."""
        ...

    def close(self) -> None:
        """End all its processes; a second call has no effect."""
        ...

    def __enter__(self) -> Sandbox: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class BatchSandbox(Sandbox, Protocol):
    """A sandbox with capability "batch"."""

    def run_many(
        self, compiled: Compiled, limits: Sequence[Limits], stdins: Sequence[bytes]
    ) -> Generator[list[Execution], None, None]:
        """Run a program once for each input, each time from a clean state.

        Yield the executions in the order of the inputs, in groups as they become known: one at
        least in all. A run that crashed or met a limit may be the last one. Closing the generator
        ends what is running and cancels the rest. A SandboxError is about the first run that was
        not yielded.

        A slot is in use until the generator has ended: a caller that runs something else (a
        checker) ends it before.
        """
        ...


def can_talk(sandbox: Sandbox) -> bool:
    """Return whether solutions can talk with an interactor: here, or where they are graded."""
    return not sandbox.capabilities.isdisjoint(("interact", "grade"))


def lent_cores(sandbox: Sandbox) -> int:
    """Return how many running programs sleep: as many more can run on their cores meanwhile."""
    return int(getattr(sandbox, "lent", 0))


# ---- the rules of a batch of runs ----

MOST_BYTES = MIB  # of the inputs of one request; a single one may be larger


def check_counts(limits: Sized, stdins: Sized) -> None:
    """Raise BadRequest unless there is at least one run, and limits for each."""
    if len(limits) != len(stdins) or not len(stdins):
        raise BadRequest(
            f"{len(limits)} limits for {len(stdins)} inputs: one for each, at least one"
        )


def count_within(sizes: Iterable[int], most: int = MOST_BYTES) -> int:
    """Return how many inputs of these sizes one request has: `most` bytes, but at least one."""
    total = count = 0
    for size in sizes:
        total += size
        if count and total > most:
            break
        count += 1
    return count


def goes_on_after(execution: Execution) -> bool:
    """Return whether the runs after this one are run: it did not crash and met no limit."""
    return execution.exit_code == 0 and not execution.limits_hit and not execution.killed_for
