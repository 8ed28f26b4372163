"""The plan of a box: everything it is built with, as data; its file system as steps.

/                read-only; of the host, only what is listed here
├── usr/{bin,lib,…}  the host's, read-only, and the folders of the toolchains
├── etc/         a passwd with one user, the linker's cache
├── dev/         null zero full random urandom; shm → /box/shm
├── proc/        own processes only
├── program/     the program's files, read-only (the box writes through a private view)
├── tmp → /box/tmp
└── box/         the only writable folder, a tmpfs: fresh for every run
    ├── work/    the working folder
    ├── tmp/
    └── shm/
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.isolation.cgroup import Cgroup
from gradebox.sandbox.box.isolation.host import FIRST_UID, has_ids, shown_at

Step = tuple[str, str, str, str]

SYSTEM = (
    "/usr/bin",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libexec",
    "/usr/share/zoneinfo",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/etc/ld.so.cache",
    "/etc/alternatives",
)
FOR_COMPILERS = ("/usr/include", "/usr/local/include")
DEVICES = ("null", "zero", "full", "random", "urandom")
# Shared mappings of /dev/zero are not part of a process's size: only a control group counts them.
COUNTED_BY_PROCESS = ("null", "full", "random", "urandom")
PASSWD = "root:x:0:0::/:/usr/sbin/nologin\nbox:x:1000:1000::/tmp:/bin/sh\n"
GROUP = "root:x:0:\nbox:x:1000:\n"
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "USER": "box",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "ONLINE_JUDGE": "1",
}
NEW, OLD = "/new", "/old"


def steps(
    binds: Sequence[str],
    covered: Iterable[str] = (),
    emptied: Iterable[str] = (),
    devices: Sequence[str] = DEVICES,
) -> list[Step]:
    """Return the steps for a box with a mount namespace.

    binds    host paths shown at the same path, read-only
    covered  folders and files that stay hidden, also within a bind
    emptied  files in binds that are shown empty
    """
    out: list[Step] = [
        ("T", "/tmp", "mode=755,size=16m", ""),
        ("D", "/tmp/new", "755", ""),
        ("D", "/tmp/old", "755", ""),
        ("R", "/tmp", "old", ""),
        ("T", NEW, "mode=755,size=16m", ""),
    ]
    made: set[str] = {"/"}

    def parents(path: str) -> None:
        for parent in reversed(Path(path).parents):
            folder(str(parent))

    def folder(path: str) -> None:
        if path not in made:
            made.add(path)
            out.append(("D", NEW + path, "755", ""))

    wanted = [p for p in _outermost(binds) if Path(p).exists() and os.access(p, os.R_OK)]
    for path in wanted:
        parents(path)
        if Path(path).is_symlink():
            out.append(("L", NEW + path, str(Path(path).readlink()), ""))
        elif Path(path).is_dir():
            folder(path)
            out.append(("B", NEW + path, OLD + path, "r"))
        else:
            out.append(("F", NEW + path, "", ""))
            out.append(("B", NEW + path, OLD + path, "r"))
    for path in emptied:
        if any(_inside(path, bind) for bind in wanted):
            out.append(("B", NEW + path, f"{OLD}/dev/null", "d"))
    mounted = [bind for bind in wanted if not Path(bind).is_symlink()]
    for path in covered:
        for _, name in shown_at(path, mounted):
            if Path(path).is_dir():
                out.append(("T", NEW + name, "mode=755,size=4k", "ro"))
            elif Path(path).exists():
                out.append(("B", NEW + name, f"{OLD}/dev/null", "do"))
    for name in ("/etc", "/dev", "/proc", "/program", "/box"):
        folder(name)
    out += [("F", f"{NEW}/etc/passwd", PASSWD, ""), ("F", f"{NEW}/etc/group", GROUP, "")]
    for name in devices:
        if Path(f"/dev/{name}").exists():
            out.append(("F", f"{NEW}/dev/{name}", "", ""))
            out.append(("B", f"{NEW}/dev/{name}", f"{OLD}/dev/{name}", "d"))
    links = {
        "/tmp": "/box/tmp",
        "/dev/shm": "/box/shm",
        "/dev/fd": "/proc/self/fd",
        "/dev/stdin": "/proc/self/fd/0",
        "/dev/stdout": "/proc/self/fd/1",
        "/dev/stderr": "/proc/self/fd/2",
    }
    out += [("L", NEW + path, target, "") for path, target in links.items() if path not in made]
    out += [
        ("P", f"{NEW}/proc", "subset=pid,hidepid=invisible", ""),
        ("X", f"{NEW}/program", "mode=755,size=4g", ""),
        ("R", NEW, "", ""),
        ("S", "/", "", ""),
    ]
    return out


def confined(
    binds: Sequence[str],
    work: str,
    program: str,
    landlock: int,
    devices: Sequence[str] = DEVICES,
    folders: bool = True,
) -> list[Step]:
    """Return the steps for a box without namespaces.

    Programs see the host's file system; Landlock allows them to read the system's folders and to
    write to the box's working folder.

    landlock  version of the kernel's interface; 0: no rules
    folders   programs may make folders there (the disk limit counts one level only)
    """
    out: list[Step] = [("K", "/proc", "4", ""), ("K", program, "5", "")]
    if landlock:
        paths = [p for p in binds if Path(p).exists() and os.access(p, os.R_OK)]
        out.append(("G", "", str(landlock), ""))
        out += [("A", path, "x", "") for path in paths]
        out += [("A", f"/dev/{name}", "w", "o") for name in devices]
        out += [("A", program, "x", ""), ("A", work, "a" if folders else "an", "")]
    return [*out, ("C", work, "6", "")]


def staged(steps: Sequence[Step]) -> tuple[list[Step], list[str]]:
    """Return the steps with the sources of binds at /tmp/<number> of the old root, and the sources.

    For root, the launcher mounts the sources there first, in this order.
    """
    sources: list[str] = []
    out: list[Step] = []
    for op, path, argument, flags in steps:
        if op == "B":
            source = argument.removeprefix(OLD)
            if source not in sources:
                sources.append(source)
            argument = f"{OLD}/tmp/{sources.index(source)}"
        out.append((op, path, argument, flags))
    return out, sources


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _outermost(paths: Sequence[str]) -> list[str]:
    """Return the paths that are not within another one (nothing is below a symlink)."""
    unique = list(dict.fromkeys(paths))
    folders = [p for p in unique if not Path(p).is_symlink()]
    return [p for p in unique if not any(p != f and _inside(p, f) for f in folders)]


# ---- a box's folder on the host, for levels without a mount namespace ----

TRASH = ".gradebox-trash-"


class BoxFolder:
    """A folder with `work`, which the program may write to, and `program` with its files.

    It is emptied by descriptors, without following links, so a program's links have no effect.
    """

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix=f"gradebox-folder-{os.getpid()}-"))
        self.root.chmod(0o711)
        self.work = self.root / "work"
        self.program = self.root / "program"
        self.work.mkdir(mode=0o700)
        self.program.mkdir(mode=0o755)

    def hide_in(self, text: bytes) -> bytes:
        """Return a program's stderr without this folder's name, as if the box had its own root.

        A traceback is then the same in every run.
        """
        return text.replace(os.fsencode(self.root) + b"/", b"/")

    def give(self, uid: int) -> None:
        """Give the working folder to a user."""
        os.chown(self.work, uid, uid)

    def empty(self) -> None:
        """Remove everything that a run left in the working folder.

        Folders are moved to the top and emptied one by one, so a tree of any depth takes two
        descriptors. The run has no processes any more that could interfere.
        """
        top = os.open(self.work, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            os.fchmod(top, 0o700)
            waiting = list(self._clear(top, top))
            while waiting:
                name = waiting.pop()
                fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=top)
                try:
                    waiting += self._clear(fd, top)
                finally:
                    os.close(fd)
                os.rmdir(name, dir_fd=top)
        finally:
            os.close(top)

    def _clear(self, folder: int, top: int) -> Iterator[str]:
        """Unlink the files of a folder and move its folders to the top; yield their new names."""
        for name in os.listdir(folder):
            state = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if not stat.S_ISDIR(state.st_mode):
                os.unlink(name, dir_fd=folder)
                continue
            os.chmod(name, 0o700, dir_fd=folder)
            moved = TRASH + secrets.token_hex(12)  # a name that the program could not predict
            os.rename(name, moved, src_dir_fd=folder, dst_dir_fd=top)
            yield moved

    def close(self, *, ours: bool = True) -> None:
        """Remove the folder if it is ours: in a forked child it is the parent's."""
        if ours:
            with contextlib.suppress(OSError):
                self.empty()
            shutil.rmtree(self.root, ignore_errors=True)


