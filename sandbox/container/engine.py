"""What is asked of a Docker engine, and what its refusals mean.

Every fault leaves here as a ContainerProblem: what is wrong, and what to do.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from sandbox.errors import SandboxUnavailable


class ContainerProblem(SandboxUnavailable):
    """A service can't be had; the message says why and what to do."""


def connect(make: Callable[[], Any] | None = None) -> Any:
    """The engine of this machine's user; ContainerProblem when none answers."""
    from sandbox.container.sdk import DockerException, from_env

    try:
        client = (make or from_env)()
        client.ping()
    except DockerException as error:
        raise ContainerProblem(
            f"no Docker engine answers ({_short(error)}): install and start Docker, or set "
            "DOCKER_HOST; on Linux your user must be in the group docker"
        ) from error
    return client


@contextlib.contextmanager
def explained(what: str) -> Iterator[None]:
    """Turns the engine's errors into words with a remedy."""
    from sandbox.container.sdk import APIError, BuildError, DockerException, ImageNotFound

    try:
        yield
    except BuildError as error:
        tail = [str(line.get("stream") or line.get("error") or "") for line in error.build_log]
        words = " ".join("".join(tail[-8:]).split())[-400:]
        raise ContainerProblem(f"{what}: the image can't be built: {words}") from error
    except ImageNotFound as error:
        raise ContainerProblem(
            f"{what}: the image is missing ({_short(error)}): build it (docs/docker.md), or check "
            "the network when it is pulled"
        ) from error
    except APIError as error:
        raise ContainerProblem(f"{what}: {explain(str(error.explanation or error))}") from error
    except DockerException as error:
        raise ContainerProblem(f"{what}: {_short(error)}") from error


# Words of an engine's refusal → what to do about it.
REMEDIES = (
    ("port is already allocated", "the port is taken: choose another with --port"),
    ("address already in use", "the port is taken: choose another with --port"),
    ("no space left on device", "the disk is full: `docker system prune` frees some"),
    ("cgroup", "the engine's cgroups don't fit: see `python -m sandbox.container status`"),
    ("permission denied", "the engine may not do that: is it rootless? Piston needs a root one"),
    ("privileged", "the engine refuses --privileged, which Piston needs; use the box"),
    ("no such host", "there is no network to pull the image over: build it from source"),
)


def explain(words: str) -> str:
    """The engine's words with the remedy, when one is known."""
    short = " ".join(words.split())[:300]
    for sign, remedy in REMEDIES:
        if sign in short.lower():
            return f"{remedy} ({short})"
    return short


def cgroup_version(client: Any) -> str:
    """ "1" or "2"; "" when the engine does not say."""
    return str(client.info().get("CgroupVersion", ""))


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
