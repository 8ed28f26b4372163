"""The control group of one box: counts and limits CPU, memory and processes of a whole run.

A box process stays in its group for life; what was used by a run is the difference between
two reads of kept descriptors (3 µs), not a move per run (60 µs and more).

    v1   <hierarchy of each controller>/<own group>/gradebox-<pid>-<n>/
    v2   <own group>/gradebox-<pid>-<n>/          (the grader itself in …/gradebox-main)
"""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PREFIX = "gradebox-"
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
    def cpu_key(self) -> str:
        return "" if self.version == 1 else "usage_usec "

    @property
    def cpu_unit_ns(self) -> int:
        return 1 if self.version == 1 else 1000

    def add(self, pid: int) -> None:
        """Puts a process, named by its pid on the host, into the group."""
        for folder in self.folders:
            _write(folder / "cgroup.procs", str(pid))

    def close(self) -> None:
        """Closes the descriptors and removes the group, waiting briefly for it to empty."""
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}
        for folder in self.folders:
            remove(folder)


def remove(folder: Path, patience_s: float = 1.0) -> bool:
    """Removes an empty group; False when processes are still in it after `patience_s`."""
    end = time.monotonic() + patience_s
    while True:
        try:
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
    "peak": ("memory.peak", os.O_RDWR),
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
        _open(group, group.folders[0], V2)
        with contextlib.suppress(OSError):
            (group.folders[0] / "memory.swap.max").write_text("0")
    except CgroupError:
        group.close()
        raise
    return group


def v2_base() -> Path:
    """The v2 folder in which groups can be made, its controllers enabled."""
    own = _own("")
    if own is None or not (ROOT / "cgroup.controllers").exists():
        raise CgroupError(0, f"{ROOT}: neither the v1 controllers {', '.join(V1)} nor v2")
    base = ROOT / own.lstrip("/")
    if base.name == f"{PREFIX}main":
        return base.parent
    wanted = {"cpu", "memory", "pids"}
    have = set((base / "cgroup.controllers").read_text().split())
    if not wanted <= have:
        raise CgroupError(0, f"{base}/cgroup.controllers: lacks {' '.join(sorted(wanted - have))}")
    enabled = set((base / "cgroup.subtree_control").read_text().split())
    if wanted <= enabled:
        return base
    if base != ROOT:  # a group with processes can't hand controllers on: the grader moves down
        main = base / f"{PREFIX}main"
        main.mkdir(exist_ok=True)
        for pid in (base / "cgroup.procs").read_text().split():
            with contextlib.suppress(CgroupError):
                _write(main / "cgroup.procs", pid)
    _write(base / "cgroup.subtree_control", " ".join(f"+{c}" for c in sorted(wanted)))
    return base


def stale() -> Iterator[Path]:
    """Groups left by graders that no longer live (killed with SIGKILL)."""
    bases = []
    for controller in V1:
        own = _own(controller)
        if own is not None and (ROOT / controller).is_dir():
            bases.append(ROOT / controller / own.lstrip("/"))
    own = _own("")
    if own is not None and (ROOT / "cgroup.controllers").exists():
        bases.append(ROOT / own.lstrip("/"))
    for base in bases:
        for folder in base.glob(f"{PREFIX}[0-9]*-[0-9]*"):
            pid = folder.name[len(PREFIX) :].split("-")[0]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                yield folder
