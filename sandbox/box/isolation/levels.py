"""The isolation levels of a box, and the choice of the strongest one that works on this machine.

A level is tried by building a box and running a program in it, never by version numbers.
SANDBOX_LEVEL selects a level by name.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from gradebox.sandbox.box.isolation import cgroup, layout, seccomp
from gradebox.sandbox.box.isolation.cgroup import Cgroup
from gradebox.sandbox.box.isolation.host import Host, check_private, why_no_ids
from gradebox.sandbox.box.isolation.layout import BoxFolder, BoxPlan, Templates
from gradebox.sandbox.box.process import BoxProcess
from gradebox.sandbox.box.toolchains.gcc import pch_root
from gradebox.sandbox.common.own_command import command
from gradebox.sandbox.errors import BadRequest, SandboxError, SandboxUnavailable

LevelName = Literal["full", "delegated", "userns", "landlock", "none"]
UNSAFE = "none"


@dataclass(frozen=True)
class Level:
    """One isolation level.

    grouped     a control group counts and limits whole runs
    namespaces  a run has a file system, processes and a network of its own
    own_ids     programs get user ids of their own, for which this process needs rights
    """

    name: LevelName
    grouped: bool
    namespaces: bool
    own_ids: bool = False

    @property
    def exact(self) -> frozenset[str]:
        """The figures that are exact for everything that a run starts.

        Without a group a run may not fork, so the CPU time of its process is the run's.
        """
        return frozenset(("cpu", "memory", "processes") if self.grouped else ("cpu",))


LEVELS = (
    Level("full", grouped=True, namespaces=True, own_ids=True),
    Level("delegated", grouped=True, namespaces=True),
    Level("userns", grouped=False, namespaces=True),
    Level("landlock", grouped=False, namespaces=False),
    Level("none", grouped=False, namespaces=False),
)


# Boxes for compilers, which fork; for Python programs, which start by fork; for all other programs.
Kind = Literal["program", "compiler", "python"]


class BoxFactory:
    """Build boxes of one level, each with its own control group."""

    def __init__(self, level: Level, host: Host) -> None:
        self.level = level
        self._host = host
        self.templates: Templates | None = None  # of the boxes for Python programs
        self._plans: dict[tuple[Kind, bool], BoxPlan] = {}
        if level.name != UNSAFE:
            binds = (*layout.SYSTEM, *layout.FOR_COMPILERS, *host.binds)
            check_private(host.private, binds, can_cover=level.namespaces)

    def _plan(self, kind: Kind, run_groups: bool) -> BoxPlan:
        compiler = kind == "compiler"
        binds = (*layout.SYSTEM, *self._host.binds)
        if compiler:
            binds += (*layout.FOR_COMPILERS, str(pch_root()))
        templates = self.templates if kind == "python" else None
        forks = counted = self.level.grouped or compiler
        devices = layout.DEVICES if counted else layout.COUNTED_BY_PROCESS
        if self.level.namespaces:
            covered = (*self._host.covered, *self._host.private)
            steps = layout.steps(binds, covered, self._host.emptied, devices)
            what = seccomp.Filter(
                fork=forks,
                counted=counted,
                run_groups=run_groups,
                templates=templates is not None,
            )
            return BoxPlan(
                lambda _: steps,
                seccomp.build(what),
                forks=forks or what.templates,
                child_filter=seccomp.for_programs(what),
                compiler=compiler,
                templates=templates,
            )
        version = landlock_version() if self.level.name == "landlock" else 0

        def confined(folder: BoxFolder | None) -> list[layout.Step]:
            assert folder is not None
            work, program = str(folder.work), str(folder.program)
            return layout.confined(binds, work, program, version, devices, folders=compiler)

        what = seccomp.Filter(
            fork=forks,
            counted=counted,
            mounts=False,
            alone=not forks,
            truncates=not 0 < version < LANDLOCK_TRUNCATES,
        )
        return BoxPlan(
            confined, b"", namespaces=0, child_filter=seccomp.build(what), compiler=compiler
        )

    def box(self, kind: Kind = "program") -> BoxProcess:
        """Build a box of a kind."""
        group: Cgroup | None = cgroup.create() if self.level.grouped else None
        try:
            key = (kind, group is not None and group.run_groups)
            if key not in self._plans:
                self._plans[key] = self._plan(*key)
            return BoxProcess(self._plans[key], group)
        except BaseException:
            if group is not None and group.fds:
                group.close()
            raise


def choose_level(
    host: Host,
    try_out: Callable[[BoxFactory], None],
    forced: str | None = None,
    allow_unsafe: bool = False,
) -> BoxFactory:
    """Return the factory of the strongest level whose box passes `try_out`.

    Raises SandboxUnavailable with the reason of each level, BadRequest for an unknown name.
    """
    forced = forced or os.environ.get("SANDBOX_LEVEL")
    names = [level.name for level in LEVELS]
    if forced and forced not in names:
        raise BadRequest(
            f"unknown sandbox level {forced!r} (SANDBOX_LEVEL); use one of {', '.join(names)}"
        )
    failed: dict[str, str] = {}
    for level in LEVELS:
        if forced and level.name != forced:
            continue
        if level.name == UNSAFE and not allow_unsafe:
            failed[level.name] = "refused unless --allow-unsafe-sandbox is given"
            continue
        if level.own_ids and (why_not := why_no_ids(namespaces=True)):
            failed[level.name] = why_not
            continue
        try:
            factory = BoxFactory(level, host)
            try_out(factory)
        except (SandboxError, OSError) as error:
            failed[level.name] = str(error)
            continue
        return factory
    none = SandboxUnavailable(
        "no sandbox works here: "
        + "; ".join(f"{name}: {why}" for name, why in failed.items())
        + f". {command('doctor')} says what enables each level"
    )
    none.reasons = failed
    raise none


# ---- Landlock of this kernel ----

LANDLOCK_CREATE_RULESET, LANDLOCK_VERSION = 444, 1
LANDLOCK_TRUNCATES = 3  # the first version that guards files against being emptied (Linux 6.2)


def landlock_version() -> int:
    """Return the version of Landlock's interface, 1 or higher.

    Raises SandboxUnavailable where the kernel has no Landlock, or it is forbidden.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    number = int(libc.syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), LANDLOCK_VERSION))
    if number < 1:
        raise SandboxUnavailable(f"Landlock: {os.strerror(ctypes.get_errno())}")
    return number
