"""Runs as they are sent to a box: contents become descriptors before a core is taken.

What is impossible (limits, names, arguments) is refused before anything runs.

Through a `LiveRun`, other threads send a running program signals or end it.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import accumulate
from operator import attrgetter
from types import TracebackType

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.built_program import BuiltProgram, ForkedStart, memory_file
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.python.start import with_arguments, with_pipes
from gradebox.sandbox.common.cpus import children
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import FOLDER, MIB, Limits, Program
from gradebox.sandbox.protocol import MOST_BYTES


def reply_timeout_s(limits: Limits) -> float:
    """Return the seconds after which a silent box counts as broken.

    More than the longest wall time of a run in a box (`longest_ns` in c/box.h).
    """
    return 60.0 + 20.0 * limits.wall_s


@dataclass
class BoxRequest:
    """A program and its inputs, one for each run. A context manager, as it owns memory files.

    limits  of all runs
    outputs the output limit of each run; empty: that of `limits`
    flags   wire flags besides those that follow from the contents
    forks   start the program by fork, if it can be; the box must have templates
    seen    the box's own replies are added to it; None: nobody wants them
    stdin, stdout  descriptors of the caller that replace the only input and the output
    live    lets other threads reach the run, which then cannot be repeated in another box
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
    seen: list[wire.Reply] | None = None
    stdin: int = -1
    stdout: int = -1
    live: LiveRun | None = None
    _code: int = -1
    _inputs: int = -1
    _owned: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *accumulate(map(len, self.stdins))]  # offsets in the joined inputs
        self.outputs = self.outputs or [self.limits.output_bytes] * len(self.stdins)
        self._files: list[int] = []

    def __enter__(self) -> BoxRequest:
        try:
            if self._starts[-1] > wire.INLINE_STDIN:
                self._inputs = self._kept(b"".join(self.stdins))
            self._files = [self._kept(data) for data in self.files.values()]
            if self._fork and self._fork.code:
                self._code = self._kept(self._fork.code)
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

    def _kept(self, data: bytes) -> int:
        fd = memory_file(data)
        self._owned.append(fd)
        return fd

    def _close(self) -> None:
        owned, self._owned = self._owned, []
        for fd in owned:
            os.close(fd)

    @property
    def _fork(self) -> ForkedStart | None:
        return self.program.fork if self.forks else None

    def start(self, box: BoxProcess, first: int = 0, most: int = 1) -> None:
        """Start runs from the first one on, `most` of them; `box.replies` returns the replies.

        Raises SandboxError for a live run that was started before.
        """
        program, limits = self.program, self.limits
        # Also without files: those of another program (a checker, say) must not stay visible.
        box.load(program.digest if program.files else None, program.files)
        end = min(first + most, len(self.stdins))
        starts, outputs = self._starts, self.outputs
        base, flags, data, streams = 0, self.flags, b"", [self.stdin]
        if self.stdin >= 0:
            flags |= wire.STDIN_FD
        elif self._inputs < 0:
            base, data, streams = starts[first], b"".join(self.stdins[first:end]), []
        else:  # the program reads a single input straight from the file
            flags |= wire.INPUTS_FD if len(self.stdins) > 1 else wire.STDIN_FD
            os.lseek(self._inputs, 0, os.SEEK_SET)
            streams = [self._inputs]
        if self.stdout >= 0:
            flags |= wire.STDOUT_FD
            streams.append(self.stdout)
        fork, strings = self._fork, tuple[str, ...]()
        if program.executable:
            flags |= wire.EXEC_FD
            streams.insert(0, program.executable.fd)
        elif fork:
            flags |= wire.FORK
            if fork.code:
                flags |= wire.CODE_FD
                streams.insert(0, self._code)
            pipes = with_pipes() if self.stdout >= 0 else ""
            imports = "" if self.args else fork.imports  # a module may read the arguments
            strings = (imports, fork.prologue + pipes + with_arguments(self.args))
        sizes = (
            int(limits.cpu_s * 1e9),
            int(limits.wall_s * 1e9),
            limits.memory_bytes,
            limits.output_bytes,
            limits.file_size_bytes,
            limits.disk_bytes,
        )
        counts = (
            min(limits.stderr_bytes, wire.ERR_CAP),
            limits.processes + program.processes,  # and threads of the runtime
            limits.open_files,
        )
        request = wire.pack_request(
            wire.OP_RUN,
            flags,
            sizes,
            counts,
            program.command(box.program_folder, self.args, limits.memory_bytes),
            list(self.files),
            self.collect,
            [(outputs[i], starts[i] - base, starts[i + 1] - starts[i]) for i in range(first, end)],
            data,
            strings,
        )
        fds = [*streams, *self._files]
        if self.live is None:
            box.start(request, fds, reply_timeout_s(limits), end - first)
        else:
            self.live.start(box, request, fds, limits, 2 if flags & wire.FRESH else 1)

    def leave(self) -> None:
        """Take notice that the box which ran the program may now be used by others."""
        if self.live is not None:
            self.live.over()


# ---- which runs go into one request ----

MOST_RUNS = 256

_common = attrgetter(*(one.name for one in fields(Limits) if one.name != "output_bytes"))


