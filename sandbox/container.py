"""The command `python -m sandbox.container up|status|down|logs`: a service of docker/compose.yaml.

    up ─▶ docker compose up --wait ─▶ packages ─▶ programs ran ─▶ the endpoint's URL

box     gradebox's server
piston  the public Piston image with a larger body limit, and packages installed in it

How a service is built, run and found healthy is in compose.yaml. Here is what compose cannot do:
install Piston's packages, run programs, and name the remedy of an engine's error.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence

from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.common.own_command import PACKAGE
from gradebox.sandbox.errors import SandboxError, SandboxUnavailable
from gradebox.sandbox.model import Limits, Program
from gradebox.sandbox.piston import PistonSandbox
from gradebox.sandbox.piston.transport import Transport

Report = Callable[[str], None]  # called with each line of progress
COMPOSE = PACKAGE.parents[1] / "docker" / "compose.yaml"
HEALTHY_S, INSTALL_S = "90", 1800.0
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "piston": ("python", "gcc"),
    "codeforces": ("codeforces",),
    "none": (),
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
    ("already allocated", "choose another port with --port"),
    ("already in use", "choose another port with --port"),
)


def up(
    service: str,
    port: int,
    report: Report,
    *,
    packages: str = "piston",
    rebuild: bool = False,
    build_network: str | None = None,
) -> str:
    """Start the service and return its URL, after a small program of each language ran there.

    Raises SandboxUnavailable.
    """
    if service == "piston" and _docker("info", "--format", "{{.CgroupVersion}}") == "1":
        raise SandboxUnavailable(
            "this engine's host uses cgroup v1, and Piston 3.1.1 needs cgroup v2: boot the host "
            "with systemd.unified_cgroup_hierarchy=1, or use --service box"
        )
    report(f"starting {service}; building its image takes minutes, once")
    settings = {f"{service.upper()}_PORT": str(port)}
    if build_network:
        settings["BUILD_NETWORK"] = build_network
    if packages == "codeforces":
        settings["PISTON_REPO_URL"] = CODEFORCES_INDEX
    fresh = ("--build", "--force-recreate") if rebuild else ()
    wait = ("--wait", "--wait-timeout", HEALTHY_S)
    try:
        _compose("up", *wait, *fresh, service, settings=settings)
    except SandboxUnavailable as error:
        if "unhealthy" in str(error) or "exited" in str(error):
            raise SandboxUnavailable(f"{error}; its log: {logs(service, 5)[-400:]}") from error
        raise
    url = f"http://127.0.0.1:{port}"
    if service == "piston":
        for package in PACKAGES[packages]:
            _install(url, package, report)
    _run_programs(url, packages, report)
    return url


def status(service: str) -> str:
    """Return the state of the engine, and what compose says of the service."""
    engine = _docker("version", "--format", "{{.Server.Version}}")
    cgroup = _docker("info", "--format", "{{.CgroupVersion}}")
    return f"engine {engine}, cgroup v{cgroup or '?'}\n{_compose('ps', '--all', service)}"


def down(service: str) -> None:
    """Remove the container, not packages and images."""
    _compose("rm", "--stop", "--force", service)


def logs(service: str, lines: int) -> str:
    """Return the last lines that the service wrote."""
    return _compose("logs", "--no-color", "--no-log-prefix", "--tail", str(lines), service)


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


def _install(url: str, package: str, report: Report) -> None:
    """Install a language package unless it is there: without a network, Piston exits."""
    server = Transport(url)
    try:
        listed = server.get("/api/v2/runtimes")
        if any(package in (r.get("language"), r.get("runtime")) for r in listed):
            return
        report(f"installing the package {package}")
        wanted = json.dumps({"language": package, "version": "*"}).encode()
        server.post("/api/v2/packages", wanted, INSTALL_S)
    except SandboxError as error:
        raise SandboxUnavailable(
            f"the package {package} can't be installed ({error}): Piston downloads it from "
            "github.com; check the network"
        ) from error
    finally:
        server.close()


def _run_programs(url: str, packages: str, report: Report) -> None:
    """Run a program in each language with the client that the grader uses."""
    package = "codeforces" if packages == "codeforces" else "piston"
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
        choices=("box", "piston"),
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
        choices=tuple(PACKAGES),
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
        print(_act(options))
    except SandboxUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    return ExitStatus.OK


def _act(options: argparse.Namespace) -> str:
    service: str = options.service
    if options.action == "up":
        return up(
            service,
            options.port,
            lambda line: print(line, file=sys.stderr, flush=True),
            packages=options.packages,
            rebuild=options.rebuild,
            build_network=options.build_network,
        )
    if options.action == "down":
        down(service)
        return f"{service} is removed"
    return status(service) if options.action == "status" else logs(service, options.lines)


if __name__ == "__main__":
    sys.exit(main())
