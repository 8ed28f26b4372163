"""What the embedded sandbox can do on this machine, and what would give more.

    python -m sandbox.doctor            in words
    python -m sandbox.doctor --json     {"usable", "level", "exact", "levels": [{"name",
                                         "works", "why_not", "remedy"}], "languages", "machine"}

Every level is tried by building a box and running a program in it. Exit status: 0 when a
level that isolates works, 1 when none does. KVM, Docker and a server are never needed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sandbox.box.cores import physical
from sandbox.box.embedded import EmbeddedSandbox
from sandbox.box.host import look_around
from sandbox.box.levels import LEVELS, UNSAFE
from sandbox.errors import SandboxError

CONTAINER = (
    "in a container: docker run --security-opt seccomp=unconfined "
    "--security-opt systempaths=unconfined …"
)
REMEDIES: dict[str, str] = {
    "full": "run the grader as root: sudo …, or docker run --privileged with --user 0",
    "delegated": "systemd-run --user --scope -p Delegate=yes <the command> (cgroup v2)",
    "userns": "sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000 "
    "kernel.apparmor_restrict_unprivileged_userns=0; " + CONTAINER,
    "landlock": "a kernel of 5.13 or later started with lsm=landlock,…; " + CONTAINER,
    "none": "isolates nothing but memory, time and system calls; only --allow-unsafe-sandbox",
}
LOST: dict[str, str] = {
    "full": "",
    "delegated": "programs run under your own user id",
    "userns": "programs cannot fork; memory is that of one process, shared pages included",
    "landlock": "as userns; names, sizes and times of the host's files can be seen, "
    "/dev/stdin and new folders are not there",
    "none": "programs can read every file that their user can",
}


def examine() -> dict[str, Any]:
    """Tries every level and every tool; JSON-able."""
    levels: list[dict[str, Any]] = []
    with warnings.catch_warnings(record=True) as noted:
        warnings.simplefilter("always")
        for level in LEVELS:
            why = _why_not(level.name) if level.fits() else "needs root"
            levels.append(
                {
                    "name": level.name,
                    "works": not why,
                    "exact": sorted(level.exact),
                    "lost": LOST[level.name],
                    "why_not": why,
                    "remedy": REMEDIES[level.name] if why else "",
                }
            )
    best = next((row for row in levels if row["works"] and row["name"] != UNSAFE), None)
    host = look_around()
    return {
        "usable": best is not None,
        "level": best["name"] if best else None,
        "exact": best["exact"] if best else [],
        "levels": levels,
        "languages": {"found": dict(host.versions), "missing": dict(host.missing)},
        "machine": _machine(),
        "warnings": sorted({str(one.message) for one in noted}),
    }


def _why_not(level: str) -> str:
    try:
        EmbeddedSandbox(1, level=level, allow_unsafe=True).close()
    except SandboxError as error:
        text = str(error).partition(f"{level}: ")[2] or str(error)
        return text.partition(". In a container")[0]
    return ""


def _machine() -> dict[str, Any]:
    v1 = Path("/sys/fs/cgroup/memory").is_dir()
    v2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    return {
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "user": os.geteuid(),
        "physical_cores": len(physical()),
        "logical_cpus": len(os.sched_getaffinity(0)),
        "cgroup": "v1" if v1 else "v2" if v2 else "none",
    }


def in_words(found: dict[str, Any]) -> list[str]:
    """The same for a person, line by line."""
    machine = found["machine"]
    lines = [
        f"level      {found['level'] or 'none that isolates'}",
        f"exact      {', '.join(found['exact']) or 'nothing'}",
        f"machine    kernel {machine['kernel']} on {machine['architecture']}, "
        f"{machine['physical_cores']} physical cores ({machine['logical_cpus']} logical), "
        f"cgroup {machine['cgroup']}, user id {machine['user']}",
        "",
    ]
    for row in found["levels"]:
        state = "works" if row["works"] else f"no: {row['why_not']}"
        lines.append(f"{row['name']:<10} {state}")
        if row["works"] and row["lost"]:
            lines.append(f"{'':<10} {row['lost']}")
        if row["remedy"]:
            lines.append(f"{'':<10} to get it: {row['remedy']}")
    lines.append("")
    lines += [f"{name:<10} {line}" for name, line in found["languages"]["found"].items()]
    lines += [f"{name:<10} missing: {line}" for name, line in found["languages"]["missing"].items()]
    lines += [f"warning    {line}" for line in found["warnings"]]
    return lines


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="What the embedded sandbox can do here.")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of words")
    options = parser.parse_args(arguments)
    found = examine()
    print(json.dumps(found, indent=2) if options.json else "\n".join(in_words(found)))
    return 0 if found["usable"] else 1


if __name__ == "__main__":
    sys.argv[0] = "python -m sandbox.doctor"  # what its usage calls it
    sys.exit(main())
