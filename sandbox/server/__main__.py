"""The command `python -m sandbox.server`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from importlib import import_module

from gradebox.sandbox.common.exit_status import ExitStatus
from gradebox.sandbox.errors import BadRequest, SandboxError
from gradebox.sandbox.model import MIB
from gradebox.sandbox.protocol import Sandbox
from gradebox.sandbox.server.settings import Ceilings, ServerSettings

TOKEN_VARIABLE = "GRADEBOX_SERVER_TOKEN"
EPILOG = f"""\
{TOKEN_VARIABLE} is the bearer token that clients must send. PISTON_RUN_TIMEOUT and
the other variables of a Piston server are the limits that requests may ask for.
GET /health and /metrics show the state; SIGTERM finishes the admitted requests first."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    p = argparse.ArgumentParser(
        usage="%(prog)s [options]",
        description="Serve Piston's API v2 and POST /grade over the embedded sandbox.",
        epilog=EPILOG,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(
            prog, max_help_position=30, width=88
        ),
    )
    default = ServerSettings()

    def add(flag: str, value: object, help: str, metavar: str, kind: type = str) -> None:
        text = help if value is None else f"{help} (default: {value})"
        p.add_argument(flag, default=value, help=text, metavar=metavar, type=kind)

    add("--host", default.host, "address to listen at", "ADDRESS")
    add("--allow-host", None, "names of this server in requests without a token", "NAME,NAME")
    add("--port", default.port, "port to listen at; 0: a free one", "N", int)
    add("--slots", None, "programs running at once (default: one for each core)", "N", int)
    add("--drivers", default.drivers, "processes that grade; 0: one for each 8 slots", "N", int)
    add("--queue", default.queue, "requests that may wait", "N", int)
    add("--body-limit", default.body_bytes // MIB, "largest request", "MIB", int)
    add("--grace", default.grace_s, "seconds a shutdown waits for requests", "S", float)
    add("--dataset", None, "problems that POST /grade may name by id", "NAME|PATH")
    return p


def ceilings_from(environ: dict[str, str]) -> Ceilings:
    """Return the limits from the variables that a Piston server reads. Raises BadRequest."""
    changes = {}
    for f in fields(Ceilings):
        variable = f"PISTON_{f.name.upper()}"
        text = environ.get(variable)
        if text is None:
            continue
        try:
            limit = int(text)
        except ValueError:
            raise BadRequest(f"{variable} is {text!r}; it must be a whole number") from None
        if limit > 0:  # -1 means no limit to Piston; then our own limit stays
            changes[f.name] = limit
    return replace(Ceilings(), **changes)


def names(text: str | None) -> frozenset[str]:
    """Return the names of --allow-host. Raises BadRequest for what is no name."""
    found = frozenset(n.strip().lower().removesuffix(".") for n in (text or "").split(",") if n)
    for name in found:
        if not re.fullmatch(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*", name):
            raise BadRequest(
                f"--allow-host has {name[:80]!r}; give names without ports, such as box,judge.lan"
            )
    return found


def start_line(settings: ServerSettings, port: int, sandbox: Sandbox) -> str:
    """Return what an operator checks first: address, isolation, token and languages."""
    from gradebox.sandbox.server.runtimes import list_runtimes

    description = sandbox.describe()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    slots = settings.slots or sandbox.slots
    runtimes = [r for r in list_runtimes(description.toolchains) if not r.codeforces]
    languages = ", ".join(f"{r.language} {r.version}" for r in runtimes) or "none"
    token = "a token is required" if settings.token else "no token"
    return (
        f"listening at http://{host}:{port}, level {description.level}, {slots} programs at once, "
        f"{token}; languages: {languages}"
    )


def without_traceback(record: logging.LogRecord) -> bool:
    """Shorten a logged exception to one line: invalid HTTP is the client's fault."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None:
        text = "".join(c if c.isprintable() else " " for c in f"{type(error).__name__} {error}")
        record.msg = f"{record.getMessage()}: {' '.join(text.split())[:300]}"
        record.args = ()
        record.exc_info = None
    return True


def main(argv: Sequence[str] | None = None) -> int:
    """Serve until a signal; return the exit status."""
    options = parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("aiohttp.server").addFilter(without_traceback)
    try:
        return _serve(options)
    except (BadRequest, SandboxError) as error:
        print(f"error: {error}", file=sys.stderr)
    except ModuleNotFoundError as error:
        print(f"error: {error}; pip install 'gradebox[server]'", file=sys.stderr)
    return ExitStatus.BAD_INPUT


def _serve(options: argparse.Namespace) -> int:
    from gradebox.sandbox.common.loopback import is_loopback
    from gradebox.sandbox.opening import open_sandbox
    from gradebox.sandbox.server.app import serve
    from gradebox.sandbox.server.settings import SERVICE, Grading

    settings = ServerSettings(
        host=options.host,
        port=options.port,
        slots=options.slots,
        drivers=options.drivers,
        queue=options.queue,
        body_bytes=options.body_limit * MIB,
        token=os.environ.get(TOKEN_VARIABLE) or None,
        allowed_hosts=names(options.allow_host),
        grace_s=options.grace,
        dataset=options.dataset,
        ceilings=ceilings_from(dict(os.environ)),
    )
    hidden = [settings.dataset] if settings.dataset else []
    with open_sandbox("local", slots=settings.slots, hidden=hidden) as sandbox:
        if not is_loopback(settings.host) and settings.token is None:
            print(
                f"warning: everyone who can reach {settings.host} can run programs here; "
                f"set {TOKEN_VARIABLE} to require a token",
                file=sys.stderr,
            )

        def ready(port: int) -> None:
            print(start_line(settings, port, sandbox), file=sys.stderr, flush=True)

        grading: Grading = import_module(SERVICE).open_service(sandbox, settings)
        try:
            done = asyncio.run(serve(sandbox, settings, grading, ready=ready))
        finally:
            grading.close()
        return ExitStatus.OK if done else ExitStatus.INFRASTRUCTURE


if __name__ == "__main__":
    sys.argv[0] = "python -m sandbox.server"  # the name in its usage
    sys.exit(main())
