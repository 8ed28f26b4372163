"""The file system of a box, as steps that build it.

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

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from gradebox.sandbox.box.isolation.host import shown_at

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
        ("P", f"{NEW}/proc", "subset=pid,hidepid=invisible", "o"),
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
