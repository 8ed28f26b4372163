"""The command `python -m sandbox.container up|status|down|logs`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.container.services import PACKAGES, SERVICES
from gradebox.sandbox.errors import SandboxUnavailable


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
    from gradebox.sandbox.container import control
    from gradebox.sandbox.container.engine import connect

    service = SERVICES[options.service]
    client = connect()
    if options.action == "up":
        packages = "" if options.packages == "none" else options.packages
        request = control.StartRequest(
            service, options.port, packages, options.rebuild, options.build_network
        )
        print(control.up(client, request, lambda line: print(line, file=sys.stderr, flush=True)))
    elif options.action == "status":
        print("\n".join(control.status(client, service)))
    elif options.action == "down":
        removed = control.down(client, service)
        print(f"{service.container} {'was removed' if removed else 'did not exist'}")
    else:
        print(control.logs(client, service, options.lines), end="")
    return ExitStatus.OK


if __name__ == "__main__":
    sys.exit(main())
