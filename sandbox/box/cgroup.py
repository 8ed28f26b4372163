"""The control group of one box: counts and limits CPU, memory and processes of a whole run.

A box process stays in its group for life; what was used by a run is the difference between
two reads of kept descriptors (3 µs), not a move per run (60 µs and more).

    v1   <hierarchy of each controller>/<own group>/gradebox-<pid>-<n>/
    v2   <own group>/gradebox-<pid>-<n>/          (the grader itself in …/gradebox-main)
         ├── box/         the box, and
         └── run-<n>/     the run at hand, where the kernel can't reset a group's peak
                          (before Linux 6.12); see leaf.c
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PREFIX = "gradebox-"
MAIN, BOX = f"{PREFIX}main", "box"
PATIENCE_S = 2.0  # for a group to be handed on while others in it start processes
_numbers = itertools.count()


class CgroupError(OSError):
    """No usable control group here; the message says which file refused."""


@dataclass
class Cgroup:
    """Kept descriptors of one group, and how to read them."""

    folders: tuple[Path, ...]
    version: int
    fds: dict[str, int] = field(default_factory=dict)

    @property
    def leaves(self) -> bool:
        """Whether every run gets a group of its own below this one."""
        return "leaves" in self.fds

    @property
    def cpu_key(self) -> str:
        return "" if self.version == 1 else "usage_usec "

    @property
    def cpu_unit_ns(self) -> int:
        return 1 if self.version == 1 else 1000

    def add(self, pid: int) -> None:
        """Puts a process, named by its pid on the host, into the group."""
        for folder in self.folders:
            _write((folder / BOX if self.leaves else folder) / "cgroup.procs", str(pid))

    def give(self, uid: int) -> None:
        """Lets the box, which has that uid on the host, make its runs' groups."""
        if self.leaves:
            for path in (self.folders[0], self.folders[0] / "cgroup.procs"):
                os.chown(path, uid, uid)

    def close(self) -> None:
        """Closes the descriptors and removes the group, waiting briefly for it to empty."""
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}
        for folder in self.folders:
            remove(folder)


def remove(folder: Path, patience_s: float = 1.0) -> bool:
    """Removes an empty group with those below it; False when processes are still in it after
    `patience_s`."""
    end = time.monotonic() + patience_s
    while True:
        try:
            for below in [*folder.glob("run-*"), folder / BOX]:
                with contextlib.suppress(FileNotFoundError):
                    below.rmdir()
            folder.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError:
            if time.monotonic() > end:
                return False
            time.sleep(0.002)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise CgroupError(error.errno, f"{path}: {error.strerror}") from error


