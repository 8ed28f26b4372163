"""The command `python -m sandbox.container up|status|down|logs`: a service of docker/compose.yaml.

    up ─▶ docker compose up ─▶ answers ─▶ packages ─▶ programs ran ─▶ the endpoint's URL

box     gradebox's server
piston  the public Piston image with a larger body limit, and packages installed in it

How a service is built and run is in compose.yaml. Here is what compose cannot do: wait until a
service runs programs, install Piston's packages, and name the remedy of an engine's error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.common.own_command import PACKAGE
from gradebox.sandbox.errors import SandboxError, SandboxUnavailable
from gradebox.sandbox.model import Limits, Program

Report = Callable[[str], None]  # called with each line of progress
COMPOSE = PACKAGE.parents[1] / "docker" / "compose.yaml"
ANSWER_S, INSTALL_S = 90.0, 1800.0
SERVICES = {"box": "/health", "piston": "/api/v2/runtimes"}  # name → a route that answers once up
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "piston": ("python", "gcc"),
    "codeforces": ("codeforces",),
}
CODEFORCES_INDEX = "https://github.com/guipenedo/piston/releases/download/pkgs/index"
PROGRAMS = (
    ("python", "main.py", b"print(int(input()) * 2)"),
    ("c++17", "main.cpp", b"#include <iostream>\nint main(){int n;std::cin>>n;std::cout<<n*2;}"),
)
# Part of an engine's error message → what to do about it.
REMEDIES = (
    # what docker says without its plugin compose
    ("unknown flag: --file", "Docker's plugin compose is missing; install docker-compose-plugin"),
    ("not a docker command", "Docker's plugin compose is missing; install docker-compose-plugin"),
    (
        "docker daemon",
        "no Docker engine answers: install and start Docker, or set DOCKER_HOST; on Linux your "
        "user must be in the group docker",
    ),
    ("port is already allocated", "the port is in use; choose another with --port"),
    ("address already in use", "the port is in use; choose another with --port"),
    ("no space left on device", "the disk is full; `docker system prune` frees space"),
    ("cgroup", "the engine's cgroups are unsuitable; see `python -m sandbox.container status`"),
    (
        "permission denied",
        "the engine lacks the permission, perhaps because it is rootless; Piston needs one that "
        "runs as root",
    ),
    ("privileged", "the engine refuses --privileged, which Piston needs; use --service box"),
    ("no such host", "there is no network to pull the image; build it from source"),
)


@dataclass(frozen=True)
class StartRequest:
    """What `up` starts. `packages` "" installs none."""

    service: str
    port: int
    packages: str = "piston"
    rebuild: bool = False
    build_network: str | None = None


def up(request: StartRequest, report: Report) -> str:
    """Start the service, run programs there and return its URL. Raises SandboxUnavailable."""
    service = request.service
    if service == "piston" and _docker("info", "--format", "{{.CgroupVersion}}") == "1":
        raise SandboxUnavailable(
            "this engine's host uses cgroup v1, and Piston 3.1.1 needs cgroup v2: boot the host "
            "with systemd.unified_cgroup_hierarchy=1, or use --service box"
        )
    report(f"starting {service}; building its image takes minutes, once")
    fresh = ("--build", "--force-recreate") if request.rebuild else ()
    _compose("up", "--detach", *fresh, service, settings=_settings(request))
    url = f"http://127.0.0.1:{request.port}"
    report(f"waiting for {url}")
    _wait_until_up(service, url + SERVICES[service])
    if service == "piston" and request.packages:
        for package in PACKAGES[request.packages]:
            _install(url, package, report)
    _run_programs(url, request, report)
    return url


def _settings(request: StartRequest) -> dict[str, str]:
    """Return the variables of compose.yaml for a request."""
    settings = {f"{request.service.upper()}_PORT": str(request.port)}
    if request.build_network:
        settings["BUILD_NETWORK"] = request.build_network
    if request.packages == "codeforces":
        settings["PISTON_REPO_URL"] = CODEFORCES_INDEX
    return settings


def status(service: str) -> list[str]:
    """Return the state of the engine and the service, in lines."""
    engine, cgroup = (
        _docker("version", "--format", "{{.Server.Version}}"),
        _docker("info", "--format", "{{.CgroupVersion}}"),
    )
    lines = [f"engine   {engine}, cgroup v{cgroup or '?'}"]
    found = _find(service)
    if found is None:
        return [*lines, f"service  {service} does not exist: `up` starts it"]
    bound = {str(p["PublishedPort"]) for p in found.get("Publishers") or () if p["PublishedPort"]}
    lines.append(
        f"service  {service} is {found.get('State')}, port {', '.join(sorted(bound)) or 'none'}"
    )
    for port in sorted(bound)[:1]:
        try:
            answer = requests.get(f"http://127.0.0.1:{port}{SERVICES[service]}", timeout=5)
            lines.append(f"answer   {SERVICES[service]}: HTTP {answer.status_code}")
        except requests.RequestException as error:
            lines.append(f"answer   {SERVICES[service]}: none ({type(error).__name__})")
    return lines


def down(service: str) -> bool:
    """Remove the container, not packages and images. Returns whether there was one."""
    if _find(service) is None:
        return False
    _compose("rm", "--stop", "--force", service)
    return True


def logs(service: str, lines: int) -> str:
    """Return the last lines that the service wrote."""
    if _find(service) is None:
        raise SandboxUnavailable(f"{service} does not exist: `up` starts it")
    return _compose("logs", "--no-color", "--no-log-prefix", "--tail", str(lines), service)


def _find(service: str) -> dict[str, Any] | None:
    """Return what compose says of a service's container: one object, or one a line, or a list."""
    text = _compose("ps", "--all", "--format", "json", service)
    rows = json.loads(f"[{','.join(text.splitlines())}]")
    rows = rows[0] if rows and isinstance(rows[0], list) else rows
    return dict(rows[0]) if rows else None


