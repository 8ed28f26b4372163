"""Anonymous files: contents travel to a box as descriptors, never as paths."""

from __future__ import annotations

import os

from gradebox.sandbox.errors import SandboxError

CHUNK = 1 << 30


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write all of the data, in as many system calls as it takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:CHUNK]) :]


def read_all(fd: int, size: int) -> bytes:
    """Return the first `size` bytes of a file, fewer when it is shorter; its offset is ignored."""
    parts = []
    at = 0
    while at < size:
        part = os.pread(fd, size - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def memory_file(data: bytes | memoryview) -> int:
    """Return a descriptor, at offset 0, of an anonymous file with these contents.

    Raises SandboxError when the machine has no memory for it.
    """
    try:
        fd = os.memfd_create("gradebox", os.MFD_CLOEXEC)
    except OSError as error:
        raise SandboxError(f"memfd_create: {error.strerror}") from error
    try:
        write_all(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError as error:
        os.close(fd)
        raise SandboxError(f"no memory for {len(data)} bytes: {error.strerror}") from error
    return fd
