"""Counts on the grader's side before and after an attack, and the targets of attacks."""

import gc
import os
import socket
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path

LEFT = ("/tmp/left", "/tmp/.x", "/dev/shm/left", "/var/tmp/gbx-left", "/gbx", "/tmp/gbx")


@dataclass(frozen=True)
class Counts:
    """Numbers of resources that the grader holds or that an attack left."""

    descriptors: int
    processes: int
    mounts: int
    groups: int
    folders: int
    files: int

    def grew_from(self, before: "Counts") -> bool:
        """Return whether any count is higher.

        A lower count is not a leak: a box that the kernel killed for its group's memory is
        replaced, together with the idle ones, when it is needed.
        """
        return any(getattr(self, f.name) > getattr(before, f.name) for f in fields(self))


def children(pid: int) -> set[int]:
    """Return all descendants of a process."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(entry.name))
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in parents.get(waiting.pop(), ()):
            found.add(child)
            waiting.append(child)
    return found


def wait_until_gone(pids: Iterable[int], timeout_s: float = 60.0) -> None:
    """Wait until none of the processes runs; raise TimeoutError when some still do.

    One that has ended and that nobody has waited for is gone.
    """
    end = time.monotonic() + timeout_s
    while left := [pid for pid in pids if is_running(pid)]:
        if time.monotonic() > end:
            raise TimeoutError(f"processes {left} still run")
        time.sleep(0.01)


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def cgroups(pid: int | None = None) -> list[Path]:
    """Return the control groups made by a process, without those of other graders."""
    name = f"gradebox-{pid or os.getpid()}-"
    return [
        Path(folder, one)
        for folder, folders, _ in os.walk("/sys/fs/cgroup")
        for one in folders
        if one.startswith(name)
    ]


def count() -> Counts:
    """Return the current counts."""
    return Counts(
        len(list(Path("/proc/self/fd").iterdir())),
        len(children(os.getpid())),
        mounts(),
        len(cgroups()) if os.geteuid() == 0 else 0,
        len(list(Path(tempfile.gettempdir()).glob(f"gradebox-folder-{os.getpid()}-*"))),
        sum(os.path.lexists(path) for path in LEFT),
    )


def grown(before: Counts, timeout_s: float = 20.0) -> Counts | None:
    """Return the counts now if they stay higher than before.

    The kernel needs a moment to remove a process that was killed.
    """
    end = time.monotonic() + timeout_s
    while (now := count()).grew_from(before):
        if time.monotonic() > end:
            return now
        gc.collect()
        time.sleep(0.01)
    return None


def mounts() -> int:
    """Count the mounts that leaked from a box; their source or their path shows it."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    places = ("/box", "/new", "/old", "/program")
    return sum(
        line.split()[4].startswith(places) or line.partition(" - ")[2].split()[1] == "box"
        for line in lines
    )


@dataclass(frozen=True)
class Bait:
    """Targets of attacks: a file with a secret, listening sockets."""

    secret: Path
    word: bytes
    socket: Path
    abstract: str
    datagrams: Path

    def fill(self, argument: str) -> list[str]:
        """Return the arguments of an attack."""
        table = {
            "{secret}": [str(self.secret)],
            "{grader}": [str(os.getpid())],
            "{socket}": ["path", str(self.socket)],
            "{abstract}": ["abstract", self.abstract],
            "{datagrams}": [str(self.datagrams)],
            "": [],
        }
        return table.get(argument, [argument])


@contextmanager
def bait(folder: Path) -> Iterator[Bait]:
    """Make the targets in a folder."""
    word = b"secret-" + os.urandom(12).hex().encode()
    secret = folder / "expected.txt"
    secret.write_bytes(word)
    secret.chmod(0o644)
    with suppress(OSError):  # not every file system has attributes
        os.setxattr(secret, "user.note", word)
    name = f"gbx-{os.getpid()}-{os.urandom(4).hex()}"
    targets = Bait(secret, word, folder / "s", name, folder / "d")
    with (
        socket.socket(socket.AF_UNIX) as one,
        socket.socket(socket.AF_UNIX) as two,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as three,
    ):
        three.bind(str(targets.datagrams))
        targets.datagrams.chmod(0o777)
        one.bind(str(targets.socket))
        targets.socket.chmod(0o777)
        two.bind("\0" + targets.abstract)
        one.listen()
        two.listen()
        yield targets
