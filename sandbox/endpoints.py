"""The addresses of Piston servers: from the caller, or from a variable (a list, or `slurm`)."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from gradebox.sandbox.errors import BadRequest, SandboxUnavailable

DEFAULT = "http://localhost:2000"
VARIABLES = ("PISTON_ENDPOINTS", "PISTON_ENDPOINT")  # the first that is set is used
API = "/api/v2"
_END = re.compile(r"(/(api/?)?|/api/v2/?)$")
_ROUTE = re.compile(r"(/api/v2(/.+)?)/(execute|runtimes|packages)/?$")


def normalise(url: str) -> str:
    """Return one spelling for `host:2000`, `http://host:2000/` and `http://host:2000/api/v2`.

    A path beyond /api/v2, such as /api/v2/piston, stays. A route at its end goes: /execute.
    """
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
    if parts.query or parts.fragment:
        raise BadRequest(
            f"endpoint {url!r} has more than a path: leave out what begins with ? or #"
        )
    return _END.sub("", _ROUTE.sub(r"\1", text)).rstrip("/")


def without_password(url: str) -> str:
    """Return an address to show: without the user and password that it may contain."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def named_in(environ: Mapping[str, str] = os.environ) -> str:
    """Return the servers that the environment names, as they are written there; "" for none."""
    return next(filter(None, (environ.get(name, "").strip(" \t,") for name in VARIABLES)), "")


def endpoints_from(
    given: Sequence[str] | None, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """Return the servers to use: those given, else those of the environment, else the default."""
    named = named_in(environ)
    if given:
        urls = list(given)
    elif named == "slurm":
        urls = slurm_endpoints()
    else:
        urls = [url for url in named.split(",") if url.strip()] or [DEFAULT]
    return list(dict.fromkeys(map(normalise, urls)))


def slurm_endpoints() -> list[str]:
    """Return http://NODE:PORT of every running slurm job named piston-worker-PORT."""
    command = ["squeue", "--format=%j %N %T", "--noheader", "--states=RUNNING"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise SandboxUnavailable(
            f"PISTON_ENDPOINTS=slurm, and squeue failed ({error}); name the servers instead"
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
