"""Write a run as an HTML page (`python eval/report.py RESULTS [-o FILE]`) or as a table.

RESULTS is a results folder or its records file. The page opens from the file system in any
browser; `gradebox export RESULTS --to FILE.csv` writes the table. Exit status: 0 written, 2 bad
input, 130 interrupted.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from gradebox.eval.cli.command import REQUIRED, parser_of, run_command
from gradebox.eval.cli.commands.compare import INTERVAL_FLAGS, statistics_options
from gradebox.eval.common.errors import InputError

parser = parser_of(
    "Write the report of a run: summary, plots, and every solution with its cases, in one HTML "
    "page.",
    ("results RESULTS", str, REQUIRED, "results folder or records file"),
    ("-o --output FILE", Path, None, "the page (RESULTS/report.html)"),
    ("--k", str, None, "for pass@k: 1,5,10 (those of the run)"),
    *INTERVAL_FLAGS,
)


def report(args: argparse.Namespace) -> int:
    """Write the report, print its path, and return the exit status."""
    from gradebox.eval.reporting.page import build_report

    try:
        ks = sorted({1, *(int(k) for k in args.k.split(","))}) if args.k else None
    except ValueError:
        raise InputError(f"--k is {args.k!r}; give whole numbers such as 1,5,10") from None
    if ks and ks[0] < 1:
        raise InputError(f"--k is {args.k!r}; every k must be 1 or more")
    written = build_report(args.results, args.output, statistics_options(args, ks))
    print(f"{written.path}: {written.solutions:,} solutions")
    return 0


main = partial(run_command, parser, report)


parser_of_table = parser_of(
    "Write the records of a run as one table, for a spreadsheet, pandas or a database. "
    "docs/records.md lists the columns.",
    ("results RESULTS", str, REQUIRED, "results folder or records file"),
    ("--to FILE", Path, REQUIRED, "the table: its name ends in .csv or .parquet"),
    ("--cases", bool, False, "a row for each case instead of each solution"),
)


def write_table(args: argparse.Namespace) -> int:
    """Write the table, print its path and size, and return the exit status."""
    from gradebox.eval.results.other_formats import export

    rows = export(args.results, args.to, cases=args.cases)
    print(f"{args.to}: {rows:,} {'cases' if args.cases else 'solutions'}")
    return 0


main_of_table = partial(run_command, parser_of_table, write_table)