def _own(controller: str) -> str | None:
    """This process's group in the v1 hierarchy of `controller` ("" for v2), or None."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if (controllers == "" and controller == "") or controller in controllers.split(","):
            return path
    return None


V1 = {  # controller → {role: (file, open flags)}
    "memory": {
        "mem": ("memory.usage_in_bytes", os.O_RDONLY),
        "peak": ("memory.max_usage_in_bytes", os.O_RDWR),
        "limit": ("memory.limit_in_bytes", os.O_RDWR),
        "oom": ("memory.oom_control", os.O_RDONLY),
    },
    "cpuacct": {"cpu": ("cpuacct.usage", os.O_RDONLY)},
    "pids": {
        "pids_max": ("pids.max", os.O_RDWR),
        "pids_event": ("pids.events", os.O_RDONLY),
    },
}
V2 = {
    "mem": ("memory.current", os.O_RDONLY),
    "limit": ("memory.max", os.O_RDWR),
    "oom": ("memory.events", os.O_RDONLY),
    "cpu": ("cpu.stat", os.O_RDONLY),
    "pids_max": ("pids.max", os.O_RDWR),
    "pids_event": ("pids.events", os.O_RDONLY),
}


def create() -> Cgroup:
    """A new group for one box, v1 or v2, whichever this machine has; else CgroupError."""
    name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    if all((ROOT / controller).is_dir() and _own(controller) for controller in V1):
        return _create_v1(name)
    return _create_v2(name)


def _open(group: Cgroup, folder: Path, files: dict[str, tuple[str, int]]) -> None:
    for role, (file, flags) in files.items():
        try:
            group.fds[role] = os.open(folder / file, flags | os.O_CLOEXEC)
        except OSError as error:
            raise CgroupError(error.errno, f"{folder / file}: {error.strerror}") from error


def _create_v1(name: str) -> Cgroup:
    parents = {c: ROOT / c / (_own(c) or "/").lstrip("/") for c in V1}
    group = Cgroup(tuple(parent / name for parent in parents.values()), 1)
    try:
        for controller, parent in parents.items():
            folder = parent / name
            try:
                folder.mkdir(mode=0o755)
            except OSError as error:
                raise CgroupError(error.errno, f"{folder}: {error.strerror}") from error
            _open(group, folder, V1[controller])
            if controller == "memory":
                with contextlib.suppress(OSError):  # no swap accounting: nothing to turn off
                    (folder / "memory.swappiness").write_text("0")
    except CgroupError:
        group.close()
        raise
    return group


def _create_v2(name: str) -> Cgroup:
    base = v2_base()
    group = Cgroup((base / name,), 2)
    try:
        try:
            group.folders[0].mkdir(mode=0o755)
        except OSError as error:
            raise CgroupError(error.errno, f"{group.folders[0]}: {error.strerror}") from error
        group.fds["peak"] = _peak_fd(group.folders[0])
        _open(group, group.folders[0], V2)
        with contextlib.suppress(OSError):
            (group.folders[0] / "memory.swap.max").write_text("0")
        if not _resets(group.fds["peak"]):
            _make_leaves(group)
    except CgroupError:
        group.close()
        raise
    return group


def _peak_fd(folder: Path) -> int:
    """memory.peak, for writing where the kernel has it so; Linux 5.19 brought it at all."""
    last = OSError()
    for flags in (os.O_RDWR, os.O_RDONLY):
        try:
            return os.open(folder / "memory.peak", flags | os.O_CLOEXEC)
        except OSError as error:
            last = error
    raise CgroupError(last.errno, f"{folder}/memory.peak: {last.strerror} (Linux 5.19 has it)")


def _resets(peak: int) -> bool:
    """Whether the kernel lets a peak start again: tried, not read from a version."""
    try:
        return os.pwrite(peak, b"0", 0) == 1
    except OSError:
        return False


def _make_leaves(group: Cgroup) -> None:
    folder = group.folders[0]
    try:
        (folder / BOX).mkdir(mode=0o755)
        group.fds["leaves"] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise CgroupError(error.errno, f"{folder}: {error.strerror}") from error
    _write(folder / "cgroup.subtree_control", "+memory")


def _v2_bases() -> list[Path]:
    """The v2 groups that boxes may go below, the best first: the grader's own (or what it left
    for gradebox-main), then, for root, the machine's."""
    own = _own("")
    if own is None or not (ROOT / "cgroup.controllers").exists():
        return []
    base = ROOT / own.lstrip("/")
    base = base.parent if base.name == MAIN else base
    return [base, ROOT] if os.geteuid() == 0 and base != ROOT else [base]


def v2_base() -> Path:
    """The v2 folder in which groups can be made, its controllers enabled."""
    failed = CgroupError(0, f"{ROOT}: neither the v1 controllers {', '.join(V1)} nor v2")
    for base in _v2_bases():
        try:
            return _enabled(base)
        except CgroupError as error:
            failed = error
    raise failed


def _enabled(base: Path) -> Path:
    wanted = {"memory", "pids"}  # every group has the CPU time it used, without the controller
    try:
        lacking = wanted - set((base / "cgroup.controllers").read_text().split())
        if lacking:
            raise CgroupError(0, f"{base}/cgroup.controllers: lacks {' '.join(sorted(lacking))}")
        if not wanted <= set((base / "cgroup.subtree_control").read_text().split()):
            _hand_on(base, wanted)
    except CgroupError:
        raise
    except OSError as error:
        raise CgroupError(error.errno, f"{base}: {error.strerror or error}") from error
    return base


def _hand_on(base: Path, wanted: set[str]) -> None:
    """Enables the controllers below `base`. A group that has processes of its own can't (but
    for the machine's root): then they move into gradebox-main below it."""
    text = " ".join(f"+{controller}" for controller in sorted(wanted))
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            _write(base / "cgroup.subtree_control", text)
            return
        except CgroupError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                raise
        main = base / MAIN
        try:
            main.mkdir(exist_ok=True)
        except OSError as error:
            raise CgroupError(error.errno, f"{main}: {error.strerror}") from error
        for pid in (base / "cgroup.procs").read_text().split():
            try:
                _write(main / "cgroup.procs", pid)
            except CgroupError as error:
                if error.errno != errno.ESRCH:  # it ended meanwhile
                    raise


def stale() -> Iterator[Path]:
    """Groups left by graders that no longer live (killed with SIGKILL)."""
    bases = []
    for controller in V1:
        own = _own(controller)
        if own is not None and (ROOT / controller).is_dir():
            bases.append(ROOT / controller / own.lstrip("/"))
    bases += _v2_bases()
    for base in bases:
        for folder in base.glob(f"{PREFIX}[0-9]*-[0-9]*"):
            pid = folder.name[len(PREFIX) :].split("-")[0]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                yield folder
