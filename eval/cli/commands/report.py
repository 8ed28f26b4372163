"""Write the report of a run as an HTML page: `python eval/report.py RESULTS [-o FILE]`.

RESULTS is a results folder or its records file. The page opens from the file system in any
browser. A large report has a folder of data beside it. Exit status: 0 written, 2 bad input, 130
interrupted.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from gradebox.eval.cli.command import CommandParser, run_command
from gradebox.eval.cli.commands.compare import add_interval_flags
from gradebox.eval.common.errors import InputError


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        description="Write the report of a run: summary, plots, and every solution with its "
        "cases, in one HTML page (with a folder of data beside it when it is large).",
    )
    p.add_argument("results", metavar="RESULTS", help="results folder or records file")
    p.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the page (RESULTS/report.html)"
    )
    p.add_argument("--k", help="for pass@k: 1,5,10 (those of the run)")
    add_interval_flags(p)
    return p


def report(args: argparse.Namespace) -> int:
    """Write the report, print its path, and return the exit status."""
    from gradebox.eval.reporting.build import StatisticsOptions, build_report

    try:
        ks = sorted({1, *(int(k) for k in args.k.split(","))}) if args.k else None
    except ValueError:
        raise InputError(f"--k is {args.k!r}; give whole numbers such as 1,5,10") from None
    if ks and ks[0] < 1:
        raise InputError(f"--k is {args.k!r}; every k must be 1 or more")
    options = StatisticsOptions(ks, args.level, args.seed, args.cluster_by_contest)
    written = build_report(args.results, args.output, options)
    data = f" (keep {written.data.name}/ beside it)" if written.data else ""
    print(f"{written.path}: {written.solutions:,} solutions{data}")
    return 0


main = partial(run_command, parser, report)
