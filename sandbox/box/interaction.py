"""Two programs that talk: a relay between their boxes keeps the transcript and never blocks.

first.stdout ─pipe─▶ relay ─pipe─▶ second.stdin
first.stdin ◀─pipe─ relay ◀─pipe─ second.stdout

The relay also ends a program that is waited for too long (`WaitingClock`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from io import FileIO
from typing import Literal

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.cores import Hold, SharedHold
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.run_request import BoxRequest
from gradebox.sandbox.errors import BoxDied
from gradebox.sandbox.model import Execution, Interaction

Name = Literal["first", "second"]
CHUNK = 65536
MOST_PENDING = 1 << 20  # bytes held for a slow reader; at more, its writer has to wait
REPLY_TIMEOUT_S = 60.0
TRANSCRIPT_BYTES = 65536  # kept of what both programs wrote together
# After a program has closed its output, its box sends so many reports before the other program's
# input ends. A program that ends closes its pipes a little before its end is reported. If the other
# program's input ended at once, that program could end meanwhile and seem to have ended first.
REPORTS_TO_END = 2
# Most time that is charged at one look. Boxes report every 25 to 50 ms. A longer pause means that
# the machine did not let a box or this process run, which is nobody's fault.
STEP_NS = 100_000_000


class WaitingClock:
    """The wall time of two programs that talk, charged to the program that is waited for.

        time   =  one of them has a core  +  one of them awaits a core  +  neither
                                                                           └▶ charged to one

    While one computes, the other waits for its words, and the time of neither runs. When neither is
    busy, the interaction waits for the second program if that one has something to react to (input
    that it has not read, or the end of its input) and the first has not. Else it waits for the
    first: for a solution that does not speak, or does not listen.

    idle_ns  the time that each program has been charged
    """

    def __init__(self, start_ns: int) -> None:
        self.idle_ns = [0, 0]
        self._until_ns = start_ns
        self._busy_ns = 0
        self._over_ns = 0  # busy time in reports that lies after `_until_ns`
        self._looked_ns = start_ns
        self._relayed_ns = 0  # of the clock `now_ns`, not charged yet

    def look(
        self,
        reports: Sequence[tuple[int, int]],
        ended: Sequence[bool],
        reacts: Callable[[int], bool],
        now_ns: int,
    ) -> int:
        """Charge the time since the last look. Return the number of the program it is charged to.

        reports  each program's last report: the time until which the program was watched, in ns of
                 the monotonic clock, and for how many ns it was busy until then
        ended    whether each program has ended; not both have
        reacts   returns whether the program of a number has something to react to
        now_ns   a clock that runs only while the relay sleeps: at other times reports wait for the
                 relay, and a program may be silent because the relay has not passed words on
        """
        self._relayed_ns = min(self._relayed_ns + now_ns - self._looked_ns, STEP_NS)
        self._looked_ns = now_ns
        until_ns = min(now for (now, _), over in zip(reports, ended, strict=True) if not over)
        busy_ns = sum(busy for _, busy in reports)
        idle_ns = until_ns - self._until_ns - (busy_ns - self._busy_ns) - self._over_ns
        ahead_ns = sum(max(now - until_ns, 0) for now, _ in reports)
        self._until_ns, self._busy_ns = until_ns, busy_ns
        self._over_ns = min(max(-idle_ns, 0), ahead_ns)
        number = ended.index(False) if any(ended) else int(reacts(1) and not reacts(0))
        charged_ns = max(min(idle_ns, self._relayed_ns), 0)
        self._relayed_ns -= charged_ns
        self.idle_ns[number] += charged_ns
        return number


@dataclass
class _Side:
    """One of the two programs, and what it has written for the other's stdin.

    source, sink  pipes: from its stdout, to the other's stdin
    reports       how many its box had sent when the program closed its output
    written       bytes that the program has written so far
    silent_ns     when the other's stdin was closed though this program goes on; None: it was not
    """

    name: Name
    box: BoxProcess
    request: BoxRequest
    hold: SharedHold
    source: FileIO
    sink: FileIO
    pending: bytearray = field(default_factory=bytearray)
    reports: int = 0
    written: int = 0
    execution: Execution | None = None
    end_ns: int = 0
    silent_ns: int | None = None

    @property
    def has_news(self) -> bool:
        """Whether the other program has something to react to: unread bytes or the end."""
        if self.sink.closed or self.pending:
            return True
        return fcntl.ioctl(self.sink, termios.FIONREAD, b"\0" * 4) != b"\0" * 4


def run_interaction(
    hold: Hold,
    boxes: tuple[BoxProcess, BoxProcess],
    requests: tuple[BoxRequest, BoxRequest],
    corrected: Callable[[wire.Reply, BoxRequest], wire.Reply],
) -> Interaction:
    """Run both programs until each has ended. Raises SandboxError when a box fails.

    hold       the core that both programs share
    corrected  returns a reply with the figures of a plain start
    """
    asleep: list[bool] = []
    with contextlib.ExitStack() as files:

        def pipe() -> list[FileIO]:
            ends = [
                files.enter_context(FileIO(fd, mode))
                for fd, mode in zip(os.pipe2(os.O_CLOEXEC), ("rb", "wb"), strict=True)
            ]
            for end in ends:  # as in any run, programs may open /dev/stdin and /dev/stdout
                os.fchmod(end.fileno(), 0o666)
            return ends

        names: tuple[Name, Name] = ("first", "second")
        stdins, stdouts = [pipe(), pipe()], [pipe(), pipe()]
        sides = [
            _Side(
                names[i],
                boxes[i],
                requests[i],
                SharedHold(hold, asleep),
                stdouts[i][0],
                stdins[1 - i][1],
            )
            for i in range(2)
        ]
        for side in sides:
            side.box.pin(side.hold)
            side.box.last_digest = side.request.program.digest
        for side, (stdin, _), (_, stdout) in zip(sides, stdins, stdouts, strict=True):
            side.request.stdin, side.request.stdout = stdin.fileno(), stdout.fileno()
            side.request.start(side.box)
            stdin.close()
            stdout.close()
        relay = _Relay(sides, corrected)
        relay.run()
    one, two = sides
    assert one.execution is not None and two.execution is not None
    ended: Literal["first", "second", "both"] = "both"
    # The first program may close its output and go on. It counts as ended when the second program's
    # input was closed for that.
    one_ns = one.end_ns if one.silent_ns is None else min(one.silent_ns, one.end_ns)
    if one_ns != two.end_ns:
        ended = "first" if one_ns < two.end_ns else "second"
    return Interaction(one.execution, two.execution, ended, tuple(relay.transcript))


class _Relay:
    def __init__(
        self, sides: list[_Side], corrected: Callable[[wire.Reply, BoxRequest], wire.Reply]
    ) -> None:
        self.sides = sides
        self.corrected = corrected
        self.room = TRANSCRIPT_BYTES
        self.transcript: list[tuple[Name, bytes]] = []
        self.selector = selectors.DefaultSelector()
        self.schedstat: FileIO | None = None
        with contextlib.suppress(OSError):
            self.schedstat = FileIO("/proc/thread-self/schedstat")
        self.clock = WaitingClock(time.monotonic_ns() - self._ready_ns())

    def run(self) -> None:
        """Relay until both boxes have replied."""
        longest_s = max(side.request.limits.wall_s for side in self.sides)
        timeout_s = longest_s * 20 + REPLY_TIMEOUT_S
        end = time.monotonic() + timeout_s
        with self.selector, self.schedstat or contextlib.nullcontext():
            for side in self.sides:
                os.set_blocking(side.source.fileno(), False)
                os.set_blocking(side.sink.fileno(), False)
                self.selector.register(side.box.fileno(), selectors.EVENT_READ, side)
                self.selector.register(side.source, selectors.EVENT_READ, side)
            while not all(side.execution for side in self.sides):
                if time.monotonic() > end:
                    raise BoxDied(f"no reply from two interacting boxes in {timeout_s:.0f} s")
                for key, _ in self.selector.select(timeout=1.0):
                    side = key.data
                    if key.fileobj is side.source:
                        self._read(side)
                    elif key.fileobj is side.sink:
                        self._write(side)
                    elif side.box.heed():
                        self._look()
                    else:
                        self.selector.unregister(key.fileobj)
                        self._end(side)

    def _end(self, side: _Side) -> None:
        """Take the reply to a program's run."""
        reply, fds = side.box.finish(REPLY_TIMEOUT_S)
        request = side.request
        reply = self.corrected(reply, request)
        if side.written > request.limits.output_bytes:
            reply = reply._replace(out_size=side.written)
        side.end_ns = reply.end_ns
        side.execution = wire.read_execution(
            reply, fds, request.limits, request.collect, piped=True
        )
        self._pass_on_end(side)
        side.hold.lend()

    def _look(self) -> None:
        """After a box's report: close inputs that end; end a program waited for too long."""
        for side in self.sides:
            self._pass_on_end(side)
        ended = [side.execution is not None for side in self.sides]
        if all(ended):
            return
        reports = [side.box.busy for side in self.sides]
        now_ns = time.monotonic_ns() - self._ready_ns()
        number = self.clock.look(reports, ended, lambda i: self.sides[1 - i].has_news, now_ns)
        if self.clock.idle_ns[number] > self.sides[number].request.limits.wall_s * 1e9:
            self.sides[number].box.order(wire.OP_EXPIRE)

    def _ready_ns(self) -> int:
        """Return how long this thread has had or awaited a core, in ns; 0 where that is unknown."""
        with contextlib.suppress(OSError, ValueError):
            if self.schedstat is not None:
                ran, waited, _ = os.pread(self.schedstat.fileno(), 64, 0).split()
                return int(ran) + int(waited)
        return 0

    def _pass_on_end(self, side: _Side) -> None:
        """Close the reader's input when the writer has ended, or goes on without an output."""
        over = side.execution is not None or side.box.reports >= side.reports + REPORTS_TO_END
        if side.source.closed and not side.pending and over and not side.sink.closed:
            side.silent_ns = None if side.execution else time.monotonic_ns()
            self._close(side.sink)

    def _read(self, side: _Side) -> None:
        data = None if side.source.closed else side.source.read(CHUNK)
        if data is None:  # nothing to read yet
            return
        if not data:
            self._close(side.source)
            side.reports = side.box.reports
            self._pass_on_end(side)
            return
        self._record(side.name, data)
        side.written += len(data)
        if side.written > side.request.limits.output_bytes:
            side.box.order(wire.OP_FLOODS)
        side.pending += data
        self._write(side)

    def _write(self, side: _Side) -> None:
        try:
            while side.pending and not side.sink.closed:
                count = side.sink.write(side.pending[:CHUNK])
                if count is None:  # the pipe is full
                    break
                del side.pending[:count]
        except BrokenPipeError:  # the reader has closed its end: the writer's next write fails too
            self._close(side.sink)
            self._close(side.source)
            return
        self._watch(side.sink, selectors.EVENT_WRITE, side, bool(side.pending))
        if not side.pending:
            self._pass_on_end(side)
        # With too much pending, nothing more is read: the writer waits, as on any full pipe.
        room = len(side.pending) <= MOST_PENDING
        self._watch(side.source, selectors.EVENT_READ, side, room)

    def _watch(self, file: FileIO, event: int, side: _Side, wanted: bool) -> None:
        if file.closed or wanted == (file in self.selector.get_map()):
            return
        if wanted:
            self.selector.register(file, event, side)
        else:
            self.selector.unregister(file)

    def _close(self, file: FileIO) -> None:
        if not file.closed:
            if file in self.selector.get_map():
                self.selector.unregister(file)
            file.close()

    def _record(self, name: Name, data: bytes) -> None:
        kept = data[: self.room]
        self.room -= len(kept)
        if not kept:
            return
        if self.transcript and self.transcript[-1][0] == name:
            self.transcript[-1] = (name, self.transcript[-1][1] + kept)
        else:
            self.transcript.append((name, kept))
