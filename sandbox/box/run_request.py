"""Runs as they are sent to a box: contents become descriptors before a core is taken.

A `LiveRequest` has a descriptor of the caller's as its input. Through its `LiveRun`, other threads
send the program signals or end it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from types import TracebackType

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.built_program import BuiltProgram, ForkedStart, memory_file
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.python.start import with_arguments, with_pipes
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Limits
from gradebox.sandbox.protocol import MOST_BYTES


def reply_timeout_s(limits: Limits) -> float:
    """Return the seconds after which a silent box counts as broken.

    More than the longest wall time of a run in a box (`longest_ns` in c/box.h).
    """
    return 60.0 + 20.0 * limits.wall_s


@dataclass
class BoxRequest:
    """A program and its inputs, one for each run. A context manager: it holds memory files.

    limits  of all runs
    outputs the output limit of each run; empty: that of `limits`
    flags   wire flags besides those that follow from the contents
    forks   start the program by fork, if it can be; the box must have templates
    """

    program: BuiltProgram
    limits: Limits
    stdins: Sequence[bytes] = (b"",)
    args: Sequence[str] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    collect: Sequence[str] = ()
    outputs: Sequence[int] = ()
    flags: int = 0
    forks: bool = False
    _code: int = -1
    _stdin: int = -1
    _fds: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *accumulate(map(len, self.stdins))]  # of the inputs, put together
        self.outputs = self.outputs or [self.limits.output_bytes] * len(self.stdins)

    def __enter__(self) -> BoxRequest:
        try:
            if self._starts[-1] > wire.INLINE_STDIN:
                self._stdin = memory_file(b"".join(self.stdins))
                self._fds.append(self._stdin)
            for data in self.files.values():
                self._fds.append(memory_file(data))
            if self._fork and self._fork.code:
                self._code = memory_file(self._fork.code)
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
        for fd in self._fds:
            os.close(fd)
        self._fds = []
        self._stdin = -1
        if self._code >= 0:
            os.close(self._code)
            self._code = -1

    @property
    def _fork(self) -> ForkedStart | None:
        return self.program.fork if self.forks else None

    def start(self, box: BoxProcess, first: int = 0, most: int = 1) -> None:
        """Start runs from the first one on, `most` of them; `box.replies` returns the replies."""
        end = min(first + most, len(self.stdins))
        starts, outputs = self._starts, self.outputs
        base, flags, data = 0, 0, b""
        if self._stdin < 0:
            base, data = starts[first], b"".join(self.stdins[first:end])
        elif len(self.stdins) > 1:
            flags = wire.INPUTS_FD
        else:  # the program reads the file itself
            flags = wire.STDIN_FD
            os.lseek(self._stdin, 0, os.SEEK_SET)
        inputs = [
            (outputs[i], starts[i] - base, starts[i + 1] - starts[i]) for i in range(first, end)
        ]
        request, program = self._pack(box, flags, inputs, data)
        box.start(request, [*program, *self._fds], reply_timeout_s(self.limits), len(inputs))

    def leave(self) -> None:
        """Take notice that the box which ran the program may now be used by others."""

    def start_with_pipes(self, box: BoxProcess, stdin: int, stdout: int) -> None:
        """Start the program with pipes as stdin and stdout; `box.finish` waits for its end."""
        inputs = [(self.limits.output_bytes, 0, 0)]
        flags = wire.STDIN_FD | wire.STDOUT_FD
        request, program = self._pack(box, flags, inputs, b"")
        box.start(request, [*program, stdin, stdout, *self._fds], reply_timeout_s(self.limits))

    def _pack(
        self, box: BoxProcess, flags: int, inputs: Sequence[tuple[int, int, int]], data: bytes
    ) -> tuple[bytes, list[int]]:
        """Return the request and the program's descriptor, if it has one."""
        program, fork = self.program, self._fork
        # Always: files of another program (a checker, say) must not be visible to this one.
        box.load(program.digest if program.files else None, program.files)
        limits = self.limits
        if program.processes:  # the runtime's threads are not the program's
            limits = replace(limits, processes=limits.processes + program.processes)
        sizes = (
            int(limits.cpu_s * 1e9),
            int(limits.wall_s * 1e9),
            limits.memory_bytes,
            limits.output_bytes,
            limits.file_size_bytes,
            limits.disk_bytes,
        )
        counts = (min(limits.stderr_bytes, wire.ERR_CAP), limits.processes, limits.open_files)
        argv = program.command(box.program_folder, self.args, limits.memory_bytes)
        flags |= self.flags
        fds: list[int] = []
        strings: tuple[str, ...] = ()
        if program.executable:
            flags |= wire.EXEC_FD
            fds = [program.executable.fd]
        elif fork:
            flags |= wire.FORK | (wire.CODE_FD if fork.code else 0)
            fds = [self._code] if fork.code else []
            pipes = with_pipes() if flags & wire.STDOUT_FD else ""
            imports = "" if self.args else fork.imports  # a module may read the arguments
            strings = (imports, fork.prologue + pipes + with_arguments(self.args))
        request = wire.pack_request(
            wire.OP_RUN,
            flags,
            sizes,
            counts,
            argv,
            list(self.files),
            self.collect,
            inputs,
            data,
            strings,
        )
        return request, fds


