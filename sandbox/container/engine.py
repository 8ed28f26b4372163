"""Connect to a Docker engine, and explain its errors."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any

from gradebox.sandbox.container.services import ContainerProblem

# Imported by name because type checkers take the repository's folder docker/ for the library.
_errors: Any = importlib.import_module("docker.errors")
from_env: Any = importlib.import_module("docker").from_env
APIError: Any = _errors.APIError
BuildError: Any = _errors.BuildError
DockerException: type[Exception] = _errors.DockerException
ImageNotFound: type[Exception] = _errors.ImageNotFound
NotFound: type[Exception] = _errors.NotFound

# Part of an engine's error message → what to do about it.
REMEDIES = (
    ("port is already allocated", "the port is in use; choose another with --port"),
    ("address already in use", "the port is in use; choose another with --port"),
    ("no space left on device", "the disk is full; `docker system prune` frees space"),
    (
        "cgroup",
        "the engine's cgroups are unsuitable; see `python -m sandbox.container status`",
    ),
    (
        "permission denied",
        "the engine lacks the permission, perhaps because it is rootless; Piston needs one that "
        "runs as root",
    ),
    (
        "privileged",
        "the engine refuses --privileged, which Piston needs; use --service box",
    ),
    ("no such host", "there is no network to pull the image; build it from source"),
)


def connect(make: Callable[[], Any] | None = None) -> Any:
    """Return a client of the user's Docker engine. Raises ContainerProblem when none answers."""
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
    """Turn the engine's errors into a ContainerProblem with a remedy; `what` begins it."""
    try:
        yield
    except BuildError as error:
        log = [str(line.get("stream") or line.get("error") or "") for line in error.build_log]
        tail = " ".join("".join(log[-8:]).split())[-400:]
        raise ContainerProblem(f"{what}: the image can't be built: {tail}") from error
    except ImageNotFound as error:
        raise ContainerProblem(
            f"{what}: the image is missing ({_short(error)}); build it (docs/docker.md), or check "
            "the network when it should be pulled"
        ) from error
    except APIError as error:
        raise ContainerProblem(f"{what}: {explain(str(error.explanation or error))}") from error
    except DockerException as error:
        raise ContainerProblem(f"{what}: {_short(error)}") from error


def explain(message: str) -> str:
    """Return the engine's message, with its remedy when one is known."""
    short = " ".join(message.split())[:300]
    for part, remedy in REMEDIES:
        if part in short.lower():
            return f"{remedy} ({short})"
    return short


def cgroup_version(client: Any) -> str:
    """Return the engine's cgroup version, "1" or "2"; "" when it is not reported."""
    return str(client.info().get("CgroupVersion", ""))


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
