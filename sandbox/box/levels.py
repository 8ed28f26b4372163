"""The isolation levels of a box, and the choice of the strongest one that really works here.

A level is tried by building a box of it and running a program in it, never by reading
version numbers. SANDBOX_LEVEL forces one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sandbox.box import cgroup, layout, seccomp
from sandbox.box.cgroup import Cgroup
from sandbox.box.process import BoxPlan, BoxProcess
from sandbox.errors import BadRequest, SandboxError, SandboxUnavailable

LevelName = Literal["full", "delegated", "userns"]


@dataclass(frozen=True)
class Level:
    """One rung of the ladder.

    grouped   a control group counts and limits whole runs
    exact     figures that are exact for everything a run starts
    fits      may this process try it at all
    """

    name: LevelName
    grouped: bool
    exact: frozenset[str]
    fits: Callable[[], bool]


LEVELS = (
    Level("full", True, frozenset({"cpu", "memory", "processes"}), lambda: os.geteuid() == 0),
    Level("delegated", True, frozenset({"cpu", "memory", "processes"}), lambda: True),
    # Without a group a run may not fork: then the one process's CPU time is all there is.
    Level("userns", False, frozenset({"cpu"}), lambda: True),
)


class BoxFactory:
    """Builds boxes of one level; every box gets its own control group."""

    def __init__(self, level: Level, binds: tuple[str, ...], covered: tuple[str, ...]) -> None:
        self.level = level
        programs = layout.steps((*layout.SYSTEM, *binds), covered)
        compilers = layout.steps((*layout.SYSTEM, *layout.FOR_COMPILERS, *binds), covered)
        self._run = BoxPlan(
            programs,
            layout.ENVIRONMENT,
            seccomp.build(seccomp.Filter(fork=level.grouped)),
            forks=level.grouped,
        )
        self._compile = BoxPlan(
            compilers, layout.ENVIRONMENT, seccomp.build(seccomp.Filter(fork=True))
        )

    def box(self, *, compiler: bool = False) -> BoxProcess:
        """A new box for programs, or for compilers, which fork."""
        group: Cgroup | None = cgroup.create() if self.level.grouped else None
        try:
            return BoxProcess(self._compile if compiler else self._run, group)
        except BaseException:
            if group is not None and group.fds:
                group.close()
            raise


def choose(
    binds: tuple[str, ...],
    try_out: Callable[[BoxFactory], None],
    forced: str | None = None,
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
        if not level.fits():
            failed.append(f"{level.name}: needs root")
            continue
        try:
            factory = BoxFactory(level, binds, hidden_folders())
            try_out(factory)
        except (SandboxError, OSError) as error:
            failed.append(f"{level.name}: {error}")
            continue
        return factory
    raise SandboxUnavailable(
        "no sandbox works here: " + "; ".join(failed) + ". In a container, start it with "
        "--security-opt seccomp=unconfined --security-opt systempaths=unconfined, "
        "or use --sandbox piston"
    )


def hidden_folders() -> tuple[str, ...]:
    """Folders that hold tests, checkers and results, wherever they were installed."""
    here = Path(__file__).resolve().parents[2]
    return tuple({str(here), str(Path.cwd())})


def remove_stale_groups() -> None:
    """Removes what graders that were killed left behind."""
    for folder in cgroup.stale():
        cgroup.remove(folder, patience_s=0)
