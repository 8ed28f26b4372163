"""Report which isolation levels work on this machine, and how to enable the others.

    python -m sandbox.doctor            as text
    python -m sandbox.doctor --json     {"usable", "level", "exact", "levels": [{"name", "works",
                                         "why_not", "remedy", "python_start"}],
                                         "languages": {"found", "missing", "broken"}, "machine"}

Each level is tried by building a box and running a program in it, and each language by compiling
and running one at the level that a run would use. The exit status is 1 when no isolating level
works, 3 when an installed language does not, else 0. KVM, Docker and a server are not needed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradebox.sandbox import languages
from gradebox.sandbox.box.embedded import EmbeddedSandbox
from gradebox.sandbox.box.isolation.host import inspect_host
from gradebox.sandbox.box.isolation.levels import LEVELS, UNSAFE
from gradebox.sandbox.common.cpus import physical_cpus
from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.common.own_command import command
from gradebox.sandbox.errors import SandboxError


@dataclass(frozen=True)
class Remedy:
    """How to enable a level: on a machine, in Docker and Podman, in other containers.

    lacks  what the level lacks compared with the levels above it
    """

    lacks: str
    machine: str
    docker: str = ""
    container: str = ""

    def here(self, kind: str) -> str:
        """Return the one for a kind of container, "" for a machine."""
        if self.docker and kind in DOCKERS:
            return self.docker.replace("docker", kind)
        return self.machine if kind in ("", *AS_A_MACHINE) else self.container or self.machine


DOCKERS = ("docker", "podman")
AS_A_MACHINE = ("apptainer",)  # it adds no limits to those of the machine
_TEXTS = json.loads(Path(languages.__file__).with_name("doctor.json").read_text("utf-8"))
REMEDIES = {level: Remedy(**texts) for level, texts in _TEXTS.items()}  # of each level

# Signs of a container, of its kind first: variables, and files that the kind's runtime leaves. They
# are for words only: what the sandbox may do is found out by trying.
SIGNS = {
    "KUBERNETES_SERVICE_HOST": "kubernetes",
    "APPTAINER_CONTAINER": "apptainer",
    "SINGULARITY_NAME": "apptainer",
    "run/.containerenv": "podman",
    ".singularity.d": "apptainer",
    "var/run/secrets/kubernetes.io": "kubernetes",
    ".dockerenv": "docker",
}


VARIABLE = "container"


def container_kind(root: Path = Path("/")) -> str:
    """Return "docker", "podman", "kubernetes", "apptainer" or the name that systemd's convention
    gives ("lxc", "systemd-nspawn"), "" outside a container.
    """
    kinds = [kind for s, kind in SIGNS.items() if os.environ.get(s) or (root / s).exists()]
    # Docker's sign is left in a virtual machine that was made from an image, too.
    if kinds and (kinds[0] != "docker" or _has_namespaces(root)):
        return kinds[0]
    try:
        named = (root / "run/systemd/container").read_text().strip()
    except OSError:
        named = ""
    return os.environ.get(VARIABLE) or named


def _has_namespaces(root: Path) -> bool:
    """Return whether the namespaces are others than the machine's, whose numbers are fixed."""
    found = {(root / "proc/self/ns" / kind).stat().st_ino for kind in ("pid", "cgroup")}
    return found != {0xEFFFFFFC, 0xEFFFFFFB}


def examine() -> dict[str, Any]:
    """Try every level and look for every language; return JSON values."""
    levels: list[dict[str, Any]] = []
    kind = container_kind()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for level in LEVELS:
            why_not, python = _tried(level.name)
            levels.append(
                {
                    "name": level.name,
                    "works": not why_not,
                    "exact": sorted(level.exact),
                    "lost": REMEDIES[level.name].lacks,
                    "why_not": why_not,
                    "remedy": REMEDIES[level.name].here(kind) if why_not else "",
                    "python_start": python,
                }
            )
        best = next((row for row in levels if row["works"] and row["name"] != UNSAFE), None)
        host = inspect_host()
        broken = _broken(best["name"], list(host.versions)) if best else {}
    return {
        "usable": best is not None,
        "level": best["name"] if best else None,
        "exact": best["exact"] if best else [],
        "levels": levels,
        "languages": {
            "found": {name: line for name, line in host.versions.items() if name not in broken},
            "missing": dict(host.missing),
            "broken": broken,
        },
        "machine": _machine(),
        "warnings": sorted({str(warning.message) for warning in caught}),
    }


