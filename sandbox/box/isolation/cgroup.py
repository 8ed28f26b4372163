"""The control group of a box: counts and limits the CPU time, memory and processes of a run.

A box process stays in its group for life. What a run used is the difference between two reads of
open descriptors (3 µs); moving a process for each run would cost 60 µs and more.

    v1   <hierarchy of each controller>/<own group>/gradebox-<pid>-<n>/
    v2   <own group>/gradebox-<pid>-<n>/          (the grader itself is in …/gradebox-main)
         ├── box/         the box
         └── run-<n>/     the current run, where the kernel cannot reset a group's peak
                          (before Linux 6.12); see c/run_group.c

    /proc/self/cgroup      4:memory:/docker/ab12            its group, as named in the hierarchy
    /proc/self/mountinfo   … /docker/ab12 /sys/fs/cgroup/memory … - cgroup …    the part that is
                           mounted (here the group itself), and where

A container often has only its own group mounted, so that the group's path does not exist below the
mount point.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import time
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PREFIX = "gradebox-"
MAIN, BOX = f"{PREFIX}main", "box"
TIMEOUT_S = 2.0  # for moving processes out of a group while others in it start new ones
END_S = 20.0  # for processes that were killed: with 20 others on its core, a box took over 1 s
IN_USE = (errno.EBUSY, errno.ENOTEMPTY)  # by processes, or by groups below
_numbers = itertools.count()


@dataclass
class Cgroup:
    """One group: its folders, and open descriptors of its files by role."""

    folders: tuple[Path, ...]
    version: int
    fds: dict[str, int] = field(default_factory=dict)

    @property
    def run_groups(self) -> bool:
        """Whether every run gets a group of its own below this one."""
        return "run_groups" in self.fds

    @property
    def cpu_key(self) -> str:
        return "" if self.version == 1 else "usage_usec "

    @property
    def cpu_unit_ns(self) -> int:
        return 1 if self.version == 1 else 1000

    def add(self, pid: int) -> None:
        """Move a process, given its pid on the host, into the group."""
        for folder in self.folders:
            _write((folder / BOX if self.run_groups else folder) / "cgroup.procs", str(pid))

    def give(self, uid: int) -> None:
        """Allow the box, which has that uid on the host, to make groups for its runs."""
        if self.run_groups:
            for path in (self.folders[0], self.folders[0] / "cgroup.procs"):
                os.chown(path, uid, uid)

    def oom_kills(self) -> int:
        """Return how many of its processes the kernel has ended because memory was short."""
        text = os.pread(self.fds["oom"], 4096, 0)
        return int(text.partition(b"oom_kill ")[2].split(b"\n")[0])

    def close(self, *, ours: bool = True) -> None:
        """Close the descriptors; remove the group if it is ours, when its processes have ended."""
        for fd in self.fds.values():
            os.close(fd)
        self.fds = {}
        for folder in self.folders if ours else ():
            remove(folder)


def remove(folder: Path, timeout_s: float = END_S) -> bool:
    """Remove a group and those below it. Return False when it is still there.

    Only a group in use is waited for: in a container, all of them may be read-only. The box's own
    group comes first: while that is in use, the groups of its runs stay.
    """
    end = time.monotonic() + timeout_s
    while True:
        try:
            for below in [folder / BOX, *folder.glob("run-*")]:
                with contextlib.suppress(FileNotFoundError):
                    below.rmdir()
            folder.rmdir()
            return True
        except FileNotFoundError:
            return True
        except OSError as error:
            if error.errno not in IN_USE or time.monotonic() > end:
                return False
            time.sleep(0.002)


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise OSError(error.errno, f"{path}: {error.strerror}") from error


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
    """Make a group for one box, v1 or v2. Raises OSError when neither is usable."""
    name = f"{PREFIX}{os.getpid()}-{next(_numbers)}"
    parents = [folder for controller in V1 if (folder := own_folder(controller)) is not None]
    version = 1 if len(parents) == len(V1) else 2
    if version == 2:
        parents = [_v2_base()]
    group = Cgroup(tuple(parent / name for parent in parents), version)
    files = V1.values() if version == 1 else [V2]
    try:
        for folder, roles in zip(group.folders, files, strict=True):
            folder.mkdir(mode=0o755)
            for role, (file, flags) in roles.items():
                group.fds[role] = os.open(folder / file, flags | os.O_CLOEXEC)
            for file in ("memory.swappiness", "memory.swap.max"):  # without swap accounting: none
                with contextlib.suppress(OSError), (folder / file).open("r+") as setting:
                    setting.write("0")
        if version == 2:
            _prepare_peak(group)
    except OSError:
        group.close()
        raise
    return group


def _prepare_peak(group: Cgroup) -> None:
    """Open memory.peak (Linux 5.19 and newer); where it can't be reset, let runs have own groups.

    The kernel can reset a peak if it allows to: it is tried, not told from its version.
    """
    folder = group.folders[0]
    path = folder / "memory.peak"
    try:
        group.fds["peak"] = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        if os.pwrite(group.fds["peak"], b"0", 0) == 1:
            return
    except FileNotFoundError as error:
        raise OSError(error.errno, f"{path}: {error.strerror} (needs Linux 5.19)") from error
    except OSError:
        if "peak" not in group.fds:
            group.fds["peak"] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    (folder / BOX).mkdir(mode=0o755)
    group.fds["run_groups"] = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    _write(folder / "cgroup.subtree_control", "+memory")


def _v2_bases() -> list[Path]:
    """Return the v2 groups that boxes may be created in, best first.

    They are the grader's own group (its parent, once the grader is in gradebox-main) and, for root,
    the machine's root group.
    """
    base = own_folder("")
    if base is None or not (ROOT / "cgroup.controllers").exists():
        return []
    base = base.parent if base.name == MAIN else base
    return [base, ROOT] if os.geteuid() == 0 and base != ROOT else [base]


def _v2_base() -> Path:
    """Return the v2 folder in which groups can be made; enable its controllers."""
    wanted = {"memory", "pids"}  # CPU time is counted without its controller
    failed = OSError(0, f"{ROOT}: has neither the v1 controllers {', '.join(V1)} nor v2")
    for base in _v2_bases():
        try:
            lacking = wanted - set((base / "cgroup.controllers").read_text().split())
            if lacking:
                raise OSError(0, f"{base}/cgroup.controllers: lacks {' '.join(sorted(lacking))}")
            if not wanted <= set((base / "cgroup.subtree_control").read_text().split()):
                _enable_controllers(base, wanted)
            return base
        except OSError as error:
            failed = error
    raise failed


def _enable_controllers(base: Path, wanted: set[str]) -> None:
    """Enable the controllers below `base`.

    The kernel refuses that for a group with processes of its own (but the machine's root group):
    then these are moved into gradebox-main below it.
    """
    text = " ".join(f"+{controller}" for controller in sorted(wanted))
    end = time.monotonic() + TIMEOUT_S
    while True:
        try:
            _write(base / "cgroup.subtree_control", text)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > end:
                raise
        main = base / MAIN
        main.mkdir(exist_ok=True)
        for pid in (base / "cgroup.procs").read_text().split():
            try:
                _write(main / "cgroup.procs", pid)
            except OSError as error:
                if error.errno != errno.ESRCH:  # it ended meanwhile
                    raise


def remove_abandoned() -> None:
    """Remove the groups of graders that were killed with SIGKILL."""
    bases = [base for controller in V1 if (base := own_folder(controller)) is not None]
    for base in (*bases, *_v2_bases()):
        for folder in base.glob(f"{PREFIX}[0-9]*-[0-9]*"):
            pid = folder.name[len(PREFIX) :].split("-")[0]
            if pid.isdigit() and not Path(f"/proc/{pid}").exists():
                remove(folder, timeout_s=0)


# ---- where this process's groups are mounted ----

PROC = Path("/proc/self")


def own_folder(controller: str) -> Path | None:
    """Return the folder of this process's group in a controller's v1 hierarchy, "" for v2.

    None when the process has no such group or it is not in what is mounted.
    """
    group = None
    for line in (PROC / "cgroup").read_text("utf-8", "surrogateescape").splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            group = group or path
    if group is None:
        return None
    for line in (PROC / "mountinfo").read_text("utf-8", "surrogateescape").splitlines():
        left, _, right = line.partition(" - ")
        mounted, place = map(_unescaped, left.split()[3:5])
        kind, _, options = right.split(" ", 2)
        of_controller = kind == "cgroup" and controller in options.split(",")
        if of_controller if controller else kind == "cgroup2":
            top = mounted.rstrip("/") + "/"
            below = group[len(top) :]  # with ".." it is outside what this namespace shows
            if group == mounted or (group.startswith(top) and not below.startswith("..")):
                return Path(place) / below
    return None


def _unescaped(text: str) -> str:
    """Undo the octal escapes of mountinfo."""
    for code in ("040", "011", "012", "134"):  # the backslash last
        text = text.replace(f"\\{code}", chr(int(code, 8)))
    return text
