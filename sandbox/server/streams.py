"""The three streams of a program that is run interactively, as an event loop sees them.

Feed ──▶ stdin     pipes, whose far ends the program receives over `line` before it starts
forward ◀── stdout, stderr
"""

from __future__ import annotations

import array
import asyncio
import codecs
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable

from gradebox.sandbox.children.channel import blocking_pair
from gradebox.sandbox.errors import BadRequest

PENDING_BYTES = 16 << 20  # input that the program has not read yet
PIECE_BYTES = 64 << 10

# Add or remove a callback for a descriptor that can be read or written.
Watch = Callable[..., object]


class Streams:
    """Three pipes. `line` is the socket for the program, which finds their far ends there."""

    def __init__(self) -> None:
        (stdin, self.stdin), (self.stdout, stdout), (self.stderr, stderr) = (
            os.pipe2(os.O_CLOEXEC) for _ in range(3)
        )
        theirs = [stdin, stdout, stderr]
        ours, self.line = blocking_pair(socket.SOCK_STREAM)
        try:
            for fd in theirs:  # a program with another user id may open /dev/stdin again
                os.fchmod(fd, 0o666)
            rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", theirs))
            ours.sendmsg([b"\0"], [rights])
            for fd in (self.stdin, self.stdout, self.stderr):
                os.set_blocking(fd, False)
        finally:
            ours.close()  # what was sent stays in `line`
            for fd in theirs:
                os.close(fd)

    def close_stdin(self) -> None:
        """Close our end of stdin: the program reads the end of the file."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Close our ends, and `line` if no program has received them; again without effect."""
        self.line.close()
        self.close_stdin()
        for fd in (self.stdout, self.stderr):
            if fd >= 0:
                os.close(fd)
        self.stdout = self.stderr = -1


class Feed:
    """Input on its way to a program: it is kept until the program takes it, and may come early."""

    def __init__(self) -> None:
        self._waiting = bytearray()
        self._ended = False
        self._news = asyncio.Event()

    def add(self, data: bytes) -> None:
        """Add input. Raises BadRequest when the program leaves too much unread."""
        if len(self._waiting) + len(data) > PENDING_BYTES:
            raise BadRequest(
                f"the program has over {PENDING_BYTES} bytes of input that it does not read"
            )
        if not self._ended:
            self._waiting += data
            self._news.set()

    def end(self) -> None:
        """Add the end of the input."""
        self._ended = True
        self._news.set()

    async def write_to(self, streams: Streams) -> None:
        """Write the input to a program, until its end or until the program reads no more."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                while self._waiting:
                    try:
                        written = os.write(streams.stdin, self._waiting[:PIECE_BYTES])
                        del self._waiting[:written]
                    except BlockingIOError:
                        await _ready(streams.stdin, loop.add_writer, loop.remove_writer)
                if self._ended:
                    break
                self._news.clear()
                await self._news.wait()
        except BrokenPipeError:
            self._waiting.clear()
            self._ended = True
        streams.close_stdin()


async def forward(fd: int, send: Callable[[str], Awaitable[None]], most: int) -> bool:
    """Send what comes from a descriptor as text, until its end; False after `most` bytes."""
    loop = asyncio.get_running_loop()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    total = 0
    while True:
        try:
            piece = os.read(fd, PIECE_BYTES)
        except BlockingIOError:
            await _ready(fd, loop.add_reader, loop.remove_reader)
            continue
        total += len(piece)
        text = decoder.decode(piece[: max(0, most - (total - len(piece)))], final=not piece)
        if text:
            await send(text)
        if total > most or not piece:
            return total <= most


async def _ready(fd: int, add: Watch, remove: Watch) -> None:
    ready = asyncio.get_running_loop().create_future()

    def wake() -> None:
        with contextlib.suppress(asyncio.InvalidStateError):
            ready.set_result(None)

    add(fd, wake)
    try:
        await ready
    finally:
        remove(fd)
