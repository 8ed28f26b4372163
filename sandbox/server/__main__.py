"""`python -m sandbox.server`: Piston's API over the embedded box."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Sequence
from dataclasses import fields, replace

from sandbox.errors import BadRequest, SandboxError
from sandbox.model import MIB
from sandbox.server.settings import Ceilings, ServerSettings

TOKEN_VARIABLE = "GRADEBOX_SERVER_TOKEN"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        description="Serves Piston's API v2 over the embedded sandbox of this machine.",
        epilog=f"The bearer token is read from {TOKEN_VARIABLE}, so that it is in no process list. "
        "Limits: the PISTON_* settings of a Piston server (PISTON_RUN_TIMEOUT …).",
    )
    default = ServerSettings()
    made.add_argument("--host", default=default.host, help="address (default: %(default)s)")
    made.add_argument("--port", type=int, default=default.port, help="0: a free one (%(default)s)")
    made.add_argument("--slots", type=int, help="programs at once (default: one a physical core)")
    made.add_argument(
        "--queue", type=int, default=default.queue, help="requests that may wait (%(default)s)"
    )
    made.add_argument(
        "--body-limit", type=int, default=default.body_bytes // MIB, help="MiB (%(default)s)"
    )
    made.add_argument(
        "--grace", type=float, default=default.grace_s, help="seconds to finish in (%(default)s)"
    )
    made.add_argument("--judge", default=default.judge, help="module:function (%(default)s)")
    made.add_argument("--grading", default=default.grading, help="module:function (%(default)s)")
    made.add_argument(
        "--dataset", metavar="NAME|PATH", help="problems that POST /grade may name by id"
    )
    return made


def ceilings_from(environ: dict[str, str]) -> Ceilings:
    """The limits, from the same variables that a Piston server reads."""
    known = {f"PISTON_{f.name.upper()}": f.name for f in fields(Ceilings)}
    changes = {}
    for variable, name in known.items():
        text = environ.get(variable)
        if text is None:
            continue
        try:
            limit = int(text)
        except ValueError:
            raise BadRequest(f"{variable} is {text!r}; it must be a whole number") from None
        if limit > 0:  # Piston's -1: no limit of its own, so ours stays
            changes[name] = limit
    return replace(Ceilings(), **changes)


def without_traceback(record: logging.LogRecord) -> bool:
    """A request that is no HTTP is a stranger's fault: one line, not our stack."""
    fault = record.exc_info[1] if record.exc_info else None
    if fault is not None:
        said = "".join(c if c.isprintable() else " " for c in f"{type(fault).__name__} {fault}")
        record.msg = f"{record.getMessage()}: {' '.join(said.split())[:300]}"
        record.args = ()
        record.exc_info = None
    return True


def main(argv: Sequence[str] | None = None) -> int:
    options = parser().parse_args(argv)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("aiohttp.server").addFilter(without_traceback)
    try:
        return _serve(options)
    except (BadRequest, SandboxError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        print(f"error: {error}; pip install 'gradebox[server]'", file=sys.stderr)
        return 2


def _serve(options: argparse.Namespace) -> int:
    from sandbox.choose import open_sandbox
    from sandbox.server.grading import load_grading
    from sandbox.server.judging import load_judge
    from sandbox.server.serve import serve

    settings = ServerSettings(
        host=options.host,
        port=options.port,
        slots=options.slots,
        queue=options.queue,
        body_bytes=options.body_limit * MIB,
        token=os.environ.get(TOKEN_VARIABLE) or None,
        grace_s=options.grace,
        judge=options.judge,
        grading=options.grading,
        dataset=options.dataset,
        ceilings=ceilings_from(dict(os.environ)),
    )
    judge = load_judge(settings.judge)
    open_grading = load_grading(settings.grading)
    with open_sandbox("local", endpoints=None, slots=settings.slots, languages=[]) as sandbox:
        about = sandbox.describe()
        print(f"sandbox: {about.backend}, level {about.level}", file=sys.stderr)
        if settings.host not in ("127.0.0.1", "localhost", "::1") and settings.token is None:
            print(
                f"warning: anyone who reaches {settings.host} can run programs here; "
                f"set {TOKEN_VARIABLE}",
                file=sys.stderr,
            )

        def ready(port: int) -> None:
            print(f"listening at http://{settings.host}:{port}", file=sys.stderr, flush=True)

        grading = open_grading(sandbox, settings.dataset, settings.ceilings)
        try:
            done = asyncio.run(serve(sandbox, settings, judge, grading=grading, ready=ready))
        finally:
            grading.close()
        return 0 if done else 3


if __name__ == "__main__":
    sys.argv[0] = "python -m sandbox.server"  # what its usage calls it
    sys.exit(main())
