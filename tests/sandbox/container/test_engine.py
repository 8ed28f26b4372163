"""On a real Docker engine, when one answers: the image runs programs, and says its level."""

from __future__ import annotations

import dataclasses
import os
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.container import control
from sandbox.container.engine import ContainerProblem, connect
from sandbox.container.sdk import ImageNotFound
from sandbox.container.services import SERVICES, Service
from tests.sandbox.backends import skip

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.fixture(scope="module")
def client() -> Any:
    try:
        made = connect()
    except ContainerProblem as error:
        return skip("docker", str(error))
    try:
        made.images.get("gradebox")
    except ImageNotFound:
        return skip(
            "docker", "the image is not built: docker build -f docker/Dockerfile -t gradebox ."
        )
    return made


@pytest.fixture
def service(client: Any) -> Iterator[Service]:
    """The box under a name of this test's own."""
    own = dataclasses.replace(SERVICES["box"], name=f"test-{os.getpid()}")
    yield own
    control.down(client, own)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_service_starts_runs_programs_and_ends(client: Any, service: Service) -> None:
    said: list[str] = []
    port = free_port()
    assert control.up(client, control.Wish(service, port), said.append).endswith(str(port))
    assert {"a python program ran", "a c++17 program ran"} <= set(said)
    assert "answer   /health: HTTP 200" in control.status(client, service)
    assert "level userns" in control.logs(client, service, 20)
    assert control.down(client, service) is True
    assert "does not exist" in control.status(client, service)[1]


def test_a_taken_port_is_explained(client: Any, service: Service) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        wish = control.Wish(service, taken.getsockname()[1])
        with pytest.raises(ContainerProblem, match="choose another with --port"):
            control.up(client, wish, lambda line: None)


def test_without_its_options_the_image_falls_to_landlock_and_says_so(client: Any) -> None:
    code = (
        "from sandbox.choose import open_sandbox\n"
        "with open_sandbox('local') as box: print(box.describe().level)"
    )
    out = client.containers.run(
        "gradebox", ["python", "-c", code], remove=True, network_mode="none"
    )
    assert out.decode().split()[-1] == "landlock"
