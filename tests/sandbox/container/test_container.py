"""`python -m sandbox.container`: its error messages, and the containers it starts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradebox.sandbox.container import control, engine
from gradebox.sandbox.container.__main__ import main
from gradebox.sandbox.container.engine import APIError, ImageNotFound, NotFound, connect, explain
from gradebox.sandbox.container.services import ROOT, SERVICES, ContainerProblem, read_env

PISTON, BOX = SERVICES["piston"], SERVICES["box"]


class FakeContainer:
    def __init__(self, status: str, words: bytes = b"") -> None:
        self.name, self.status, self.words = "gradebox-box", status, words
        self.removed = False
        self.refusal = ""
        self.attrs = {"NetworkSettings": {"Ports": {"2000/tcp": [{"HostPort": "1"}]}}}

    def reload(self) -> None:
        pass

    def start(self) -> None:
        if self.refusal:
            raise APIError("refused", explanation=self.refusal)

    def logs(self, tail: int) -> bytes:
        return self.words

    def remove(self, force: bool) -> None:
        self.removed = True


class FakeEngine:
    """A Docker client that runs nothing; `refusal` is the error of starting a container."""

    def __init__(
        self,
        cgroup: str = "2",
        container: FakeContainer | None = None,
        image: bool = True,
        refusal: str = "",
    ) -> None:
        self.cgroup, self.container, self.image, self.refusal = cgroup, container, image, refusal
        self.started: list[dict[str, Any]] = []
        self.containers = SimpleNamespace(get=self.get)
        self.api = SimpleNamespace(create_host_config=dict, create_container=self.create)
        self.images = SimpleNamespace(get=self.get_image, build=self.build)

    def info(self) -> dict[str, str]:
        return {"CgroupVersion": self.cgroup}

    def version(self) -> dict[str, str]:
        return {"Version": "99"}

    def get(self, name: str) -> FakeContainer:
        if self.container is None:
            raise NotFound("no such container")
        return self.container

    def get_image(self, name: str) -> str:
        if not self.image:
            raise ImageNotFound("no such image")
        return name

    def build(self, **options: Any) -> None:
        raise APIError("refused", explanation="lookup ghcr.io: no such host")

    def create(self, image: str, **options: Any) -> dict[str, str]:
        self.started.append({"image": image, **options, **options["host_config"]})
        self.container = FakeContainer("exited", b"Cannot find /sys/fs/cgroup\n")
        self.container.refusal = self.refusal
        return {"Id": "1"}


def up(fake: FakeEngine, service: str = "box") -> str:
    return control.up(fake, control.StartRequest(SERVICES[service], 1), lambda line: None)


def test_a_missing_engine_is_explained(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    with pytest.raises(ContainerProblem, match=r"no Docker engine answers .* DOCKER_HOST"):
        connect()


@pytest.mark.parametrize(
    ("fake", "service", "message"),
    [
        (FakeEngine(cgroup="1"), "piston", "cgroup v1, and Piston .* --service box"),
        (
            FakeEngine(refusal="Bind failed: port is already allocated"),
            "box",
            "another with --port",
        ),
        (FakeEngine(refusal="write: no space left on device"), "box", "docker system prune"),
        (FakeEngine(refusal="something new"), "box", "gradebox-box: something new"),
        (FakeEngine(image=False), "box", "no network to pull the image"),
        (FakeEngine(), "box", "exited at once: Cannot find /sys/fs/cgroup"),
    ],
    ids=["cgroup v1", "port taken", "disk full", "unknown", "no image", "dies"],
)
def test_each_error_has_its_remedy(fake: FakeEngine, service: str, message: str) -> None:
    with pytest.raises(ContainerProblem, match=message):
        up(fake, service)


def test_services_listen_on_loopback_only() -> None:
    for name in SERVICES:
        fake = FakeEngine()
        with pytest.raises(ContainerProblem):
            up(fake, name)
        assert fake.started[0]["port_bindings"] == {2000: ("127.0.0.1", 1)}


def test_the_box_has_no_capability_and_is_not_privileged() -> None:
    fake = FakeEngine()
    with pytest.raises(ContainerProblem):
        up(fake)
    assert fake.started[0]["cap_drop"] == ["ALL"]
    assert "privileged" not in fake.started[0]


def test_a_container_that_fails_to_start_is_removed() -> None:
    fake = FakeEngine(refusal="port is already allocated")
    with pytest.raises(ContainerProblem):
        up(fake)
    assert fake.container is not None and fake.container.removed


def test_piston_gets_the_settings_of_piston_env() -> None:
    fake = FakeEngine()
    with pytest.raises(ContainerProblem):
        up(fake, "piston")
    assert fake.started[0]["environment"] == read_env(ROOT / "piston.env")
    assert fake.started[0]["privileged"] is True


def test_status_and_down_without_a_service() -> None:
    lines = control.status(FakeEngine(), BOX)
    assert lines[0] == "engine   99, cgroup v2"
    assert "does not exist" in lines[1]
    assert control.down(FakeEngine(), BOX) is False
    with pytest.raises(ContainerProblem, match="does not exist"):
        control.logs(FakeEngine(), BOX, 5)


def test_status_and_down_of_a_service() -> None:
    container = FakeContainer("running", b"words")
    fake = FakeEngine(container=container)
    assert control.status(fake, BOX)[1:] == [
        "service  gradebox-box is running, port 1",
        "answer   /health: none (ConnectionError)",
    ]
    assert control.logs(fake, BOX, 5) == "words"
    assert control.down(fake, BOX) is True
    assert container.removed


def test_every_remedy_is_found_by_its_message() -> None:
    for part, remedy in engine.REMEDIES:
        assert remedy in explain(f"Error response: {part.upper()} here")


@pytest.mark.parametrize("argv", [["up", "--port", "0"], ["up", "--port", "70000"]])
def test_a_port_out_of_range_is_refused(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert "it must be from 1 to 65535" in capsys.readouterr().err


def test_piston_env_has_valid_settings(tmp_path: Path) -> None:
    values = read_env(ROOT / "piston.env")
    assert all(re.fullmatch(r"PISTON_[A-Z_]+", name) for name in values)
    assert all(re.fullmatch(r"-?\d+|true|false", value) for value in values.values())
    assert int(values["PISTON_RUN_TIMEOUT"]) >= 3 * int(values["PISTON_COMPILE_TIMEOUT"]) / 2
    assert int(values["PISTON_OUTPUT_MAX_SIZE"]) >= 1 << 24
    bad = tmp_path / "x.env"
    bad.write_text("NAME=1\nno sign\n")
    with pytest.raises(ContainerProblem, match="line 2: 'no sign' is not NAME=value"):
        read_env(bad)
    with pytest.raises(ContainerProblem, match="can't be read"):
        read_env(tmp_path / "none")


def test_compose_and_command_run_the_box_with_the_same_options() -> None:
    compose = (ROOT / "docker" / "compose.yaml").read_text()
    for option in (*BOX.host["security_opt"], "systempaths=unconfined"):
        assert f"- {option}" in compose
    assert "cap_drop: [ALL]" in compose
    assert "0.0.0.0:" not in compose
    for line in re.findall(r"ports: \[(.*)\]", compose):
        assert line.startswith('"127.0.0.1:')


def test_the_repositorys_docker_folder_does_not_hide_the_library() -> None:
    code = "import docker, sys; print(docker.__file__ is not None)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