def _compose(*words: str, settings: Mapping[str, str] | None = None) -> str:
    if not COMPOSE.is_file():
        raise SandboxUnavailable(
            f"{COMPOSE} is missing; run this from a checkout of the repository"
        )
    options = ("--file", str(COMPOSE), "--profile", "piston")
    return _docker("compose", *options, *words, settings=settings)


def _docker(*words: str, settings: Mapping[str, str] | None = None) -> str:
    """Return what a command of docker prints. Raises SandboxUnavailable with a remedy."""
    try:
        done = subprocess.run(
            ["docker", *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, **(settings or {})},
            check=False,
        )
    except OSError as error:
        raise SandboxUnavailable(f"docker: {explain('docker daemon: ' + str(error))}") from error
    if done.returncode:
        raise SandboxUnavailable(f"docker {words[0]}: {explain(done.stderr or done.stdout)}")
    return done.stdout.strip()


def explain(message: str) -> str:
    """Return the end of the engine's message, with its remedy when one is known."""
    short = " ".join(message.split())[-300:]
    for part, remedy in REMEDIES:
        if part in short.lower():
            return f"{remedy} ({short})"
    return short


def _wait_until_up(service: str, url: str) -> None:
    """Wait until the service answers. Raises SandboxUnavailable with its log when it exits."""
    deadline = time.monotonic() + ANSWER_S
    while time.monotonic() < deadline:
        try:
            if requests.get(url, timeout=2).status_code == 200:
                return
        except requests.RequestException:
            pass
        found = _find(service) or {}
        if found.get("State") not in ("running", "created"):
            raise SandboxUnavailable(f"{service} exited at once: {logs(service, 5)[-400:]}")
        time.sleep(0.3)
    raise SandboxUnavailable(f"{url} did not answer within {ANSWER_S:.0f} s; see the action `logs`")


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
        raise SandboxUnavailable(
            f"the package {package} can't be installed ({type(error).__name__}): Piston downloads "
            "it from github.com; check the network"
        ) from error
    if answer.status_code != 200:
        reason = answer.text[:200] or f"HTTP {answer.status_code}"
        raise SandboxUnavailable(f"the package {package} can't be installed: {reason}")


def _run_programs(url: str, request: StartRequest, report: Report) -> None:
    """Run a program in each language with the client that the grader uses."""
    from gradebox.sandbox.piston import PistonSandbox

    package = "codeforces" if request.packages == "codeforces" else "piston"
    try:
        with PistonSandbox([url], slots=1, package=package) as sandbox:  # type: ignore[arg-type]
            for language, name, source in PROGRAMS:
                compiled = sandbox.compile(Program(language, {name: source}))
                run = sandbox.run(compiled, Limits(), stdin=b"21\n")
                if run.stdout.strip() != b"42":
                    raise SandboxError(
                        f"a {language} program printed {run.stdout[:80]!r} instead of 42"
                    )
                report(f"a {language} program ran")
            for line in sandbox.describe().details.get("advice", ()):
                report(f"note: {line}")
    except SandboxError as error:
        raise SandboxUnavailable(f"the service answers, but runs no program: {error}") from error


# ---- the command line ----


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        prog="python -m sandbox.container",
        description="Start, inspect and remove a sandbox server in Docker.",
    )
    p.add_argument("action", choices=("up", "status", "down", "logs"))
    p.add_argument(
        "--service",
        choices=tuple(SERVICES),
        default="box",
        help="gradebox's own server or Piston (default: %(default)s)",
    )
    p.add_argument(
        "--port",
        type=int,
        default=2000,
        metavar="N",
        help="port on 127.0.0.1 (default: %(default)s)",
    )
    p.add_argument(
        "--packages",
        choices=(*PACKAGES, "none"),
        default="piston",
        help="what to install into Piston: python and gcc, or the codeforces package "
        "(default: %(default)s)",
    )
    p.add_argument("--rebuild", action="store_true", help="rebuild the image and restart")
    p.add_argument("--build-network", metavar="NAME", help="network of the build, such as host")
    p.add_argument(
        "--lines",
        type=int,
        default=50,
        metavar="N",
        help="lines that logs prints (default: %(default)s)",
    )
    return p


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = parser().parse_args(argv)
    try:
        if not 1 <= options.port <= 65535:
            raise SandboxUnavailable(f"--port is {options.port}; it must be from 1 to 65535")
        return _act(options)
    except SandboxUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitStatus.BAD_INPUT


def _act(options: argparse.Namespace) -> int:
    service: str = options.service
    if options.action == "up":
        packages = "" if options.packages == "none" else options.packages
        request = StartRequest(
            service, options.port, packages, options.rebuild, options.build_network
        )
        print(up(request, lambda line: print(line, file=sys.stderr, flush=True)))
    elif options.action == "status":
        print("\n".join(status(service)))
    elif options.action == "down":
        print(f"{service} {'was removed' if down(service) else 'did not exist'}")
    else:
        print(logs(service, options.lines))
    return ExitStatus.OK


if __name__ == "__main__":
    sys.exit(main())
