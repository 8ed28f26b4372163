"""up, status, down and logs of one service: the engine does it, a real run proves it.

up ─▶ image ─▶ container ─▶ answers ─▶ packages ─▶ a program ran ─▶ the endpoint's URL
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import requests

from sandbox.container.engine import ContainerProblem, cgroup_version, explained
from sandbox.container.services import CODEFORCES_INDEX, PACKAGES, ROOT, Service, read_env
from sandbox.errors import SandboxError
from sandbox.model import Limits, Program

Say = Callable[[str], None]
ANSWER_S, INSTALL_S = 90.0, 1800.0


@dataclass(frozen=True)
class Wish:
    """What the user asked for. `packages` "" installs none."""

    service: Service
    port: int
    packages: str = "piston"
    rebuild: bool = False
    build_network: str | None = None


def up(client: Any, wish: Wish, say: Say) -> str:
    """Starts the service and returns its URL once a program really ran there."""
    service = wish.service
    if service.name == "piston":
        _check_cgroups(client)
    _image(client, wish, say)
    container = _container(client, wish, say)
    url = f"http://127.0.0.1:{wish.port}"
    say(f"waiting for {url}")
    _answers(container, url + service.probe)
    if service.name == "piston" and wish.packages:
        for package in PACKAGES[wish.packages]:
            _install(url, package, say)
    _prove(url, wish, say)
    return url


def status(client: Any, service: Service) -> list[str]:
    """What there is, line by line."""
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
    """Removes the container; False when there was none. Packages and images stay."""
    found = _find(client, service)
    if found is None:
        return False
    with explained("down"):
        found.remove(force=True)
    return True


def logs(client: Any, service: Service, lines: int) -> str:
    """The last lines the service wrote."""
    found = _find(client, service)
    if found is None:
        raise ContainerProblem(f"{service.container} does not exist: `up` starts it")
    return str(found.logs(tail=lines).decode("utf-8", "replace"))


def _check_cgroups(client: Any) -> None:
    version = cgroup_version(client)
    if version == "1":
        raise ContainerProblem(
            "this engine's host uses cgroup v1, and Piston 3.1.1 starts only on pure cgroup v2: "
            "boot it with systemd.unified_cgroup_hierarchy=1, or use the box"
        )


def _find(client: Any, service: Service) -> Any:
    from sandbox.container.sdk import NotFound

    with explained(service.container):
        try:
            return client.containers.get(service.container)
        except NotFound:
            return None


def _image(client: Any, wish: Wish, say: Say) -> None:
    from sandbox.container.sdk import ImageNotFound

    service = wish.service
    with explained(f"image {service.image}"):
        try:
            client.images.get(service.image)
            if not wish.rebuild:
                return
        except ImageNotFound:
            pass
    folder, dockerfile = service.build
    if not (ROOT / folder / dockerfile).is_file():
        raise ContainerProblem(
            f"image {service.image} is missing and {dockerfile} is not here: run this from a "
            "checkout of the repository"
        )
    say(f"building {service.image} (minutes, once)")
    with explained(f"image {service.image}"):
        client.images.build(
            path=str(ROOT / folder),
            dockerfile=str((ROOT / folder / dockerfile).resolve()),
            tag=service.image,
            network_mode=wish.build_network,
            rm=True,
        )


def _container(client: Any, wish: Wish, say: Say) -> Any:
    service = wish.service
    found = _find(client, service)
    if found is not None and found.status == "running" and not wish.rebuild:
        say(f"{service.container} runs already")
        return found
    if found is not None:
        with explained(service.container):
            found.remove(force=True)
    environment = read_env(ROOT / service.env_file) if service.env_file else {}
    if wish.packages == "codeforces":
        environment["PISTON_REPO_URL"] = CODEFORCES_INDEX
    token = os.environ.get("GRADEBOX_SERVER_TOKEN")
    if service.name == "box" and token:
        environment["GRADEBOX_SERVER_TOKEN"] = token
    say(f"starting {service.container}")
    with explained(service.container):
        host = client.api.create_host_config(
            port_bindings={service.port: ("127.0.0.1", wish.port)}, **service.host
        )
        if service.unmasked:
            host.update(MaskedPaths=[], ReadonlyPaths=[])
        made = client.api.create_container(
            service.image,
            name=service.container,
            environment=environment,
            ports=[service.port],
            host_config=host,
        )
        container = client.containers.get(made["Id"])
        try:
            container.start()
        except Exception:
            container.remove(force=True)  # a port that is taken leaves nothing behind
            raise
        return container


def _answers(container: Any, url: str) -> None:
    """Waits until the service answers; its own last words when it died instead."""
    deadline = time.monotonic() + ANSWER_S
    while time.monotonic() < deadline:
        try:
            if requests.get(url, timeout=2).status_code == 200:
                return
        except requests.RequestException:
            pass
        container.reload()
        if container.status not in ("running", "created"):
            words = container.logs(tail=5).decode("utf-8", "replace").strip()
            raise ContainerProblem(f"{container.name} ended at once: {words[-400:]}")
        time.sleep(0.3)
    raise ContainerProblem(f"{url} did not answer within {ANSWER_S:.0f} s; see `logs`")


def _install(url: str, package: str, say: Say) -> None:
    """Installs a language package; asking is no health check: offline, the server dies."""
    listed = requests.get(f"{url}/api/v2/runtimes", timeout=30).json()
    if any(package in (r.get("language"), r.get("runtime")) for r in listed):
        return
    say(f"installing the package {package}")
    try:
        answer = requests.post(
            f"{url}/api/v2/packages", json={"language": package, "version": "*"}, timeout=INSTALL_S
        )
    except requests.RequestException as error:
        raise ContainerProblem(
            f"the package {package} could not be installed ({type(error).__name__}): Piston "
            "downloads it from github.com; is there a network?"
        ) from error
    if answer.status_code != 200:
        words = answer.text[:200] or f"HTTP {answer.status_code}"
        raise ContainerProblem(f"the package {package} could not be installed: {words}")


def _prove(url: str, wish: Wish, say: Say) -> None:
    """A program in each language, through the grader's own client."""
    from sandbox.piston import PistonSandbox

    package = "codeforces" if wish.packages == "codeforces" else "piston"
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
                    raise ContainerProblem(f"a {language} program gave {run.stdout[:80]!r}, not 42")
                say(f"a {language} program ran")
            for line in sandbox.describe().details.get("advice", ()):
                say(f"note: {line}")
    except ContainerProblem:
        raise
    except SandboxError as error:
        raise ContainerProblem(f"it answers, but no program runs: {error}") from error
