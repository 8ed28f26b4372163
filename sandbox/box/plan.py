"""The plan of a box: everything it is built with, as data, and its message to the launcher."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gradebox.sandbox.box import wire
from gradebox.sandbox.box.isolation.cgroup import Cgroup
from gradebox.sandbox.box.isolation.folder import BoxFolder
from gradebox.sandbox.box.isolation.layout import Step, staged
from gradebox.sandbox.box.isolation.rights import FIRST_UID, has_ids

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
    environment: Mapping[str, str]
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
    environment = dict(plan.environment)
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
