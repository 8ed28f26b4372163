"""The main command: reads flags, grades, prints, and ends with the documented status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from eval.flags import parse, shown
from eval.input_error import InputError
from eval.options import Options

BAD_INPUT = 2


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> int:
    """Runs the command; gives its exit status (0, 2, 3 or 130)."""
    try:
        return _grade(parse(argv, prog))
    except InputError as e:
        print(f"error: {e}", file=sys.stderr)
        return BAD_INPUT
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BAD_INPUT
    except KeyboardInterrupt:
        print("interrupted before the run began", file=sys.stderr)
        return 130


def _grade(options: Options) -> int:
    print(shown(options), flush=True)
    if options.dry_run:
        from eval.dry_run import describe_plan

        print(describe_plan(options))
        return 0
    from eval.run import log_to_file, run_grading
    from eval.summary import loud_lines, table

    if options.log_file is not None:
        log_to_file(options.log_file)
    result = run_grading(options, say=lambda text: print(text, flush=True))
    for file in result.files:
        if file.metrics is not None:
            print(table(file.metrics, str(file.folder)))
            for line in loud_lines(file.metrics):
                print(line, file=sys.stderr)
    if result.interrupted:
        print("Interrupted. Start the same command again to go on where it stopped.")
    return result.exit_status
