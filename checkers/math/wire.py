"""Frames between the caller and a worker: four bytes of length, then JSON.

JSON, because a worker has read hostile text: nothing it sends can make the caller do more
than read a true, a false and a short string.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

LARGEST_REPLY = 64 * 1024
LARGEST_REQUEST = 16 * 1024 * 1024
_HEAD = struct.Struct("!I")


class Closed(ConnectionError):
    """The other side ended."""


def send(sock: socket.socket, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode()
    sock.sendall(_HEAD.pack(len(data)) + data)


def receive(sock: socket.socket, largest: int) -> dict[str, Any]:
    """The next message; Closed at the end, or for a frame that is too long or no object."""
    (size,) = _HEAD.unpack(_exactly(sock, _HEAD.size))
    if size > largest:
        raise Closed(f"a frame of {size} bytes, the limit is {largest}")
    try:
        message = json.loads(_exactly(sock, size))
    except (ValueError, RecursionError) as e:
        raise Closed(f"a frame that is no JSON: {e}") from None
    if not isinstance(message, dict):
        raise Closed("a frame that is no JSON object")
    return message


def _exactly(sock: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = sock.recv(size - len(data))
        if not part:
            raise Closed("the other side ended")
        data += part
    return data
