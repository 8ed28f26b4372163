"""Anonymous files: contents travel to a box as descriptors, never as paths."""

from __future__ import annotations

import fcntl
import os

from gradebox.sandbox.errors import SandboxError

CHUNK = 1 << 30
UNCHANGEABLE = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


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

    It is for reading, and nobody can change the file: a program that opens its input again for
    writing could keep memory in it that no limit counts, and would change it for a second attempt.

    Raises SandboxError when the machine has no memory for it.
    """
    try:
        fd = os.memfd_create("gradebox", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError as error:
        raise SandboxError(f"memfd_create: {error.strerror}") from error
    try:
        write_all(fd, data)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, UNCHANGEABLE)
        return os.open(f"/proc/self/fd/{fd}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise SandboxError(f"no memory for {len(data)} bytes: {error.strerror}") from error
    finally:
        os.close(fd)
