"""The actions up, status, down and logs of one service.

up ─▶ image ─▶ container ─▶ answers ─▶ packages ─▶ programs ran ─▶ the endpoint's URL
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests

from gradebox.sandbox.container.engine import (
    ImageNotFound,
    NotFound,
    cgroup_version,
    explained,
)
from gradebox.sandbox.container.services import (
    CODEFORCES_INDEX,
    PACKAGES,
    ROOT,
    ContainerProblem,
    Service,
    read_env,
)
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Limits, Program

Report = Callable[[str], None]  # called with each line of progress
ANSWER_S, INSTALL_S = 90.0, 1800.0


@dataclass(frozen=True)
class StartRequest:
    """What `up` starts. `packages` "" installs none."""

    service: Service
    port: int
    packages: str = "piston"
    rebuild: bool = False
    build_network: str | None = None


def up(client: Any, request: StartRequest, report: Report) -> str:
    """Start the service, run programs there and return its URL. Raises ContainerProblem."""
    service = request.service
    if service.name == "piston":
        _check_cgroups(client)
    _ensure_image(client, request, report)
    container = _ensure_container(client, request, report)
    url = f"http://127.0.0.1:{request.port}"
    report(f"waiting for {url}")
    _wait_until_up(container, url + service.probe)
    if service.name == "piston" and request.packages:
        for package in PACKAGES[request.packages]:
            _install(url, package, report)
    _run_programs(url, request, report)
    return url


def status(client: Any, service: Service) -> list[str]:
    """Return the state of the engine and the service, in lines."""
    lines = [
        f"engine   {client.version().get('Version', '?')}, cgroup v{cgroup_version(client) or '?'}"
    ]
    found = _find(client, service)
    if found is None:
        return [*lines, f"service  {service.container} does not exist: `up` starts it"]
    ports = found.attrs.get("NetworkSettings", {}).get("Ports") or {}
    bound = [b["HostPort"] for several in ports.values() for b in several or []]
    lines.append(
        f"service  {service.container} is {found.status}, port {', '.join(bound) or 'none'}"
    )
    if bound and found.status == "running":
        try:
            answer = requests.get(f"http://127.0.0.1:{bound[0]}{service.probe}", timeout=5)
            lines.append(f"answer   {service.probe}: HTTP {answer.status_code}")
        except requests.RequestException as error:
            lines.append(f"answer   {service.probe}: none ({type(error).__name__})")
    return lines


def down(client: Any, service: Service) -> bool:
    """Remove the container, not packages and images. Returns whether there was one."""
    found = _find(client, service)
    if found is None:
        return False
    with explained("down"):
        found.remove(force=True)
    return True


def logs(client: Any, service: Service, lines: int) -> str:
    """Return the last lines that the service wrote."""
    found = _find(client, service)
    if found is None:
        raise ContainerProblem(f"{service.container} does not exist: `up` starts it")
    return str(found.logs(tail=lines).decode("utf-8", "replace"))


def _check_cgroups(client: Any) -> None:
    version = cgroup_version(client)
    if version == "1":
        raise ContainerProblem(
            "this engine's host uses cgroup v1, and Piston 3.1.1 needs cgroup v2: boot the host "
            "with systemd.unified_cgroup_hierarchy=1, or use --service box"
        )


def _find(client: Any, service: Service) -> Any:
    with explained(service.container):
        try:
            return client.containers.get(service.container)
        except NotFound:
            return None


def _ensure_image(client: Any, request: StartRequest, report: Report) -> None:
    service = request.service
    with explained(f"image {service.image}"):
        try:
            client.images.get(service.image)
            if not request.rebuild:
                return
        except ImageNotFound:
            pass
    folder, dockerfile = service.build
    if not (ROOT / folder / dockerfile).is_file():
        raise ContainerProblem(
            f"the image {service.image} is missing, and {dockerfile} to build it is not here; run "
            "this from a checkout of the repository"
        )
    report(f"building {service.image}; this takes minutes, once")
    with explained(f"image {service.image}"):
        client.images.build(
            path=str(ROOT / folder),
            dockerfile=str((ROOT / folder / dockerfile).resolve()),
            tag=service.image,
            network_mode=request.build_network,
            buildargs=dict(service.args),
            rm=True,
        )


def _ensure_container(client: Any, request: StartRequest, report: Report) -> Any:
    service = request.service
    found = _find(client, service)
    if found is not None and found.status == "running" and not request.rebuild:
        report(f"{service.container} is already running")
        return found
    if found is not None:
        with explained(service.container):
            found.remove(force=True)
    environment = read_env(ROOT / service.env_file) if service.env_file else {}
    if request.packages == "codeforces":
        environment["PISTON_REPO_URL"] = CODEFORCES_INDEX
    token = os.environ.get("GRADEBOX_SERVER_TOKEN")
    if service.name == "box" and token:
        environment["GRADEBOX_SERVER_TOKEN"] = token
    report(f"starting {service.container}")
    with explained(service.container):
        host = client.api.create_host_config(
            port_bindings={service.port: ("127.0.0.1", request.port)}, **service.host
        )
        if service.unmasked:
            host.update(MaskedPaths=[], ReadonlyPaths=[])
        created = client.api.create_container(
            service.image,
            name=service.container,
            environment=environment,
            ports=[service.port],
            host_config=host,
        )
        container = client.containers.get(created["Id"])
        try:
            container.start()
        except Exception:
            container.remove(force=True)  # for example, because its port is in use
            raise
        return container


def _wait_until_up(container: Any, url: str) -> None:
    """Wait until the service answers. Raises ContainerProblem with its log when it exits."""
    deadline = time.monotonic() + ANSWER_S
    while time.monotonic() < deadline:
        try:
            if requests.get(url, timeout=2).status_code == 200:
                return
        except requests.RequestException:
            pass
        container.reload()
        if container.status not in ("running", "created"):
            log = container.logs(tail=5).decode("utf-8", "replace").strip()
            raise ContainerProblem(f"{container.name} exited at once: {log[-400:]}")
        time.sleep(0.3)
    raise ContainerProblem(f"{url} did not answer within {ANSWER_S:.0f} s; see the action `logs`")


def _install(url: str, package: str, report: Report) -> None:
    """Install a language package unless it is there: without a network, Piston exits."""
    listed = requests.get(f"{url}/api/v2/runtimes", timeout=30).json()
    if any(package in (r.get("language"), r.get("runtime")) for r in listed):
        return
    report(f"installing the package {package}")
    try:
        answer = requests.post(
            f"{url}/api/v2/packages", json={"language": package, "version": "*"}, timeout=INSTALL_S
        )
    except requests.RequestException as error:
        raise ContainerProblem(
            f"the package {package} can't be installed ({type(error).__name__}): Piston downloads "
            "it from github.com; check the network"
        ) from error
    if answer.status_code != 200:
        reason = answer.text[:200] or f"HTTP {answer.status_code}"
        raise ContainerProblem(f"the package {package} can't be installed: {reason}")


def _run_programs(url: str, request: StartRequest, report: Report) -> None:
    """Run a program in each language with the client that the grader uses."""
    from gradebox.sandbox.piston import PistonSandbox

    package = "codeforces" if request.packages == "codeforces" else "piston"
    programs = (
        ("python", "main.py", b"print(int(input()) * 2)"),
        (
            "c++17",
            "main.cpp",
            b"#include <iostream>\nint main(){int n;std::cin>>n;std::cout<<n*2;}",
        ),
    )
    try:
        with PistonSandbox([url], slots=1, package=package) as sandbox:  # type: ignore[arg-type]
            for language, name, source in programs:
                compiled = sandbox.compile(Program(language, {name: source}))
                run = sandbox.run(compiled, Limits(), stdin=b"21\n")
                if run.stdout.strip() != b"42":
                    raise ContainerProblem(
                        f"a {language} program printed {run.stdout[:80]!r} instead of 42"
                    )
                report(f"a {language} program ran")
            for line in sandbox.describe().details.get("advice", ()):
                report(f"note: {line}")
    except ContainerProblem:
        raise
    except SandboxError as error:
        raise ContainerProblem(f"the service answers, but runs no program: {error}") from error
