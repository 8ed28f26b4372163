"""The main command: reads flags, grades, prints, and ends with the documented status."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from eval.flags import parse, shown
from eval.input_error import InputError
from eval.options import Options
from eval.stopping import INTERRUPTED_STATUS, end_undisturbed, sigterm_like_ctrl_c
from eval.streams import steady_streams, tell

BAD_INPUT = 2


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Runs the command; gives its exit status (0, 2, 3 or 130)."""
    steady_streams()
    with sigterm_like_ctrl_c():
        status = _ended(argv, prog)
    if status == INTERRUPTED_STATUS:
        end_undisturbed()
    return status


def _ended(argv: Sequence[str] | None, prog: str | None) -> int:
    """Grades and turns what ends it early into its line on stderr and its status."""
    try:
        return _grade(parse(argv, prog))
    except InputError as e:
        tell("error: " + " ".join(str(e).split("\n")), sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        tell("interrupted; start the same command again to go on", sys.stderr)
        return INTERRUPTED_STATUS


def _grade(options: Options) -> int:
    tell(shown(options))
    if options.dry_run:
        from eval.dry_run import describe_plan

        tell(describe_plan(options))
        return 0
    from eval.run import log_to_file, run_grading
    from eval.summary import loud_lines, table

    if options.log_file is not None:
        log_to_file(options.log_file)
    result = run_grading(options, say=tell)
    for file in result.files:
        if file.metrics is not None:
            tell(table(file.metrics, str(file.folder)))
            for line in loud_lines(file.metrics):
                tell(line, sys.stderr)
    if result.interrupted:
        tell("Interrupted. Start the same command again to go on where it stopped.")
    return result.exit_status
