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
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from gradebox.eval.cli.command import REQUIRED, FlagRow, natural_int, parser_of, run_command
from gradebox.eval.common.errors import InputError

if TYPE_CHECKING:
    from gradebox.eval.results.statistics.counts import StatisticsOptions

SHOWN_CHANGES = 20


def _level(text: str) -> float:
    value = float(text)
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: give a number between 0 and 1, such as 0.95")
    return value


INTERVAL_FLAGS: tuple[FlagRow, ...] = (
    ("--cluster-by-contest", bool, False, "wider intervals: problems of one contest are alike"),
    ("--level", _level, 0.95, "confidence level of intervals"),
    ("--seed", natural_int, 0, "of the bootstrap"),
)
SITE_HELP = (
    "results folder or records file; left out: A, a run of submissions to Codeforces, is compared "
    "with the verdicts that the site gave"
)
parser = parser_of(
    "Compare two runs problem by problem: paired differences, their standard error, and which "
    "problems changed.",
    ("a A", str, REQUIRED, "results folder or records file"),
    ("b B?", str, None, SITE_HELP),
    ("--json", bool, False, "print one JSON object"),
    ("--all", bool, False, "list every problem that changed"),
    ("--anyway", bool, False, "compare runs whose limits or tests differ"),
    *INTERVAL_FLAGS,
)


def statistics_options(
    args: argparse.Namespace, ks: Sequence[int] | None = None
) -> StatisticsOptions:
    """Return what these flags say."""
    from gradebox.eval.results.statistics.counts import StatisticsOptions

    return StatisticsOptions(ks, args.level, args.seed, args.cluster_by_contest)


def compare_with_site(args: argparse.Namespace) -> int:
    """Print how far a run agrees with a site's verdicts; return the exit status."""
    from gradebox.eval.reporting.agreement import agreement_lines, read_agreement

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
    from gradebox.eval.reporting.comparison import (
        comparison_lines,
        find_differences,
        paired,
        read_run,
        warning_lines,
    )

    a, b = read_run(args.a), read_run(args.b)
    result = paired(a.shares, b.shares, statistics_options(args))
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
