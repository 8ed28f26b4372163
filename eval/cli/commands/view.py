"""Look at runs in the browser, also while they run: `gradebox view RESULTS…`.

RESULTS are results folders or records files. The page is the report's, served from this machine at
the address that is printed, with the program, the response and the statement of each solution; a
program can be changed and run again. Exit status: 0 ended by Ctrl-C, 2 bad input.
"""

from __future__ import annotations

import argparse
from functools import partial

from gradebox.eval.cli.command import CommandParser, add_flags, natural_int, run_command
from gradebox.eval.cli.commands.compare import add_interval_flags

FLAGS = (
    ("--host ADDRESS", str, "127.0.0.1", "address to listen at"),
    ("--port N", natural_int, 0, "port to listen at; 0: a free one"),
    ("--allow-host NAME,NAME", str, None, "further names of this machine, as a proxy sends them"),
    ("--no-run", bool, False, "run nothing: programs can be read only"),
)
INSTEAD = (
    ("--solutions-path FILE", str, None, "the solutions file"),
    ("--dataset NAME|PATH", str, None, "the problems"),
    ("--generated-tests-dir DIR", str, None, "the generated tests"),
    ("--testlib PATH", str, None, "path of testlib.h"),
    ("--allow-unsafe-sandbox", bool, False, "never taken from the run's flags"),
)


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        description="Look at runs in the browser, also while they run: every solution with its "
        "program, response and cases; change a program or an input and run it again in the box. "
        "Several runs are a table, and any two are compared. docs/view.md describes the page.",
    )
    p.add_argument("results", metavar="RESULTS", nargs="+", help="results folders or records files")
    add_flags(p, *FLAGS)
    add_flags(p.add_argument_group("instead of the run's flags"), *INSTEAD)
    add_interval_flags(p)
    return p


def view(args: argparse.Namespace) -> int:
    """Serve the page until a signal; return the exit status."""
    import asyncio
    from contextlib import ExitStack

    from gradebox.eval.debugging.reopen import Overrides
    from gradebox.eval.reporting.build import StatisticsOptions
    from gradebox.eval.viewing.reruns import Reruns
    from gradebox.eval.viewing.run_view import RunView
    from gradebox.eval.viewing.server import ViewServer, serve_view

    statistics = StatisticsOptions(None, args.level, args.seed, args.cluster_by_contest)
    names = [row[0].split()[0].removeprefix("--").replace("-", "_") for row in INSTEAD]
    overrides = Overrides(**{name: getattr(args, name) for name in names})
    hosts = frozenset(name.strip().lower() for name in (args.allow_host or "").split(",") if name)

    def ready(address: str) -> None:
        print(f"{address}\nCtrl-C ends the view.", flush=True)

    with ExitStack() as stack:
        runs = [RunView(name, statistics, overrides) for name in args.results]
        for run in runs:
            stack.callback(run.close)
        reruns = None if args.no_run else Reruns(overrides)
        if reruns is not None:
            stack.callback(reruns.close)
        server = ViewServer(runs, reruns, args.host, hosts)
        asyncio.run(serve_view(server, args.host, args.port, ready))
    return 0


main = partial(run_command, parser, view)
