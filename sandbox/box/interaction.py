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
from typing import Literal

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.cores import Hold
from gradebox.sandbox.box.execution import read_execution
from gradebox.sandbox.box.process import BoxProcess, Lender
from gradebox.sandbox.box.run_request import BoxRequest
from gradebox.sandbox.common.cpus import Core
from gradebox.sandbox.errors import BoxDied
from gradebox.sandbox.model import Execution, Interaction

Name = Literal["first", "second"]
CHUNK = 65536
MOST_PENDING = 1 << 20  # bytes held for a slow reader; at more, its writer has to wait
REPLY_TIMEOUT_S = 60.0
TRANSCRIPT_BYTES = 65536  # kept of what both wrote
# Reports of a box after its program has closed its output, until the other one's input ends: a
# program that ends closes its pipes a little before its end can be observed, and must not seem to
# have outlived the other one, which then ends as well.
REPORTS_TO_END = 2
# Most that is charged for one look. Boxes report every 25 to 50 ms. A longer pause means that the
# machine did not let a box or this process run, which is nobody's fault.
STEP_NS = 100_000_000


class WaitingClock:
    """The wall time of two programs that talk: who is waited for is charged.

        time   =  one of them has a core  +  one of them awaits a core  +  neither
                                                                           └▶ charged to one

    While one computes, the other waits for its words, and the time of neither runs. When neither is
    busy, the interaction waits for the second program if that one has something to react to (input
    that it has not read, or the end of its input) and the first has not. Else it waits for the
    first: for a solution that does not speak, or does not listen.

    idle_ns  what each has been charged
    """

    def __init__(self, start_ns: int) -> None:
        self.idle_ns = [0, 0]
        self._until_ns = start_ns
        self._busy_ns = 0
        self._over_ns = 0  # busy after `_until_ns`
        self._looked_ns = start_ns
        self._relayed_ns = 0  # in which this process ran, not charged yet

    def look(
        self,
        reports: Sequence[tuple[int, int]],
        ended: Sequence[bool],
        reacts: Callable[[int], bool],
        now_ns: int,
    ) -> int:
        """Charge the time since the last look. Return the number of the program it is charged to.

        reports  of each program the last one: until when it was watched, in ns of the monotonic
                 clock, and how long it was busy up to then
        ended    not both
        reacts   return whether a program has something to react to
        now_ns   of the relay, a clock that runs while the relay sleeps: reports that waited while
                 it was stopped come all at once, and what it has not passed on is no silence
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
class _Lane:
    """One direction: what program `name` writes, on its way to the other's stdin.

    source, sink  descriptors to read from and to write to; -1 when closed
    writer        number of the program
    reports       on it when it closed its output
    written       bytes so far
    """

    name: Name
    source: int
    sink: int
    writer: int
    pending: bytearray = field(default_factory=bytearray)
    reports: int = 0
    written: int = 0

    @property
    def has_news(self) -> bool:
        """Whether its reader has something to react to."""
        if self.sink < 0 or self.pending:
            return True
        return fcntl.ioctl(self.sink, termios.FIONREAD, b"\0" * 4) != b"\0" * 4


class SharedHold:
    """One of several programs on a core, which is lent while all of them sleep or have ended."""

    def __init__(self, hold: Hold, asleep: list[bool]) -> None:
        self.core = hold.core
        self._hold = hold
        self._asleep = asleep  # of all
        self._number = len(asleep)
        asleep.append(False)

    def lend(self) -> None:
        """See `Hold.lend`."""
        self._asleep[self._number] = True
        if all(self._asleep):
            self._hold.lend()

    def take_back(self) -> Core:
        """See `Hold.take_back`."""
        self._asleep[self._number] = False
        self.core = self._hold.take_back()
        return self.core


def run_interaction(
    hold: Hold,
    boxes: tuple[BoxProcess, BoxProcess],
    requests: tuple[BoxRequest, BoxRequest],
    corrected: Callable[[wire.Reply, BoxRequest], wire.Reply],
) -> Interaction:
    """Run both programs until each has ended. Raises SandboxError when a box fails.

    hold       the core for both
    corrected  returns a reply with the figures of a plain start
    """
    asleep: list[bool] = []
    lenders = [SharedHold(hold, asleep) for _ in boxes]
    for box, lender in zip(boxes, lenders, strict=True):
        box.pin(lender)
    for box, request in zip(boxes, requests, strict=True):
        box.last_digest = request.program.digest
    out_one, out_two, in_one, in_two = (os.pipe2(os.O_CLOEXEC) for _ in range(4))
    theirs = ((in_one[0], out_one[1]), (in_two[0], out_two[1]))
    lanes = [
        _Lane("first", out_one[0], in_two[1], writer=0),
        _Lane("second", out_two[0], in_one[1], writer=1),
    ]
    open_fds = {fd for pipe in (out_one, out_two, in_one, in_two) for fd in pipe}
    try:
        for fd in open_fds:
            os.fchmod(fd, 0o666)  # as in any run, programs may open /dev/stdin and /dev/stdout
        for box, request, (stdin, stdout) in zip(boxes, requests, theirs, strict=True):
            request.start_with_pipes(box, stdin, stdout)
            for fd in (stdin, stdout):
                os.close(fd)
                open_fds.discard(fd)
        relay = _Relay(boxes, requests, lenders, lanes, open_fds, corrected)
        timeout_s = max(request.limits.wall_s for request in requests) * 20 + REPLY_TIMEOUT_S
        (first, first_end), (second, second_end) = relay.run(timeout_s)
    finally:
        for fd in open_fds:
            os.close(fd)
    ended: Literal["first", "second", "both"] = "both"
    if first_end != second_end:
        ended = "first" if first_end < second_end else "second"
    return Interaction(first, second, ended, tuple(relay.transcript), relay.cut)


class _Relay:
    def __init__(
        self,
        boxes: tuple[BoxProcess, BoxProcess],
        requests: tuple[BoxRequest, BoxRequest],
        lenders: Sequence[Lender],
        lanes: list[_Lane],
        open_fds: set[int],
        corrected: Callable[[wire.Reply, BoxRequest], wire.Reply],
    ) -> None:
        self.boxes = boxes
        self.requests = requests
        self.corrected = corrected
        self.lenders = lenders
        self.lanes = lanes
        self.open_fds = open_fds
        self.room = TRANSCRIPT_BYTES
        self.transcript: list[tuple[Name, bytes]] = []
        self.cut = False
        self.selector = selectors.DefaultSelector()
        self.ended = [False, False]
        self.schedstat = -1
        with contextlib.suppress(OSError):
            self.schedstat = os.open("/proc/thread-self/schedstat", os.O_RDONLY | os.O_CLOEXEC)
            open_fds.add(self.schedstat)
        self.clock = WaitingClock(time.monotonic_ns() - self._ready_ns())

    def run(self, timeout_s: float) -> list[tuple[Execution, int]]:
        """Relay until both boxes have replied. Return each execution and its end in ns."""
        done: list[tuple[Execution, int] | None] = [None, None]
        end = time.monotonic() + timeout_s
        with self.selector:
            for i, box in enumerate(self.boxes):
                self.selector.register(box.fileno(), selectors.EVENT_READ, i)
            for lane in self.lanes:
                os.set_blocking(lane.source, False)
                os.set_blocking(lane.sink, False)
                self.selector.register(lane.source, selectors.EVENT_READ, lane)
            while None in done:
                if time.monotonic() > end:
                    raise BoxDied(f"no reply from two interacting boxes in {timeout_s:.0f} s")
                for key, events in self.selector.select(timeout=1.0):
                    if isinstance(key.data, int):
                        if self.boxes[key.data].heed():
                            self._look()
                            continue
                        reply, fds = self.boxes[key.data].finish(REPLY_TIMEOUT_S)
                        request = self.requests[key.data]
                        reply = self.corrected(reply, request)
                        if self.lanes[key.data].written > request.limits.output_bytes:
                            reply = reply._replace(out_size=self.lanes[key.data].written)
                        execution = read_execution(
                            reply,
                            fds,
                            request.limits,
                            request.collect,
                            piped=True,
                        )
                        done[key.data] = (execution, reply.end_ns)
                        self.ended[key.data] = True
                        self._pass_on_end(self.lanes[key.data])
                        self.lenders[key.data].lend()
                        self.selector.unregister(key.fileobj)
                    elif events & selectors.EVENT_READ and key.fd == key.data.source:
                        self._read(key.data)
                    elif key.fd == key.data.sink:
                        self._write(key.data)
        return [one for one in done if one is not None]

    def _look(self) -> None:
        """Do what a report of a box is a reason for: an end of input, an end for the wall time."""
        for lane in self.lanes:
            self._pass_on_end(lane)
        if all(self.ended):
            return
        reports = [box.busy for box in self.boxes]
        now_ns = time.monotonic_ns() - self._ready_ns()
        number = self.clock.look(reports, self.ended, lambda i: self.lanes[1 - i].has_news, now_ns)
        if self.clock.idle_ns[number] > self.requests[number].limits.wall_s * 1e9:
            self.boxes[number].stop(wire.OP_EXPIRE)

    def _ready_ns(self) -> int:
        """Return how long this thread has had or awaited a core, in ns; 0 where that is unknown."""
        with contextlib.suppress(OSError, ValueError):
            ran, waited, _ = os.pread(self.schedstat, 64, 0).split()
            return int(ran) + int(waited)
        return 0

    def _pass_on_end(self, lane: _Lane) -> None:
        """Close the reader's input after the writer's end, or when the writer goes on without."""
        over = (
            self.ended[lane.writer]
            or self.boxes[lane.writer].reports >= lane.reports + REPORTS_TO_END
        )
        if lane.source < 0 and not lane.pending and over:
            self._close(lane, "sink")

    def _read(self, lane: _Lane) -> None:
        try:
            data = os.read(lane.source, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close(lane, "source")
            lane.reports = self.boxes[lane.writer].reports
            self._pass_on_end(lane)
            return
        self._record(lane.name, data)
        lane.written += len(data)
        if lane.written > self.requests[lane.writer].limits.output_bytes:
            self.boxes[lane.writer].stop(wire.OP_FLOODS)
        lane.pending += data
        self._write(lane)
        if len(lane.pending) > MOST_PENDING and lane.source >= 0:
            self.selector.unregister(lane.source)  # its writer waits, as on any full pipe

    def _write(self, lane: _Lane) -> None:
        try:
            while lane.pending and lane.sink >= 0:
                del lane.pending[: os.write(lane.sink, lane.pending[:CHUNK])]
        except BlockingIOError:
            self._watch_sink(lane, True)
        except BrokenPipeError:  # the reader has closed its end: the writer's next write fails too
            self._close(lane, "sink")
            self._close(lane, "source")
            return
        if not lane.pending:
            self._watch_sink(lane, False)
            self._pass_on_end(lane)
        paused = lane.source >= 0 and lane.source not in self.selector.get_map()
        if paused and len(lane.pending) <= MOST_PENDING:
            self.selector.register(lane.source, selectors.EVENT_READ, lane)

    def _watch_sink(self, lane: _Lane, wanted: bool) -> None:
        if lane.sink < 0 or wanted == (lane.sink in self.selector.get_map()):
            return
        if wanted:
            self.selector.register(lane.sink, selectors.EVENT_WRITE, lane)
        else:
            self.selector.unregister(lane.sink)

    def _close(self, lane: _Lane, end: Literal["source", "sink"]) -> None:
        fd = getattr(lane, end)
        if fd < 0:
            return
        if fd in self.selector.get_map():
            self.selector.unregister(fd)
        os.close(fd)
        self.open_fds.discard(fd)
        setattr(lane, end, -1)

    def _record(self, name: Name, data: bytes) -> None:
        kept = data[: self.room]
        self.cut = self.cut or len(kept) < len(data)
        self.room -= len(kept)
        if not kept:
            return
        if self.transcript and self.transcript[-1][0] == name:
            self.transcript[-1] = (name, self.transcript[-1][1] + kept)
        else:
            self.transcript.append((name, kept))
