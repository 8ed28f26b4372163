"""Two boxes that talk: a relay between them keeps the transcript and never blocks on either.

first.stdout ─pipe─▶ relay ─pipe─▶ second.stdin
first.stdin ◀─pipe─ relay ◀─pipe─ second.stdout
"""

from __future__ import annotations

import os
import selectors
import time
from dataclasses import dataclass, field
from typing import Literal

from sandbox.box import evidence
from sandbox.box.order import Order
from sandbox.box.process import BoxDied, BoxProcess
from sandbox.model import Execution, Interaction

Name = Literal["first", "second"]
CHUNK = 65536
PENDING = 1 << 20  # bytes held for a reader that does not read; then its writer waits
GRACE_S = 60.0


@dataclass
class _Lane:
    """One direction: what `name` wrote, on its way to the other's stdin."""

    name: Name
    source: int
    sink: int
    pending: bytearray = field(default_factory=bytearray)


def converse(
    boxes: tuple[BoxProcess, BoxProcess],
    sides: tuple[Order, Order],
    transcript_bytes: int,
) -> Interaction:
    """Runs both until each has ended; raises SandboxError when a box fails."""
    out_one, out_two, in_one, in_two = (os.pipe2(os.O_CLOEXEC) for _ in range(4))
    theirs = ((in_one[0], out_one[1]), (in_two[0], out_two[1]))
    lanes = [_Lane("first", out_one[0], in_two[1]), _Lane("second", out_two[0], in_one[1])]
    open_fds = {fd for pipe in (out_one, out_two, in_one, in_two) for fd in pipe}
    try:
        for fd in open_fds:
            os.fchmod(fd, 0o666)  # programs may open /dev/stdin and /dev/stdout, as in any run
        for box, side, (stdin, stdout) in zip(boxes, sides, theirs, strict=True):
            side.start(box, stdin, stdout)
            for fd in (stdin, stdout):
                os.close(fd)
                open_fds.discard(fd)
        relay = _Relay(boxes, lanes, open_fds, transcript_bytes)
        patience = max(side.limits.wall_s for side in sides) * 20 + GRACE_S
        (first, first_end), (second, second_end) = relay.run(sides, patience)
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
        lanes: list[_Lane],
        open_fds: set[int],
        transcript_bytes: int,
    ) -> None:
        self.boxes = boxes
        self.lanes = lanes
        self.open_fds = open_fds
        self.room = transcript_bytes
        self.transcript: list[tuple[Name, bytes]] = []
        self.cut = False
        self.watch = selectors.DefaultSelector()

    def run(self, sides: tuple[Order, Order], patience_s: float) -> list[tuple[Execution, int]]:
        """Relays until both boxes have answered; (evidence, end in ns) of each."""
        done: list[tuple[Execution, int] | None] = [None, None]
        end = time.monotonic() + patience_s
        with self.watch:
            for i, box in enumerate(self.boxes):
                self.watch.register(box.fileno(), selectors.EVENT_READ, i)
            for lane in self.lanes:
                os.set_blocking(lane.source, False)
                os.set_blocking(lane.sink, False)
                self.watch.register(lane.source, selectors.EVENT_READ, lane)
            while None in done:
                if time.monotonic() > end:
                    raise BoxDied(f"no answer from two talking boxes in {patience_s:.0f} s")
                for key, events in self.watch.select(timeout=1.0):
                    if isinstance(key.data, int):
                        i = key.data
                        reply, fds = self.boxes[i].finish(GRACE_S)
                        side = sides[i]
                        seen = evidence.execution(reply, fds, side.limits, side.collect, piped=True)
                        done[i] = (seen, reply.end_ns)
                        self.watch.unregister(key.fileobj)
                    elif events & selectors.EVENT_READ and key.fd == key.data.source:
                        self._take(key.data)
                    elif key.fd == key.data.sink:
                        self._give(key.data)
        return [one for one in done if one is not None]

    def _take(self, lane: _Lane) -> None:
        try:
            data = os.read(lane.source, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._drop(lane, "source")
            if not lane.pending:
                self._drop(lane, "sink")
            return
        self._note(lane.name, data)
        lane.pending += data
        self._give(lane)
        if len(lane.pending) > PENDING and lane.source >= 0:
            self.watch.unregister(lane.source)  # its writer waits, as on any full pipe

    def _give(self, lane: _Lane) -> None:
        try:
            while lane.pending and lane.sink >= 0:
                del lane.pending[: os.write(lane.sink, lane.pending[:CHUNK])]
        except BlockingIOError:
            self._want_write(lane, True)
        except BrokenPipeError:  # nobody reads any more: the writer learns it on its next write
            self._drop(lane, "sink")
            self._drop(lane, "source")
            return
        if not lane.pending:
            self._want_write(lane, False)
            if lane.source < 0:
                self._drop(lane, "sink")
        paused = lane.source >= 0 and lane.source not in self.watch.get_map()
        if paused and len(lane.pending) <= PENDING:
            self.watch.register(lane.source, selectors.EVENT_READ, lane)

    def _want_write(self, lane: _Lane, wanted: bool) -> None:
        if lane.sink < 0 or wanted == (lane.sink in self.watch.get_map()):
            return
        if wanted:
            self.watch.register(lane.sink, selectors.EVENT_WRITE, lane)
        else:
            self.watch.unregister(lane.sink)

    def _drop(self, lane: _Lane, end: Literal["source", "sink"]) -> None:
        fd = getattr(lane, end)
        if fd < 0:
            return
        if fd in self.watch.get_map():
            self.watch.unregister(fd)
        os.close(fd)
        self.open_fds.discard(fd)
        setattr(lane, end, -1)

    def _note(self, name: Name, data: bytes) -> None:
        kept = data[: self.room]
        self.cut = self.cut or len(kept) < len(data)
        self.room -= len(kept)
        if not kept:
            return
        if self.transcript and self.transcript[-1][0] == name:
            self.transcript[-1] = (name, self.transcript[-1][1] + kept)
        else:
            self.transcript.append((name, kept))
