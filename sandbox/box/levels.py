"""The isolation levels of a box, and the choice of the strongest one that really works here.

A level is tried by building a box of it and running a program in it, never by reading
version numbers. SANDBOX_LEVEL forces one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from sandbox.box import cgroup, layout, seccomp
from sandbox.box.cgroup import Cgroup
from sandbox.box.folder import BoxFolder
from sandbox.box.gcc import pch_root
from sandbox.box.host import Host
from sandbox.box.process import BoxPlan, BoxProcess
from sandbox.errors import BadRequest, SandboxError, SandboxUnavailable

LevelName = Literal["full", "delegated", "userns", "landlock", "none"]
UNSAFE = "none"


@dataclass(frozen=True)
class Level:
    """One rung of the ladder.

    grouped     a control group counts and limits whole runs
    namespaces  the run sees a file system, processes and a network of its own
    exact       figures that are exact for everything a run starts
    fits        may this process try it at all
    """

    name: LevelName
    grouped: bool
    namespaces: bool
    exact: frozenset[str]
    fits: Callable[[], bool]


def _root() -> bool:
    return os.geteuid() == 0


def _anyone() -> bool:
    return True


GROUP = frozenset({"cpu", "memory", "processes"})
# Without a group a run may not fork: then the one process's CPU time is all there is.
ONE_PROCESS = frozenset({"cpu"})
LEVELS = (
    Level("full", True, True, GROUP, _root),
    Level("delegated", True, True, GROUP, _anyone),
    Level("userns", False, True, ONE_PROCESS, _anyone),
    Level("landlock", False, False, ONE_PROCESS, _anyone),
    Level("none", False, False, ONE_PROCESS, _anyone),
)


class BoxFactory:
    """Builds boxes of one level; every box gets its own control group."""

    def __init__(self, level: Level, host: Host) -> None:
        self.level = level
        self._host = host
        self._plans: dict[tuple[bool, bool], BoxPlan] = {}

    def _plan(self, compiler: bool, leaves: bool) -> BoxPlan:
        if (compiler, leaves) not in self._plans:
            binds = (*layout.SYSTEM, *self._host.binds)
            if compiler:
                binds += (*layout.FOR_COMPILERS, str(pch_root()))
            self._plans[compiler, leaves] = self._planned(binds, compiler=compiler, leaves=leaves)
        return self._plans[compiler, leaves]

    def _planned(self, binds: tuple[str, ...], *, compiler: bool, leaves: bool) -> BoxPlan:
        forks = counted = self.level.grouped or compiler
        devices = layout.DEVICES if counted else layout.COUNTED_BY_PROCESS
        env = layout.ENVIRONMENT
        if self.level.namespaces:
            steps = layout.steps(binds, self._host.covered, self._host.emptied, devices)
            code = seccomp.build(seccomp.Filter(fork=forks, counted=counted, leaves=leaves))
            child = seccomp.no_clone3() if leaves else b""
            return BoxPlan(
                lambda _: steps, env, code, forks=forks, child_filter=child, compiler=compiler
            )
        landlock = self.level.name == "landlock"

        def confined(folder: BoxFolder | None) -> list[layout.Step]:
            assert folder is not None
            work, program = str(folder.work), str(folder.program)
            return layout.confined(binds, work, program, landlock, devices, folders=compiler)

        child = seccomp.build(
            seccomp.Filter(fork=forks, counted=counted, mounts=False, alone=not forks)
        )
        return BoxPlan(confined, env, b"", namespaces=0, child_filter=child, compiler=compiler)

    def box(self, *, compiler: bool = False) -> BoxProcess:
        """A new box for programs, or for compilers, which fork."""
        group: Cgroup | None = cgroup.create() if self.level.grouped else None
        try:
            return BoxProcess(self._plan(compiler, group is not None and group.leaves), group)
        except BaseException:
            if group is not None and group.fds:
                group.close()
            raise


def choose(
    host: Host,
    try_out: Callable[[BoxFactory], None],
    forced: str | None = None,
    allow_unsafe: bool = False,
) -> BoxFactory:
    """The factory of the strongest level whose box passes `try_out`.

    Raises SandboxUnavailable with what each level failed on, BadRequest for an unknown name.
    """
    forced = forced or os.environ.get("SANDBOX_LEVEL")
    names = [level.name for level in LEVELS]
    if forced and forced not in names:
        raise BadRequest(f"SANDBOX_LEVEL={forced!r}: one of {', '.join(names)} is needed")
    failed = []
    for level in LEVELS:
        if forced and level.name != forced:
            continue
        if level.name == UNSAFE and not allow_unsafe:
            failed.append("none: refused unless --allow-unsafe-sandbox is given")
            continue
        if not level.fits():
            failed.append(f"{level.name}: needs root")
            continue
        try:
            factory = BoxFactory(level, host)
            try_out(factory)
        except (SandboxError, OSError) as error:
            failed.append(f"{level.name}: {error}")
            continue
        return factory
    raise SandboxUnavailable(
        "no sandbox works here: " + "; ".join(failed) + ". What enables each: "
        "python -m sandbox.doctor. In a container, start it with "
        "--security-opt seccomp=unconfined --security-opt systempaths=unconfined, "
        "or use --sandbox piston"
    )


def remove_stale_groups() -> None:
    """Removes what graders that were killed left behind."""
    for folder in cgroup.stale():
        cgroup.remove(folder, patience_s=0)