# ---- which runs go into one request ----

MOST_RUNS = 256

_common = attrgetter(*(one.name for one in fields(Limits) if one.name != "output_bytes"))


@dataclass(frozen=True)
class RunBatch:
    """Runs for one request: inputs, and the output limit of each.

    limits  the other limits, of all of them
    """

    limits: Limits
    stdins: Sequence[bytes]
    outputs: Sequence[int]


def batches(limits: Sequence[Limits], stdins: Sequence[bytes]) -> Iterator[RunBatch]:
    """Split runs into as few batches as possible, in their order."""
    first = 0
    while first < len(stdins):
        common, size, end = _common(limits[first]), len(stdins[first]), first + 1
        while end < len(stdins) and end - first < MOST_RUNS:
            size += len(stdins[end])
            same = limits[end] is limits[first] or _common(limits[end]) == common
            if size > MOST_BYTES or not same:
                break
            end += 1
        outputs = [one.output_bytes for one in limits[first:end]]
        yield RunBatch(limits[first], stdins[first:end], outputs)
        first = end


# ---- a run that somebody talks to ----


class LiveRun:
    """A run that other threads can reach. Its methods have no effect before and after the run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._box: BoxProcess | None = None
        self._depth = 0  # of the program below the box's process
        self._ended = False

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._ended

    def end(self) -> None:
        """End the program; a program that has not been started yet ends as soon as it is."""
        with self._lock:
            self._ended = True
            if self._box is not None:
                self._box.abort()

    def send_signal(self, number: int) -> bool:
        """Send a signal to the program's first process. Return whether there was one."""
        with self._lock:
            pid = 0 if self._box is None else _first_below(self._box.pid, self._depth)
            if not pid:
                return False
            try:
                process = os.pidfd_open(pid)
            except OSError:
                return False
            try:
                # it may have ended in the meantime, and its pid be another process's
                if self._box is None or _first_below(self._box.pid, self._depth) != pid:
                    return False
                signal.pidfd_send_signal(process, number)
            except OSError:
                return False
            finally:
                os.close(process)
            return True

    def started(self, box: BoxProcess, start: Callable[[], None], depth: int) -> None:
        """Start the program in a box; `depth` is that of its process below the box's."""
        with self._lock:
            start()
            self._box, self._depth = box, depth
            if self._ended:
                box.abort()

    def over(self) -> None:
        """Forget the box, which may serve another run now."""
        with self._lock:
            self._box = None


def _first_below(pid: int, depth: int) -> int:
    """Return the first child, or the first child of the first child; 0 when there is none."""
    for _ in range(depth):
        try:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        except OSError:
            return 0
        if not children:
            return 0
        pid = int(children[0])
    return pid


@dataclass
class LiveRequest(BoxRequest):
    """A run whose input is the descriptor `line`; it cannot be repeated in another box."""

    line: int = -1
    live: LiveRun = field(default_factory=LiveRun)
    _sent: bool = False

    def start(self, box: BoxProcess, first: int = 0, most: int = 1) -> None:
        """Start the program in a box. Raises SandboxError when it is called a second time."""
        if self._sent:
            raise SandboxError("the box ended during a run whose input cannot be sent again")
        inputs = [(self.limits.output_bytes, 0, 0)]
        request, program = self._pack(box, wire.STDIN_FD, inputs, b"")
        self._sent = True
        depth = 2 if self.flags & wire.FRESH else 1
        fds, timeout_s = [*program, self.line, *self._fds], reply_timeout_s(self.limits)
        self.live.started(box, lambda: box.start(request, fds, timeout_s), depth)

    def leave(self) -> None:
        """Forget the box."""
        self.live.over()
