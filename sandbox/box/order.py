"""One run as it is handed to a box: descriptors prepared before a core is taken."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType

from sandbox.box import wire
from sandbox.box.artifact import Artifact
from sandbox.box.blob import memory_file
from sandbox.box.process import BoxProcess
from sandbox.model import Limits


def pack(
    limits: Limits,
    argv: Sequence[str],
    files: Sequence[str] = (),
    collect: Sequence[str] = (),
    stdin: bytes = b"",
    flags: int = 0,
) -> bytes:
    """The request of a run, for the wire."""
    sizes = (
        int(limits.cpu_s * 1e9),
        int(limits.wall_s * 1e9),
        limits.memory_bytes,
        limits.output_bytes,
        limits.file_size_bytes,
        limits.disk_bytes,
    )
    counts = (min(limits.stderr_bytes, wire.ERR_CAP), limits.processes, limits.open_files)
    return wire.pack_request(wire.OP_RUN, flags, sizes, counts, 0, argv, files, collect, stdin)


def patience_s(limits: Limits) -> float:
    """Seconds after which a silent box counts as broken; generous, a starved one is slow."""
    return 60.0 + 20.0 * limits.wall_s


@dataclass
class Order:
    """A program and what it is given. Use as a context manager: inside, its contents lie in
    memory files that any box can be handed.

    flags   wire flags beside those that follow from the contents
    """

    artifact: Artifact
    limits: Limits
    stdin: bytes = b""
    args: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()
    flags: int = 0
    _own: list[int] = field(default_factory=list)

    def __enter__(self) -> Order:
        try:
            if len(self.stdin) > wire.INLINE_STDIN:
                self._own.append(memory_file(self.stdin))
            for data in self.files.values():
                self._own.append(memory_file(data))
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._close()

    def _close(self) -> None:
        for fd in self._own:
            os.close(fd)
        self._own = []

    def carry_out(self, box: BoxProcess) -> tuple[wire.Reply, list[int]]:
        """Runs it in a box; may be asked again of another box when that one died."""
        by_fd = len(self.stdin) > wire.INLINE_STDIN
        if by_fd:
            os.lseek(self._own[0], 0, os.SEEK_SET)
        flags = wire.STDIN_FD if by_fd else 0
        request, program = self._request(box, flags, b"" if by_fd else self.stdin)
        return box.run(request, [*program, *self._own], patience_s(self.limits))

    def start(self, box: BoxProcess, stdin: int, stdout: int) -> None:
        """Starts it with pipes for stdin and stdout; `box.finish` waits for its end."""
        request, program = self._request(box, wire.STDIN_FD | wire.STDOUT_FD, b"")
        box.start(request, [*program, stdin, stdout, *self._own])

    def _request(self, box: BoxProcess, flags: int, stdin: bytes) -> tuple[bytes, list[int]]:
        program = []
        if self.artifact.executable is not None:
            flags |= wire.EXEC_FD
            program = [self.artifact.executable.fd]
        # Always: what another program left there (a checker, say) must not be seen by this one.
        box.load(self.artifact.digest if self.artifact.files else None, self.artifact.files)
        argv = self.artifact.command(box.program_folder, self.args, self.limits.memory_bytes)
        own = self.artifact.processes  # the runtime's threads are not the program's
        limits = replace(self.limits, processes=self.limits.processes + own) if own else self.limits
        files = list(self.files)
        return pack(limits, argv, files, self.collect, stdin, self.flags | flags), program
