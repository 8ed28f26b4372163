"""`python -m sandbox.container`: what it asks of docker, its error messages, a real service."""

import json
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from gradebox.sandbox import container as control
from gradebox.sandbox.container import COMPOSE, main
from gradebox.sandbox.errors import SandboxUnavailable
from testing.rows import rows
from tests.sandbox.backends import required, skip

# Answers as docker does, from a list of (words in the command, exit status, text); notes the words.
DOCKER = """\
#!{python}
import json, os, sys
words, own = " ".join(sys.argv[1:]), {folder!r}
settings = {{n: v for n, v in os.environ.items() if n.endswith("_PORT") or n[:6] == "PISTON"}}
with open(own + "/asked", "a") as file:
    file.write(json.dumps([words, settings]) + "\\n")
for part, status, text in json.load(open(own + "/answers")):
    if part in words:
        (sys.stderr if status else sys.stdout).write(text)
        sys.exit(status)
"""
Answers = list[tuple[str, int, str]]
Fake = Callable[[Answers], Callable[[], list[tuple[str, dict[str, str]]]]]


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Return a function that puts a docker with these answers on PATH, and tells what was asked."""
    script = tmp_path / "docker"
    script.write_text(DOCKER.format(python=sys.executable, folder=str(tmp_path)))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    def put(answers: Answers) -> Callable[[], list[tuple[str, dict[str, str]]]]:
        (tmp_path / "answers").write_text(json.dumps(answers))
        asked = tmp_path / "asked"
        return lambda: [tuple(json.loads(line)) for line in asked.read_text().splitlines()]

    return put


def up(service: str = "box", **options: Any) -> str:
    return control.up(service, 1, lambda line: None, **options)


@pytest.mark.parametrize(
    ("answers", "service", "message"),
    rows(__file__, "errors"),
)
def test_each_error_has_its_remedy(docker, answers, service, message):
    docker(answers)
    with pytest.raises(SandboxUnavailable, match=message):
        up(service)


def test_a_missing_command_is_explained(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers: install and start"):
        up()


@pytest.mark.parametrize(
    ("options", "words", "settings"),
    [
        ({}, "up --wait --wait-timeout 90 box", {"BOX_PORT": "1"}),
        (
            {"rebuild": True},
            "up --wait --wait-timeout 90 --build --force-recreate box",
            {"BOX_PORT": "1"},
        ),
        (
            {"service": "piston", "packages": "codeforces"},
            "up --wait --wait-timeout 90 piston",
            {"PISTON_PORT": "1", "PISTON_REPO_URL": control.CODEFORCES_INDEX},
        ),
    ],
)
def test_what_up_asks_of_compose(docker, options, words, settings):
    asked = docker([("info", 0, "2"), ("up", 1, "enough")])
    with pytest.raises(SandboxUnavailable, match="enough"):
        up(**options)
    command, environment = asked()[-1]
    assert command.startswith(f"compose --file {COMPOSE} --profile piston ")
    assert command.endswith(words)
    assert environment == settings


def test_a_service_that_runs_no_program_is_reported(docker, capsys):
    docker([])
    assert main(["up", "--port", "9"]) == 2
    assert "the service answers, but runs no program" in capsys.readouterr().err


# ---- compose.yaml ----

SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]


def test_services_listen_on_loopback_only():
    ports = [port for service in SERVICES.values() for port in service.get("ports", ())]
    assert len(ports) == 2 and all(port.startswith("127.0.0.1:") for port in ports)


def test_the_box_has_no_capability_and_is_not_privileged():
    for name in ("box", "grader"):
        assert SERVICES[name]["cap_drop"] == ["ALL"]
        assert "no-new-privileges:true" in SERVICES[name]["security_opt"]
        assert "privileged" not in SERVICES[name]


def test_piston_gets_the_settings_of_piston_env():
    piston = SERVICES["piston"]
    assert piston["privileged"] is True and piston["environment"] == ["PISTON_REPO_URL"]
    text = (COMPOSE.parent / piston["env_file"]).read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(re.fullmatch(r"PISTON_[A-Z_]+=(-?\d+|true|false)", line) for line in lines)
    values = dict(line.split("=") for line in lines)
    assert int(values["PISTON_RUN_TIMEOUT"]) >= 3 * int(values["PISTON_COMPILE_TIMEOUT"]) / 2
    assert int(values["PISTON_OUTPUT_MAX_SIZE"]) >= 1 << 24


# ---- with a real engine and its compose ----


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start services under names of their own. Compose builds the image, with a network."""
    if not required("docker"):
        pytest.skip("it builds the image, which only `make test-docker` does")
    monkeypatch.setenv("COMPOSE_PROJECT_NAME", f"gradebox-test-{os.getpid()}")
    try:
        control.status("box")
    except SandboxUnavailable as error:
        skip("docker", str(error))
    yield
    control.down("box")


@pytest.mark.docker
@pytest.mark.slow
def test_a_service_starts_runs_programs_and_stops(project):
    lines: list[str] = []
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    assert control.up("box", port, lines.append).endswith(str(port))
    assert {"a python program ran", "a c++17 program ran"} <= set(lines)
    assert "(healthy)" in control.status("box")
    assert "level userns" in control.logs("box", 20)
    control.down("box")
    assert "(healthy)" not in control.status("box")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        with pytest.raises(SandboxUnavailable, match="choose another port with --port"):
            control.up("box", port, lines.append)