def batches(
    program: BuiltProgram, limits: Sequence[Limits], stdins: Sequence[bytes]
) -> Iterator[BoxRequest]:
    """Split runs into as few requests as possible, in their order."""
    first, forks = 0, program.fork is not None
    while first < len(stdins):
        common, size, end = _common(limits[first]), len(stdins[first]), first + 1
        while end < len(stdins) and end - first < MOST_RUNS:
            size += len(stdins[end])
            same = limits[end] is limits[first] or _common(limits[end]) == common
            if size > MOST_BYTES or not same:
                break
            end += 1
        outputs = [one.output_bytes for one in limits[first:end]]
        yield BoxRequest(program, limits[first], stdins[first:end], outputs=outputs, forks=forks)
        first = end


# ---- a run that somebody talks to ----


class LiveRun:
    """A run that other threads can reach. Its methods have no effect before and after the run."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._box: BoxProcess | None = None
        self._depth = 0  # 1: the program is a child of the box's process, 2: a grandchild
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
                self._box.order(wire.OP_ABORT)

    def send_signal(self, number: int) -> bool:
        """Send a signal to the program's first process. Return whether there was one."""
        with self._lock:
            pid = 0 if self._box is None else _first_below(self._box.pid, self._depth)
            if not pid:
                return False
            with contextlib.suppress(OSError), contextlib.ExitStack() as ends:
                process = os.pidfd_open(pid)
                ends.callback(os.close, process)
                # the program may have ended meanwhile, and another process have its pid
                if self._box and _first_below(self._box.pid, self._depth) == pid:
                    signal.pidfd_send_signal(process, number)
                    return True
            return False

    def start(
        self, box: BoxProcess, request: bytes, fds: Sequence[int], limits: Limits, depth: int
    ) -> None:
        """Start the program in a box, as its child (`depth` 1) or its grandchild (2).

        Raises SandboxError when it is called a second time.
        """
        with self._lock:
            if self._depth:
                raise SandboxError("the box ended during a run whose input cannot be sent again")
            self._depth = depth
            box.start(request, fds, reply_timeout_s(limits))
            self._box = box
            if self._ended:
                box.order(wire.OP_ABORT)

    def over(self) -> None:
        """Forget the box, which may serve another run now."""
        with self._lock:
            self._box = None


def _first_below(pid: int, depth: int) -> int:
    """Return the first child (depth 1), or that child's first child (2); 0 without one."""
    for _ in range(depth):
        pid = next(iter(children(pid)), 0) if pid else 0
    return pid


# ---- what is refused ----

LARGEST_PROGRAM = 64 * MIB
LARGEST_ARGUMENTS = 32_768
RANGES: dict[str, tuple[float, float]] = {  # of each limit: smallest, largest
    "cpu_s": (0.001, 86_400),
    "wall_s": (0.001, 7 * 86_400),
    "memory_bytes": (MIB, 1 << 44),
    "output_bytes": (0, 1 << 34),
    "processes": (1, 32_768),
    "stderr_bytes": (0, 1 << 34),
    "open_files": (4, 1 << 20),
    "file_size_bytes": (0, 1 << 40),
    "disk_bytes": (4096, 1 << 40),
}


@lru_cache(maxsize=1024)  # saves 13 µs a run: a grader passes the same limits again and again
def check_limits(limits: Limits) -> None:
    """Raise BadRequest when a limit is out of its range."""
    for name, (low, high) in RANGES.items():
        value = getattr(limits, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadRequest(f"limit {name}={value!r} is not a number")
        if not math.isfinite(value) or not low <= value <= high:
            raise BadRequest(f"limit {name}={value} is outside {low} … {high}")


def _check_name(name: str) -> None:
    """Raise BadRequest unless `name` is one plain file name."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise BadRequest(f"file name {name!r}: use a plain name without '/', NUL, '.' or '..'")
    if len(name.encode(errors="surrogatepass")) > 255:
        raise BadRequest(f"file name {name[:40]!r}… is longer than 255 bytes")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"file name {name!r} cannot be encoded as UTF-8") from None


def check_program(program: Program) -> None:
    """Raise BadRequest for a program without files, with bad file names, or too large."""
    if not program.files:
        raise BadRequest("a program needs at least one file")
    if len(program.files) > wire.MAX_FILES:
        raise BadRequest(f"{len(program.files)} program files; at most {wire.MAX_FILES}")
    for name in program.files:
        _check_name(name)
    size = sum(len(data) for data in program.files.values())
    if size > LARGEST_PROGRAM:
        raise BadRequest(f"a program of {size} bytes; at most {LARGEST_PROGRAM}")


def check_request(args: Sequence[str], files: Iterable[str], collect: Sequence[str]) -> None:
    """Raise BadRequest when arguments or files cannot be passed to a box."""
    names = list(files)
    if len(args) > wire.MAX_ARGS - 32:
        raise BadRequest(f"{len(args)} arguments; at most {wire.MAX_ARGS - 32}")
    if sum(len(a.encode(errors="replace")) for a in args) > LARGEST_ARGUMENTS:
        raise BadRequest(f"arguments of more than {LARGEST_ARGUMENTS} bytes: use a file")
    for arg in args:
        if "\0" in arg:
            raise BadRequest(f"argument {arg!r} has a NUL byte")
    if len(names) > wire.MAX_FILES or len(collect) > wire.MAX_COLLECT:
        raise BadRequest(
            f"{len(names)} files in (at most {wire.MAX_FILES}), "
            f"{len(collect)} out (at most {wire.MAX_COLLECT})"
        )
    for name in (*names, *(name for name in collect if name != FOLDER)):
        _check_name(name)
