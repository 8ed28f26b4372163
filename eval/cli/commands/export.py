"""Write the records of a run as a table: `gradebox export RESULTS --to FILE.csv`.

RESULTS is a results folder or its records file. Exit status: 0 written, 2 bad input, 130
interrupted.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from gradebox.eval.cli.command import REQUIRED, parser_of, run_command

parser = parser_of(
    "Write the records of a run as one table, for a spreadsheet, pandas or a database. "
    "docs/records.md lists the columns.",
    ("results RESULTS", str, REQUIRED, "results folder or records file"),
    ("--to FILE", Path, REQUIRED, "the table: its name ends in .csv or .parquet"),
    ("--cases", bool, False, "a row for each case instead of each solution"),
)


def write_table(args: argparse.Namespace) -> int:
    """Write the table, print its path and size, and return the exit status."""
    from gradebox.eval.results.export import export

    rows = export(args.results, args.to, cases=args.cases)
    print(f"{args.to}: {rows:,} {'cases' if args.cases else 'solutions'}")
    return 0


main = partial(run_command, parser, write_table)
