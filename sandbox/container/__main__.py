"""`python -m sandbox.container up|status|down|logs`: Piston or the box in Docker."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from sandbox.container.services import PACKAGES, SERVICES
from sandbox.errors import SandboxUnavailable


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m sandbox.container",
        description="Starts, shows and ends a sandbox server in Docker.",
    )
    made.add_argument("action", choices=("up", "status", "down", "logs"))
    made.add_argument("--service", choices=tuple(SERVICES), default="box", help="(%(default)s)")
    made.add_argument("--port", type=int, default=2000, help="on 127.0.0.1 (%(default)s)")
    made.add_argument(
        "--packages",
        choices=(*PACKAGES, "none"),
        default="piston",
        help="what to install into Piston: python and gcc, or the codeforces package (%(default)s)",
    )
    made.add_argument("--rebuild", action="store_true", help="build the image anew, restart")
    made.add_argument("--build-network", help="network of the build, e.g. host")
    made.add_argument("--lines", type=int, default=50, help="of logs (%(default)s)")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    options = parser().parse_args(argv)
    if not 1 <= options.port <= 65535:
        print(f"error: --port is {options.port}; it must be from 1 to 65535", file=sys.stderr)
        return 2
    try:
        return _act(options)
    except SandboxUnavailable as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _act(options: argparse.Namespace) -> int:
    from sandbox.container import control
    from sandbox.container.engine import connect

    service = SERVICES[options.service]
    client = connect()
    if options.action == "up":
        packages = "" if options.packages == "none" else options.packages
        wish = control.Wish(service, options.port, packages, options.rebuild, options.build_network)
        url = control.up(client, wish, lambda line: print(line, file=sys.stderr, flush=True))
        print(url)
    elif options.action == "status":
        print("\n".join(control.status(client, service)))
    elif options.action == "down":
        there = control.down(client, service)
        print(f"{service.container} {'removed' if there else 'was not there'}")
    else:
        print(control.logs(client, service, options.lines), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
