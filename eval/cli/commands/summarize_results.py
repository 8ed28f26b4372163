"""Summarise benchmark runs: `python eval/summarize_results.py --dirname outputs`.

Writes a table of models and benchmarks, weighted by samples, as JSON, CSV and a plot.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.parser import CommandParser
from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.exit_status import ExitStatus


def parser() -> CommandParser:
    """Return the parser of the command's flags."""
    p = CommandParser(
        prog="summarize_results.py",
        description="Summarise every metrics.json under a folder, weighted by samples.",
    )
    p.add_argument(
        "--dirname", type=Path, default=Path("outputs"), metavar="DIR", help="folder of the runs"
    )
    p.add_argument(
        "--summarize_dir",
        "--summarize-dir",
        type=Path,
        default=Path("summary"),
        metavar="DIR",
        help="folder of the summary",
    )
    p.add_argument("--no-plot", action="store_true", help="omit the plot")
    return p


def summarize(args: argparse.Namespace) -> int:
    """Write the summary's files, print the table, and return the exit status."""
    from gradebox.eval.common.output_files import write_json
    from gradebox.eval.models.benchmarks import summary

    models = summary.read_figures(args.dirname)
    write_json(args.summarize_dir / "summary.json", summary.as_json(models))
    try:
        (args.summarize_dir / "summary.csv").write_text(summary.as_csv(models), "utf-8")
        if not args.no_plot:
            summary.plot(models, args.summarize_dir / "summary.png")
    except ImportError:
        print("no plot: Matplotlib is not installed; pip install 'gradebox[plot]'", file=sys.stderr)
    except OSError as error:
        raise InputError(
            f"cannot write into {args.summarize_dir}: {error.strerror}; choose another folder"
        ) from None
    print(summary.as_text(models))
    return ExitStatus.OK


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, summarize, argv)
