"""The report of a run as one page: `python eval/report.py RESULTS [-o FILE]`.

RESULTS is a results folder or its records file. The page opens from the file system in any
browser. Exit status: 0 written, 2 bad input.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    p = argparse.ArgumentParser(
        description="Writes the report of a run: summary, plots, and every solution with its "
        "cases, in one HTML page (with a folder of data beside it when it is large).",
    )
    p.add_argument("results", metavar="RESULTS", help="results folder or records file")
    p.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="the page (RESULTS/report.html)"
    )
    p.add_argument("--k", help="for pass@k: 1,5,10 (those of the run)")
    p.add_argument("--level", type=float, default=0.95, help="of the intervals (0.95)")
    p.add_argument("--seed", type=int, default=0, help="of the bootstrap (0)")
    p.add_argument(
        "--cluster-by-contest",
        action="store_true",
        help="intervals that allow for problems of one contest being alike",
    )
    return p


def report(args: argparse.Namespace) -> int:
    """Write the report and say where; the exit status."""
    from eval.input_error import InputError
    from eval.report_parts.build import Wanted, build

    try:
        ks = sorted({1, *(int(k) for k in args.k.split(","))}) if args.k else None
    except ValueError:
        raise InputError(f"--k is {args.k!r}; give whole numbers such as 1,5,10") from None
    if ks and ks[0] < 1:
        raise InputError(f"--k is {args.k!r}; every k must be 1 or more")
    if not 0 < args.level < 1:
        raise InputError(f"--level is {args.level}; it must be between 0 and 1, such as 0.95")
    if args.seed < 0:
        raise InputError(f"--seed is {args.seed}; it must be 0 or more")
    wanted = Wanted(ks, args.level, args.seed, args.cluster_by_contest)
    written = build(args.results, args.output, wanted)
    beside = f" (keep {written.data.name}/ beside it)" if written.data else ""
    print(f"{written.path}: {written.solutions:,} solutions{beside}")
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: report(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
