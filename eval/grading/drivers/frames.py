"""Messages on a socket: a length of four bytes, then a pickle; a descriptor may come with it.

Both ends are processes of this user that run this code. Programs never have the socket: it is
closed on exec, and boxes get their own descriptors only.
"""

from __future__ import annotations

import array
import contextlib
import os
import pickle
import socket
import struct
import threading
from collections import deque
from typing import Any

_LENGTH = struct.Struct("<I")
_READ_BYTES = 1 << 18
_FDS = socket.CMSG_SPACE(16 * array.array("i").itemsize)


class Frames:
    """One end of a connection. Any thread may send; one thread receives.

    fds  received descriptors that no message has taken yet, oldest first
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._sending = threading.Lock()
        self._buffer = bytearray()
        self.fds: deque[int] = deque()

    def send(self, message: Any, fd: int | None = None) -> None:
        """Send a message whole. Raises OSError when the other end is gone."""
        body = pickle.dumps(message, 5)
        data = memoryview(_LENGTH.pack(len(body)) + body)
        with self._sending:
            if fd is not None:
                data = data[socket.send_fds(self._socket, [data], [fd]) :]
            if data:
                self._socket.sendall(data)

    def receive(self) -> list[Any] | None:
        """Wait for data; return the messages that are complete, None at the end."""
        try:
            data, ancillary, _, _ = self._socket.recvmsg(_READ_BYTES, _FDS, _CLOSE_ON_EXEC)
        except ConnectionError:
            return None
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                found = array.array("i")
                found.frombytes(content[: len(content) - len(content) % found.itemsize])
                self.fds.extend(found)
        if not data:
            return None
        self._buffer += data
        return self._take_complete()

    def _take_complete(self) -> list[Any]:
        messages, start, buffer = [], 0, self._buffer
        while len(buffer) - start >= _LENGTH.size:
            end = start + _LENGTH.size + _LENGTH.unpack_from(buffer, start)[0]
            if len(buffer) < end:
                break
            with memoryview(buffer) as view:
                messages.append(pickle.loads(view[start + _LENGTH.size : end]))
            start = end
        del buffer[:start]
        return messages

    def fileno(self) -> int:
        """Return the socket's descriptor; -1 once it is closed."""
        return self._socket.fileno()

    def shutdown(self) -> None:
        """Let the other end, and a thread that receives here, find the end of the connection."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket and the descriptors that were not taken."""
        self._socket.close()
        while self.fds:
            os.close(self.fds.popleft())


_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0x40000000)
