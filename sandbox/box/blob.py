"""Bytes behind a descriptor: how contents travel to a box without a path."""

from __future__ import annotations

import fcntl
import os
import threading

from sandbox.box.build import launcher
from sandbox.errors import SandboxError

MFD_EXEC = 0x10
UNCHANGEABLE = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
CHUNK = 1 << 30


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Writes everything, whatever single writes take."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:CHUNK]) :]


def read_all(fd: int, size: int) -> bytes:
    """The first `size` bytes, wherever the descriptor stands; fewer when there are fewer."""
    parts = []
    at = 0
    while at < size:
        part = os.pread(fd, size - at, at)
        if not part:
            break
        parts.append(part)
        at += len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def memory_file(data: bytes | memoryview, name: str = "gradebox") -> int:
    """A descriptor at offset 0 of an anonymous file that holds `data`."""
    try:
        fd = os.memfd_create(name, os.MFD_CLOEXEC)
    except OSError as error:
        raise SandboxError(f"memfd_create: {error.strerror}") from error
    try:
        write_all(fd, data)
        os.lseek(fd, 0, os.SEEK_SET)
    except OSError as error:
        os.close(fd)
        raise SandboxError(f"no memory for {len(data)} bytes: {error.strerror}") from error
    return fd


class Executable:
    """A program file that can be executed by its descriptor and changed by nobody.

    Shared by every box; `close` may be called by each holder of a reference taken
    with `hold`, the last one frees it.

    in_memory   not on a disk: Landlock lets nothing be executed there but what it was told of
    """

    def __init__(self, data: bytes, *, in_memory: bool = False) -> None:
        self.size = len(data)
        # As root programs are another user, whom the mode holds off; a file of the disk's cache
        # is mapped in larger pieces than one of memory: 30 µs of a start of 450.
        on_disk = None if in_memory or os.geteuid() else self._on_disk()
        writable = self._in_memory() if on_disk is None else on_disk
        try:
            write_all(writable, data)
            os.fchmod(writable, 0o555)
            if on_disk is None:  # here a program under the same user could take the right back
                fcntl.fcntl(writable, fcntl.F_ADD_SEALS, UNCHANGEABLE)
            self.fd = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SandboxError(f"cannot hold a program of {self.size} bytes: {error}") from error
        finally:
            os.close(writable)
        self._holders = 1
        self._lock = threading.Lock()

    @staticmethod
    def _on_disk() -> int | None:
        """A nameless file where the launcher lies, which is a place programs are started from."""
        try:
            return os.open(launcher().parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o500)
        except OSError:
            return None

    @staticmethod
    def _in_memory() -> int:
        for flags in (MFD_EXEC, 0):
            try:
                return os.memfd_create("program", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flags)
            except OSError as error:  # an older kernel does not know MFD_EXEC
                last = error
        raise SandboxError(f"memfd_create: {last.strerror}")

    def hold(self) -> bool:
        """One more holder; False when it was freed already."""
        with self._lock:
            if self._holders:
                self._holders += 1
                return True
            return False

    def close(self) -> None:
        """One holder fewer; the last frees it, further calls are harmless."""
        with self._lock:
            if self._holders:
                self._holders -= 1
                if not self._holders:
                    os.close(self.fd)
