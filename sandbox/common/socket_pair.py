"""Socket pairs to helper processes."""

from __future__ import annotations

import socket


def blocking_pair(kind: int = socket.SOCK_STREAM) -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets that block, whatever `socket.setdefaulttimeout` was set to.

    With a default time-out new sockets are non-blocking, and the process that inherits one would
    find nothing to read and end.
    """
    pair = socket.socketpair(socket.AF_UNIX, kind)
    for end in pair:
        end.settimeout(None)
    return pair
