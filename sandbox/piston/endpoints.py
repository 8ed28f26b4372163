"""Which servers there are: from the caller, or from PISTON_ENDPOINTS (`slurm` included)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from sandbox.errors import BadRequest, SandboxUnavailable

DEFAULT = "http://localhost:2000"
_API = re.compile(r"/(api(/v2)?/?)?$")


def normalise(url: str) -> str:
    """`host:2000`, `http://host:2000/` and `http://host:2000/api/v2` are the same server."""
    text = url.strip()
    if "://" not in text:
        text = f"http://{text}"
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise BadRequest(f"endpoint {url!r} is not a URL: {error}") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise BadRequest(f"endpoint {url!r} is not http://HOST:PORT")
    return _API.sub("", text).rstrip("/")


def endpoints_from(
    given: Sequence[str] | None, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """The servers to use: those given, else PISTON_ENDPOINTS, else the default one."""
    if given:
        urls = list(given)
    elif environ.get("PISTON_ENDPOINTS", "").strip() == "slurm":
        urls = slurm_endpoints()
    else:
        named = environ.get("PISTON_ENDPOINTS", "").split(",")
        urls = [u for u in named if u.strip()] or [DEFAULT]
    return list(dict.fromkeys(normalise(u) for u in urls))


def slurm_endpoints() -> list[str]:
    """Running slurm jobs named piston-worker-PORT, as http://NODE:PORT."""
    command = ["squeue", "--format=%j %N %T", "--noheader", "--states=RUNNING"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(
            f"PISTON_ENDPOINTS=slurm, and squeue can't be asked ({error}); name the servers instead"
        ) from error
    found = []
    for line in done.stdout.splitlines():
        match = re.match(r'"?piston-worker-(\d{1,5})"?\s+"?([\w.-]+)', line.strip())
        if match:
            found.append(f"http://{match[2]}:{match[1]}")
    if not found:
        raise SandboxUnavailable(
            "PISTON_ENDPOINTS=slurm, and no running slurm job is named piston-worker-PORT"
        )
    return found
