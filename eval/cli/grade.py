"""The main command: parse the flags, grade, print the summary."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.flags import changed_flags, make_parser, options_from
from gradebox.eval.common.signals import how_to_continue, ignore_signals
from gradebox.eval.common.streams import print_line
from gradebox.eval.grading.options import Options
from gradebox.sandbox.common.exit_status import ExitStatus


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Run the command and return its exit status."""
    status = run_command(
        partial(make_parser, prog),
        lambda arguments: _grade(options_from(arguments)),
        argv,
        log_to_stderr=False,  # a run logs into its results folder
    )
    if status == ExitStatus.INTERRUPTED:
        ignore_signals()
    return status


def _grade(options: Options) -> int:
    print_line(changed_flags(options))
    if options.dry_run:
        from gradebox.eval.cli.dry_run import describe_plan

        print_line(describe_plan(options))
        return ExitStatus.OK
    import sys

    from gradebox.eval.cli.run import log_to_file, run_grading
    from gradebox.eval.cli.summary import table, warning_lines

    if options.log_file is not None:
        log_to_file(options.log_file)
    result = run_grading(options, say=print_line)
    for file in result.files:
        if file.metrics is not None:
            print_line(table(file.metrics, str(file.folder)))
            for line in warning_lines(file.metrics):
                print_line(line, sys.stderr)
    if result.no_tests:
        print_line(f"error: {result.no_tests}", sys.stderr)
    if result.interrupted:
        argv = ["--fresh"] if options.fresh else []
        print_line(f"Interrupted; {how_to_continue(argv)} where it stopped.")
    return result.exit_status
