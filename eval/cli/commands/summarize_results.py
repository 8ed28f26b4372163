"""Summarise benchmark runs: `python eval/summarize_results.py --dirname outputs`.

Writes a table of models and benchmarks, weighted by samples, as JSON, CSV and a plot.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from gradebox.eval.cli.command import parser_of, run_command
from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.exit_status import ExitStatus

parser = parser_of(
    "Summarise every metrics.json under a folder, weighted by samples.",
    ("--dirname DIR", Path, Path("outputs"), "folder of the runs"),
    ("--summarize_dir --summarize-dir DIR", Path, Path("summary"), "folder of the summary"),
    ("--no-plot", bool, False, "omit the plot"),
    prog="summarize_results.py",
)


def summarize(args: argparse.Namespace) -> int:
    """Write the summary's files, print the table, and return the exit status."""
    from gradebox.eval.common.files import write_json
    from gradebox.eval.models.benchmarks import summary

    models = summary.read_figures(args.dirname)
    write_json(args.summarize_dir / "summary.json", summary.as_json(models))
    try:
        summary.write_csv(models, args.summarize_dir / "summary.csv")
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


main = partial(run_command, parser, summarize)