# ---- the plan ----

NEW_USER, NEW_MOUNTS, NEW_PIDS = 0x10000000, 0x00020000, 0x20000000
NEW_NET, NEW_IPC, NEW_UTS, NEW_CGROUP = 0x40000000, 0x08000000, 0x04000000, 0x02000000
NAMESPACES = NEW_USER | NEW_MOUNTS | NEW_PIDS | NEW_NET | NEW_IPC | NEW_UTS | NEW_CGROUP
INNER_UID = 1000
GROUP_FILES = ("cpu", "mem", "peak", "limit", "oom", "pids_event", "pids_max", "run_groups")


@dataclass(frozen=True)
class Templates:
    """What the templates of a box are made with (c/template/template.c).

    hook     descriptor of the library that makes an interpreter a template
    tool     path of the interpreter
    script   path of the program, as the box sees it
    prelude  Python code that a template runs
    environment  NAME=value, besides those of any program
    """

    hook: int
    tool: str
    script: str
    prelude: str
    environment: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoxPlan:
    """What a box is built with.

    steps       return the steps that build its file system; given the box's folder, or None where
                the box has a file system of its own
    filter      seccomp program of the box, which programs inherit
    namespaces  CLONE_NEW… flags; 0 for a level without namespaces
    forks       programs may start processes
    child_filter  seccomp program that is added for each program
    templates     Python programs start by fork
    """

    steps: Callable[[BoxFolder | None], Sequence[Step]]
    filter: bytes
    namespaces: int = NAMESPACES
    forks: bool = True
    child_filter: bytes = b""
    compiler: bool = False
    templates: Templates | None = None


