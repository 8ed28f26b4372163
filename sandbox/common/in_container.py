"""Which kind of container this process is in, by the signs that each leaves. Only for words: what
the sandbox may do is found out by trying.

Signs of the kind come first; the cgroup namespace only says that it is one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

ROOT = Path("/")
FILES = {  # left by the kind's runtime
    "run/.containerenv": "podman",
    ".singularity.d": "apptainer",
    "var/run/secrets/kubernetes.io": "kubernetes",
}
VARIABLES = {
    "KUBERNETES_SERVICE_HOST": "kubernetes",
    "APPTAINER_CONTAINER": "apptainer",
    "SINGULARITY_NAME": "apptainer",
}
# Left in a virtual machine that was made from an image, too: believed only beside a namespace.
DOCKER_FILE = ".dockerenv"
FIRST = {"pid": 0xEFFFFFFC, "cgroup": 0xEFFFFFFB}  # the machine's own namespaces: fixed in Linux


def container_kind(environment: Mapping[str, str] = os.environ) -> str:
    """Return "docker", "podman", "kubernetes", "apptainer" or the name that systemd's convention
    gives ("lxc", "systemd-nspawn"), "container" for one without a name, "" for none.
    """
    for name, kind in VARIABLES.items():
        if environment.get(name):
            return kind
    for name, kind in FILES.items():
        if (ROOT / name).exists():
            return kind
    others = [kind for kind, number in FIRST.items() if _namespace(kind) not in (0, number)]
    if (ROOT / DOCKER_FILE).exists() and others:
        return "docker"
    return _named(environment) or ("container" if "cgroup" in others else "")


def _named(environment: Mapping[str, str]) -> str:
    """Return the variable `container` of this process or of the first one, "" without it."""
    if environment.get("container"):
        return environment["container"]
    try:
        return (ROOT / "run/systemd/container").read_text().strip()
    except OSError:
        pass
    try:
        words = (ROOT / "proc/1/environ").read_bytes().split(b"\0")
    except OSError:  # of another user
        return ""
    found = dict(word.partition(b"=")[::2] for word in words)
    return found.get(b"container", b"").decode(errors="replace")


def _namespace(kind: str) -> int:
    """Return the number of this process's namespace, 0 when it is unknown."""
    try:
        return (ROOT / "proc/self/ns" / kind).stat().st_ino
    except OSError:
        return 0
