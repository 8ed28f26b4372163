"""The two services that `python -m sandbox.container` can start.

box     gradebox's server (docker/Dockerfile)
piston  the public Piston image with a larger body limit (docker/piston/Dockerfile)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.sandbox.errors import SandboxUnavailable

ROOT = Path(__file__).resolve().parents[2]
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "piston": ("python", "gcc"),
    "codeforces": ("codeforces",),
}
CODEFORCES_INDEX = "https://github.com/guipenedo/piston/releases/download/pkgs/index"


class ContainerProblem(SandboxUnavailable):
    """A service cannot be used. The message has the reason and the remedy."""


@dataclass(frozen=True)
class Service:
    """How one service is built and run.

    build     folder and Dockerfile, from the repository's root
    args      arguments of the build
    host      fields of the engine's HostConfig
    unmasked  the CLI's systempaths=unconfined, for which the engine takes empty lists of paths
    probe     route that answers 200 once the service is up
    """

    name: str
    image: str
    build: tuple[str, str]
    args: Mapping[str, str]
    probe: str
    port: int
    host: Mapping[str, Any] = field(default_factory=dict)
    unmasked: bool = False
    env_file: str | None = None

    @property
    def container(self) -> str:
        return f"gradebox-{self.name}"


SERVICES: Mapping[str, Service] = {
    "box": Service(
        name="box",
        image="gradebox-cpp",
        build=(".", "docker/Dockerfile"),
        args={"LANGUAGES": "g++"},
        probe="/health",
        port=2000,
        host={
            "init": True,
            "cap_drop": ["ALL"],
            # docker/compose.yaml has the reason of each option
            "security_opt": ["seccomp=unconfined", "apparmor=unconfined", "no-new-privileges:true"],
        },
        unmasked=True,
    ),
    "piston": Service(
        name="piston",
        image="gradebox-piston",
        build=("docker/piston", "Dockerfile"),
        args={},
        probe="/api/v2/runtimes",
        port=2000,
        host={
            "privileged": True,
            "tmpfs": {"/tmp": "exec"},
            "binds": {"gradebox-piston-packages": {"bind": "/piston/packages", "mode": "rw"}},
        },
        env_file="piston.env",
    ),
}


def read_env(path: Path) -> dict[str, str]:
    """Parse the NAME=value lines of an env file, as Docker does."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ContainerProblem(f"{path} can't be read: {error.strerror}") from error
    values = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, sign, value = line.partition("=")
        if not sign or not name.strip().isidentifier():
            raise ContainerProblem(f"{path}, line {number}: {line[:60]!r} is not NAME=value")
        values[name.strip()] = value
    return values
