"""Two programs that talk: a relay between their boxes keeps the transcript and never blocks.

first.stdout ─pipe─▶ relay ─pipe─▶ second.stdin
first.stdin ◀─pipe─ relay ◀─pipe─ second.stdout
"""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.cores import Hold
from gradebox.sandbox.box.execution import read_execution
from gradebox.sandbox.box.process import BoxDied, BoxProcess, Lender
from gradebox.sandbox.box.runs.run_request import RunRequest
from gradebox.sandbox.common.cpus import Core
from gradebox.sandbox.model import Execution, Interaction

Name = Literal["first", "second"]
CHUNK = 65536
MOST_PENDING = 1 << 20  # bytes held for a slow reader; at more, its writer has to wait
REPLY_TIMEOUT_S = 60.0
TRANSCRIPT_BYTES = 65536  # kept of what both wrote


@dataclass
class _Lane:
    """One direction: what program `name` writes, on its way to the other's stdin.

    source, sink  descriptors to read from and to write to; -1 when closed
    """

    name: Name
    source: int
    sink: int
    pending: bytearray = field(default_factory=bytearray)


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
    requests: tuple[RunRequest, RunRequest],
    corrected: Callable[[wire.Reply, RunRequest], wire.Reply],
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
    lanes = [_Lane("first", out_one[0], in_two[1]), _Lane("second", out_two[0], in_one[1])]
    open_fds = {fd for pipe in (out_one, out_two, in_one, in_two) for fd in pipe}
    try:
        for fd in open_fds:
            os.fchmod(fd, 0o666)  # as in any run, programs may open /dev/stdin and /dev/stdout
        for box, request, (stdin, stdout) in zip(boxes, requests, theirs, strict=True):
            request.start_with_pipes(box, stdin, stdout)
            for fd in (stdin, stdout):
                os.close(fd)
                open_fds.discard(fd)
        relay = _Relay(boxes, lenders, lanes, open_fds, corrected)
        timeout_s = max(request.limits.wall_s for request in requests) * 20 + REPLY_TIMEOUT_S
        (first, first_end), (second, second_end) = relay.run(requests, timeout_s)
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
        lenders: Sequence[Lender],
        lanes: list[_Lane],
        open_fds: set[int],
        corrected: Callable[[wire.Reply, RunRequest], wire.Reply],
    ) -> None:
        self.boxes = boxes
        self.corrected = corrected
        self.lenders = lenders
        self.lanes = lanes
        self.open_fds = open_fds
        self.room = TRANSCRIPT_BYTES
        self.transcript: list[tuple[Name, bytes]] = []
        self.cut = False
        self.selector = selectors.DefaultSelector()

    def run(
        self, requests: tuple[RunRequest, RunRequest], timeout_s: float
    ) -> list[tuple[Execution, int]]:
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
                            continue
                        reply, fds = self.boxes[key.data].finish(REPLY_TIMEOUT_S)
                        request = requests[key.data]
                        execution = read_execution(
                            self.corrected(reply, request),
                            fds,
                            request.limits,
                            request.collect,
                            piped=True,
                        )
                        done[key.data] = (execution, reply.end_ns)
                        self.lenders[key.data].lend()
                        self.selector.unregister(key.fileobj)
                    elif events & selectors.EVENT_READ and key.fd == key.data.source:
                        self._read(key.data)
                    elif key.fd == key.data.sink:
                        self._write(key.data)
        return [one for one in done if one is not None]

    def _read(self, lane: _Lane) -> None:
        try:
            data = os.read(lane.source, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._close(lane, "source")
            if not lane.pending:
                self._close(lane, "sink")
            return
        self._record(lane.name, data)
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
            if lane.source < 0:
                self._close(lane, "sink")
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
