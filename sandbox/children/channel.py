"""A channel between a process and its child: whole messages of bytes, and open files.

Messages are framed by `multiprocessing.connection`. What they mean is up to the two ends: JSON
where a child has read hostile text, pickles only between processes that trust each other.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
from multiprocessing.connection import Connection

_CLOSE_ON_EXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0x40000000)


class Channel:
    """One end, a connected stream socket. Any thread may send; one thread receives.

    Every method but the last two raises OSError, or EOFError, when the other end is gone.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._socket = sock
        self._connection = Connection(os.dup(sock.fileno()))
        self._sending = threading.Lock()
        self._poller = select.poll()  # Connection.poll makes one for each call: 10 µs
        self._poller.register(sock, select.POLLIN)

    def send(self, message: bytes, fd: int | None = None) -> None:
        """Send a message whole; `fd`: and an open descriptor, for `receive_fd`."""
        with self._sending:
            self._connection.send_bytes(message)
            if fd is not None:
                socket.send_fds(self._socket, [b"\0"], [fd])

    def poll(self, wait_s: float) -> bool:
        """Wait for a message, or the end; return whether there is one."""
        return bool(self._poller.poll(wait_s * 1000))

    def receive(self, most: int | None = None) -> bytes:
        """Wait for a message; one of more than `most` bytes raises OSError."""
        return self._connection.recv_bytes(most)

    def receive_fd(self) -> int:
        """Return the descriptor that was sent with the message received last."""
        _, fds, _, _ = socket.recv_fds(self._socket, 1, 1, _CLOSE_ON_EXEC)
        if not fds:
            raise EOFError
        return fds[0]

    def fileno(self) -> int:
        """Return the socket's descriptor; -1 once it is closed."""
        return self._socket.fileno()

    def shutdown(self) -> None:
        """Let both ends find the end of the channel."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close this end; a second call has no effect."""
        self._socket.close()
        self._connection.close()


def blocking_pair(kind: int = socket.SOCK_STREAM) -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that block, whatever `socket.setdefaulttimeout` was set to.

    With a default time-out new sockets are non-blocking, and the process that inherits one would
    find nothing to read and end.
    """
    pair = socket.socketpair(socket.AF_UNIX, kind)
    for end in pair:
        end.settimeout(None)
    return pair
