"""Look at runs in the browser, also while they run: `gradebox view RESULTS…`.

RESULTS are results folders or records files. The page is the report's, served from this machine at
the address that is printed, with the program, the response and the statement of each solution; a
program can be changed and run again. Exit status: 0 ended by Ctrl-C, 2 bad input.
"""

from __future__ import annotations

import argparse
from functools import partial

from gradebox.eval.cli.command import (
    INSTEAD,
    OVERRIDES,
    REQUIRED,
    names_of,
    natural_int,
    parser_of,
    run_command,
)
from gradebox.eval.cli.commands.compare import INTERVAL_FLAGS, statistics_options

parser = parser_of(
    "Look at runs in the browser, also while they run: every solution with its program, response "
    "and cases; change a program or an input and run it again in the box. Several runs are a "
    "table, and any two are compared. docs/view.md describes the page.",
    ("results RESULTS+", str, REQUIRED, "results folders or records files"),
    ("--host ADDRESS", str, "127.0.0.1", "address to listen at"),
    ("--port N", natural_int, 0, "port to listen at; 0: a free one"),
    ("--allow-host NAME,NAME", str, None, "further names of this machine, as a proxy sends them"),
    ("--no-run", bool, False, "run nothing: programs can be read only"),
    *INTERVAL_FLAGS,
    groups={INSTEAD: OVERRIDES},
)


def view(args: argparse.Namespace) -> int:
    """Serve the page until a signal; return the exit status."""
    import asyncio
    from contextlib import ExitStack

    from gradebox.eval.debugging.reopen import Overrides
    from gradebox.eval.reporting.reruns import Reruns
    from gradebox.eval.reporting.run_view import RunView
    from gradebox.eval.reporting.server import ViewServer, serve_view

    overrides = Overrides(**{name: getattr(args, name) for name in names_of(OVERRIDES)})
    hosts = frozenset(name.strip().lower() for name in (args.allow_host or "").split(",") if name)

    def ready(address: str) -> None:
        print(f"{address}\nCtrl-C ends the view.", flush=True)

    with ExitStack() as stack:
        runs = [RunView(name, statistics_options(args), overrides) for name in args.results]
        for run in runs:
            stack.callback(run.close)
        reruns = None if args.no_run else Reruns(overrides)
        if reruns is not None:
            stack.callback(reruns.close)
        server = ViewServer(runs, reruns, args.host, hosts)
        asyncio.run(serve_view(server, args.host, args.port, ready))
    return 0


main = partial(run_command, parser, view)
