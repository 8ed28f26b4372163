"""Compare two runs problem by problem: `python eval/compare.py A B`.

A and B are results folders or their records files. Differences are B minus A.
Exit status: 0 compared, 2 bad input, or two runs that were not judged alike (see --anyway).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHOWN_CHANGES = 20


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    p = argparse.ArgumentParser(
        description="Compares two runs problem by problem: paired differences, their error, "
        "and which problems changed.",
    )
    p.add_argument("a", metavar="A", help="results folder or records file")
    p.add_argument("b", metavar="B", help="results folder or records file")
    p.add_argument("--json", action="store_true", help="print one JSON object")
    p.add_argument("--all", action="store_true", help="list every problem that changed")
    p.add_argument(
        "--anyway", action="store_true", help="compare runs whose limits or tests differ"
    )
    p.add_argument(
        "--cluster-by-contest",
        action="store_true",
        help="errors that allow for problems of one contest being alike",
    )
    p.add_argument("--level", type=float, default=0.95, help="of the interval (0.95)")
    p.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    return p


def compare(args: argparse.Namespace) -> int:
    """Print the comparison; the exit status."""
    from eval.compare_parts.circumstances import differences
    from eval.compare_parts.side import read_side
    from eval.compare_parts.text import comparison_lines, warning_lines
    from eval.input_error import InputError
    from eval.statistics import paired

    if not 0 < args.level < 1:
        raise InputError(f"--level is {args.level}; it must be between 0 and 1, such as 0.95")
    if args.seed < 0:
        raise InputError(f"--seed is {args.seed}; it must be 0 or more")
    a, b = read_side(args.a), read_side(args.b)
    result = paired(
        a.shares,
        b.shares,
        level=args.level,
        seed=args.seed,
        cluster_by_contest=args.cluster_by_contest,
    )
    if result is None:
        raise InputError(f"{args.a} and {args.b} have no problem in common; nothing to compare")
    found = differences(a, b)
    for line in warning_lines(found):
        print(line, file=sys.stderr)
    if any(difference.refuses for difference in found) and not args.anyway:
        raise InputError("the runs were not judged alike; --anyway compares them all the same")
    if args.json:
        names = {"a": args.a, "b": args.b}
        print(json.dumps({**names, **result, "differences": [asdict(d) for d in found]}))
        return 0
    for line in comparison_lines(a, b, result, shown_changes=None if args.all else SHOWN_CHANGES):
        print(line)
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: compare(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
