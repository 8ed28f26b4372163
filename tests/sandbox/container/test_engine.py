"""With a real Docker engine: the image runs programs and reports its isolation level."""

from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.sandbox.container import control
from gradebox.sandbox.container.engine import ImageNotFound, connect
from gradebox.sandbox.container.services import SERVICES, ContainerProblem, Service
from tests.sandbox.backends import skip

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture(scope="module")
def client() -> Any:
    try:
        made = connect()
    except ContainerProblem as error:
        return skip("docker", str(error))
    try:
        made.images.get("gradebox-cpp")
    except ImageNotFound:
        return skip("docker", "the image gradebox-cpp is not built: make test-docker")
    return made


@pytest.fixture
def service(client: Any) -> Iterator[Service]:
    """Return the service box under a name of its own."""
    own = dataclasses.replace(SERVICES["box"], name=f"test-{os.getpid()}")
    yield own
    control.down(client, own)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_service_starts_runs_programs_and_stops(client: Any, service: Service) -> None:
    lines: list[str] = []
    port = free_port()
    assert control.up(client, control.StartRequest(service, port), lines.append).endswith(str(port))
    assert {"a python program ran", "a c++17 program ran"} <= set(lines)
    assert "answer   /health: HTTP 200" in control.status(client, service)
    assert "level userns" in control.logs(client, service, 20)
    assert control.down(client, service) is True
    assert "does not exist" in control.status(client, service)[1]


def test_a_taken_port_is_explained(client: Any, service: Service) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        request = control.StartRequest(service, taken.getsockname()[1])
        with pytest.raises(ContainerProblem, match="choose another with --port"):
            control.up(client, request, lambda line: None)
