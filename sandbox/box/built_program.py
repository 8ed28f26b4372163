"""What a box runs: a program as it is after compiling, held in memory.

Contents travel to a box as descriptors of anonymous files, never as paths.
"""

from __future__ import annotations

import errno
import fcntl
import os
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradebox.sandbox.box.build import launcher
from gradebox.sandbox.box.isolation.host import has_ids
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.languages import fill, memory_places
from gradebox.sandbox.model import MIB

PROGRAM = "{program}"  # in a command: the folder of the program's files, which differs by box
MFD_EXEC = 0x10


class Executable:
    """A file that is executed by its descriptor, shared by all boxes, and cannot be changed.

    It is closed with the last reference to it.

    in_memory  never on a disk, where Landlock allows execution only in listed folders
    """

    def __init__(self, data: bytes, *, in_memory: bool = False) -> None:
        self.size = len(data)
        # Where programs are another user, the mode protects the file. A file in the page
        # cache of a disk is mapped in larger pieces than a memory file: 30 µs of a start of 450.
        on_disk = self._on_disk() if not in_memory and has_ids(namespaces=True) else None
        writable = self._in_memory() if on_disk is None else on_disk
        try:
            write_all(writable, data)
            os.fchmod(writable, 0o555)
            if on_disk is None:  # a program of the same user could make the file writable again
                fcntl.fcntl(writable, fcntl.F_ADD_SEALS, UNCHANGEABLE)
            self.fd = os.open(f"/proc/self/fd/{writable}", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            more = ": raise the file size limit (ulimit -f)" if error.errno == errno.EFBIG else ""
            why = f"cannot hold a program of {self.size} bytes: {error.strerror}{more}"
            raise SandboxError(why) from error
        finally:
            os.close(writable)
        self.close = weakref.finalize(self, os.close, self.fd)  # earlier than that; once
        self.close.atexit = False

    @staticmethod
    def _on_disk() -> int | None:
        """Open a nameless file beside the launcher, on a file system that allows execution."""
        try:
            return os.open(launcher().parent, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o500)
        except OSError:
            return None

    @staticmethod
    def _in_memory() -> int:
        for flags in (MFD_EXEC, 0):
            try:
                return os.memfd_create("program", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flags)
            except OSError as error:  # kernels before 6.3 refuse MFD_EXEC
                last = error
        raise SandboxError(f"memfd_create: {last.strerror}")


@dataclass(frozen=True)
class ForkedStart:
    """How a Python program starts by fork.

    imports   what the program imports at its top level, one statement per line (python/prelude.py)
    code      the compiled program; empty: the interpreter compiles the source in each run
    prologue  Python code that a run executes before the program
    compile_s CPU time of compiling
    """

    imports: str = ""
    code: bytes = b""
    prologue: str = ""
    compile_s: float = 0.0


@dataclass
class BuiltProgram:
    """A compiled program of the embedded box.

    argv        the command; arguments of a run follow it
    digest      identifies the program, with its files
    executable  what is executed, by descriptor; None: the first word of the command, by path
    files       files in the program's folder, by name
    processes   processes and threads that its runtime needs besides the program's own
    fork        how it starts by fork; None: it is executed
    """

    argv: tuple[str, ...]
    digest: str
    executable: Executable | None = None
    files: Mapping[str, bytes] = field(default_factory=dict)
    processes: int = 0
    fork: ForkedStart | None = None

    def command(
        self, program: str, args: Sequence[str] = (), memory_bytes: int = 256 * MIB
    ) -> list[str]:
        """Return the command with its arguments.

        program       folder of the program's files, as the box sees it
        memory_bytes  memory limit of the run, for the arguments of runtimes
        """
        places = {PROGRAM: program, **memory_places(memory_bytes)}
        return [*(fill(part, places) for part in self.argv), *args]

    @property
    def size(self) -> int:
        """Bytes it holds in memory."""
        own = self.executable.size if self.executable else 0
        code = len(self.fork.code) if self.fork else 0
        return own + code + sum(len(data) for data in self.files.values())


# ---- anonymous files ----

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