def _tried(level: str) -> tuple[str, str]:
    """Return why a level does not work, "" when it works, and how Python programs start there."""
    try:
        with EmbeddedSandbox(1, level=level, allow_unsafe=True) as box:
            return "", box.python_start()
    except SandboxError as error:
        reasons = getattr(error, "reasons", {})
        return reasons.get(level, str(error)), ""


def _broken(level: str, languages: list[str]) -> dict[str, str]:
    """Return why those languages that do not work at a level do not."""
    with (
        EmbeddedSandbox(len(physical_cpus()), level=level, allow_unsafe=False) as box,
        ThreadPoolExecutor(box.slots) as pool,
    ):
        reasons = pool.map(box.probe.why_not, languages)
        return {name: why for name, why in zip(languages, reasons, strict=True) if why}


def _machine() -> dict[str, Any]:
    v1 = Path("/sys/fs/cgroup/memory").is_dir()
    v2 = Path("/sys/fs/cgroup/cgroup.controllers").exists()
    return {
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "user": os.geteuid(),
        "physical_cores": len(physical_cpus()),
        "logical_cpus": len(os.sched_getaffinity(0)),
        "cgroup": "v1" if v1 else "v2" if v2 else "none",
        "container": container_kind(),
    }


def as_text(found: dict[str, Any]) -> list[str]:
    """Return the lines that show what `examine` found."""
    machine = found["machine"]
    lines = [
        f"level      {found['level'] or 'none that isolates'}",
        f"exact      {', '.join(found['exact']) or 'nothing'}",
        f"machine    kernel {machine['kernel']} on {machine['architecture']}, "
        f"{machine['physical_cores']} physical cores ({machine['logical_cpus']} logical), "
        f"cgroup {machine['cgroup']}, user id {machine['user']}"
        + (f", in a container ({machine['container']})" if machine["container"] else ""),
        "",
    ]
    for row in found["levels"]:
        state = "works" if row["works"] else f"does not work: {row['why_not']}"
        lines.append(f"{row['name']:<10} {state}")
        if row["works"] and row["lost"]:
            lines.append(f"{'':<10} {row['lost']}")
        if row["python_start"]:
            lines.append(f"{'':<10} Python programs start by {row['python_start']}")
        if row["remedy"]:
            lines.append(f"{'':<10} to enable it: {row['remedy']}")
    lines.append("")
    lines += [f"{name:<10} {line}" for name, line in found["languages"]["found"].items()]
    lines += [f"{name:<10} missing: {line}" for name, line in found["languages"]["missing"].items()]
    lines += [f"{name:<10} broken: {line}" for name, line in found["languages"]["broken"].items()]
    lines += [f"warning    {line}" for line in found["warnings"]]
    return lines


def status_of(found: dict[str, Any]) -> ExitStatus:
    """Return the exit status that goes with what `examine` found."""
    if not found["usable"]:
        return ExitStatus.NEGATIVE
    return ExitStatus.INFRASTRUCTURE if found["languages"]["broken"] else ExitStatus.OK


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        description="Report which isolation levels of the embedded sandbox work on this machine, "
        "and how to enable the others."
    )
    p.add_argument("--json", action="store_true", help="print one JSON object")
    return p


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(arguments)
    found = examine()
    try:
        print(
            json.dumps(found, indent=2) if options.json else "\n".join(as_text(found)), flush=True
        )
    except BrokenPipeError:  # the reader (head) has gone: what is left is written to nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status_of(found)


if __name__ == "__main__":
    sys.argv[0] = command("doctor")  # the name in its usage
    sys.exit(main())
