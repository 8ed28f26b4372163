"""Compare two runs problem by problem: `python eval/compare.py A B`.

A and B are results folders or their records files. Differences are B minus A. Without B: how far A
agrees with the verdicts of the site that its solutions, submissions to it, have.
Exit status: 0 compared; 2 bad input, or the runs were judged differently (see --anyway).
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import asdict
from functools import partial

from gradebox.eval.cli.command import CommandParser, natural_int, run_command
from gradebox.eval.common.errors import InputError

SHOWN_CHANGES = 20


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        description="Compare two runs problem by problem: paired differences, their standard "
        "error, and which problems changed.",
    )
    p.add_argument("a", metavar="A", help="results folder or records file")
    p.add_argument(
        "b",
        metavar="B",
        nargs="?",
        help="results folder or records file; left out: A, a run of submissions to Codeforces, is "
        "compared with the verdicts that the site gave",
    )
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--all", action="store_true", help="list every problem that changed")
    p.add_argument(
        "--anyway", action="store_true", help="compare runs whose limits or tests differ"
    )
    add_interval_flags(p)
    return p


def add_interval_flags(p: CommandParser) -> None:
    """Add the flags that control how intervals are computed."""
    p.add_argument(
        "--cluster-by-contest",
        action="store_true",
        help="wider intervals, because problems of one contest are alike",
    )
    p.add_argument("--level", type=_level, default=0.95, help="confidence level of intervals")
    p.add_argument("--seed", type=natural_int, default=0, help="of the bootstrap")


def _level(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number between 0 and 1, such as 0.95")
    return value


def compare_with_site(args: argparse.Namespace) -> int:
    """Print how far a run agrees with a site's verdicts; return the exit status."""
    from gradebox.eval.comparing.agreement import agreement_lines, read_agreement

    agreement = read_agreement(args.a)
    if args.json:
        print(json.dumps(agreement.as_json()))
        return 0
    for line in agreement_lines(agreement, shutil.get_terminal_size((80, 24)).columns):
        print(line)
    return 0


def compare(args: argparse.Namespace) -> int:
    """Print the comparison and return the exit status."""
    if args.b is None:
        return compare_with_site(args)
    from gradebox.eval.comparing.comparison import (
        comparison_lines,
        find_differences,
        read_run,
        warning_lines,
    )
    from gradebox.eval.results.statistics import paired

    a, b = read_run(args.a), read_run(args.b)
    result = paired(
        a.shares,
        b.shares,
        level=args.level,
        seed=args.seed,
        cluster_by_contest=args.cluster_by_contest,
    )
    if result is None:
        raise InputError(f"{args.a} and {args.b} have no problem in common; nothing to compare")
    differences = find_differences(a, b)
    for line in warning_lines(differences):
        print(line, file=sys.stderr)
    if any(difference.refuses for difference in differences) and not args.anyway:
        raise InputError("the runs were judged differently; add --anyway to compare them anyway")
    if args.json:
        names = {"a": args.a, "b": args.b}
        print(json.dumps({**names, **result, "differences": [asdict(d) for d in differences]}))
        return 0
    for line in comparison_lines(a, b, result, shown_changes=None if args.all else SHOWN_CHANGES):
        print(line)
    return 0


main = partial(run_command, parser, compare)