def first_uid(outer_pid: int) -> int:
    """Return the first of the two host uids of a root's box."""
    return FIRST_UID + 2 * outer_pid


def pack_plan(
    plan: BoxPlan, group: Cgroup | None, folder: BoxFolder | None, outer_pid: int
) -> tuple[bytes, list[int]]:
    """Return the message that builds a box, and the descriptors that go with it.

    outer_pid  of the launcher's outer process, from which the box's uids are derived
    """
    own_ids = has_ids(bool(plan.namespaces))
    uid = first_uid(outer_pid)
    group_fds = group.fds if group else {}
    roles = [role for role in GROUP_FILES if role in group_fds]
    steps = list(plan.steps(folder))
    sources: list[str] = []
    if not plan.namespaces:
        uid_map = gid_map = ""
        inner = uid + 1 if own_ids else 0
        if own_ids and folder:
            folder.give(uid + 1)
    elif own_ids:
        uid_map = gid_map = f"0 {uid} 1\n{INNER_UID} {uid + 1} 1\n"
        inner = INNER_UID
        steps, sources = staged(steps)
    else:
        uid_map = f"{INNER_UID} {os.geteuid()} 1\n"
        gid_map = f"{INNER_UID} {os.getegid()} 1\n"
        inner = 0
    environment = dict(ENVIRONMENT)
    if plan.templates:
        environment |= dict(setting.split("=", 1) for setting in plan.templates.environment)
    if folder:
        environment |= {"HOME": str(folder.work), "TMPDIR": str(folder.work)}
    header = wire.PLAN.pack(
        plan.namespaces,
        int(own_ids and bool(plan.namespaces)),
        inner,
        # Extra processes for RLIMIT_NPROC, which counts all processes of a uid. Without a namespace
        # an ordinary user's uid includes everything on the host: then it is not set.
        3 if not group and (own_ids or plan.namespaces) else 0,
        int(bool(plan.namespaces)),
        int(group is not None and not group.run_groups),
        0 if plan.forks else NEW_UTS,
        int(plan.compiler and not group),
        len(sources),
        len(environment),
        len(steps),
        len(plan.filter),
        len(plan.child_filter),
        int(plan.templates is not None),
        *(roles.index(role) if role in roles else -1 for role in GROUP_FILES),
        len(roles) if plan.templates else -1,
        group.cpu_unit_ns if group else 1,
        group.cpu_key.encode() if group else b"",
        b"oom_kill ",
        uid_map.encode(),
        gid_map.encode(),
    )
    strings = sources + [f"{k}={v}" for k, v in environment.items()]
    strings += [part for step in steps for part in step]
    fds = [group_fds[role] for role in roles]
    if plan.templates:
        strings += [plan.templates.tool, plan.templates.script, plan.templates.prelude]
        fds.append(plan.templates.hook)
    body = b"".join(s.encode() + b"\0" for s in strings)
    return header + body + plan.filter + plan.child_filter, fds
