"""Sums up benchmark runs: `python eval/summarize_results.py --dirname outputs`.

A table of models and benchmarks, weighted by samples, as text, JSON, CSV and a plot.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.benchmarks.summary import ModelFigures

ROOT = Path(__file__).resolve().parents[1]


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    p = argparse.ArgumentParser(
        prog="summarize_results.py",
        description="Sums up every metrics.json under a folder, weighted by samples.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    p.add_argument("--dirname", type=Path, default=Path("outputs"), help="outputs of the runs")
    p.add_argument(
        "--summarize_dir", "--summarize-dir", type=Path, default=Path("summary"), metavar="DIR"
    )
    p.add_argument("--no-plot", action="store_true", help="leave the plot out")
    return p


def summarize(args: argparse.Namespace) -> int:
    """Reads, writes the three files, prints the table; the exit status."""
    from eval.answers.command import write_json
    from eval.benchmarks import summary
    from eval.command import EXIT_OK
    from eval.input_error import InputError

    models = summary.collect(args.dirname)
    write_json(args.summarize_dir / "summary.json", summary.as_json(models))
    try:
        (args.summarize_dir / "summary.csv").write_text(summary.as_csv(models), "utf-8")
        if not args.no_plot:
            _plot(models, args.summarize_dir / "summary.png")
    except OSError as error:
        raise InputError(f"cannot write into {args.summarize_dir}: {error.strerror}") from None
    print(summary.as_text(models))
    return EXIT_OK


def _plot(models: Sequence[ModelFigures], path: Path) -> None:
    from eval.benchmarks import summary

    try:
        summary.plot(models, path)
    except ImportError:
        print("no plot: Matplotlib is not installed (pip install matplotlib)", file=sys.stderr)


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: summarize(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
