"""The main command: its flags, made from the fields of `Options`; grade; print the summary."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import MISSING, fields
from functools import partial
from typing import Any

from gradebox.eval.cli.command import CommandParser, run_command
from gradebox.eval.common.signals import how_to_continue, ignore_signals
from gradebox.eval.common.streams import print_line
from gradebox.eval.grading.flag import Flag, flag_name, kind_of, typed
from gradebox.eval.grading.options import FLAGS, GROUPS, Options
from gradebox.sandbox.common.exit_status import ExitStatus

DESCRIPTION = """\
Grade programs against the tests of their problems, in a sandbox.

Records are written to RESULTS_DIR/<name of the solutions file>/, one JSON line
for each solution in piston_eval_results.jsonl, and their summary to
piston_eval_metrics.json. An interrupted run continues where it stopped when the
same command is started again."""

EPILOG = """\
exit status:
  0    everything was graded
  2    bad input or usage
  3    graded, except for infrastructure errors
  130  interrupted; start the same command again to continue"""


def make_parser(prog: str | None = None) -> CommandParser:
    """Return the parser, with an argument for every field of `Options`."""
    parser = CommandParser(
        prog=prog,
        usage="%(prog)s --solutions-path FILE …",
        description=DESCRIPTION,
        epilog=EPILOG,
    )
    groups = {title: parser.add_argument_group(title) for title in GROUPS}
    for f in fields(Options):
        flag = FLAGS[f.name]
        required = f.default is MISSING and f.default_factory is MISSING
        default = None if f.default is MISSING else f.default
        settings = _settings(str(f.type), flag, required)
        groups[flag.group].add_argument(
            flag_name(f.name), dest=f.name, default=default, help=flag.help, **settings
        )
    return parser


def _settings(annotation: str, flag: Flag, required: bool) -> dict[str, Any]:
    """Return what argparse needs beside the name, the default and the help."""
    if annotation == "bool":
        return {"action": "store_true"}
    if flag.choices:
        return {"choices": flag.choices}
    settings: dict[str, Any] = {"metavar": flag.metavar, "type": _reader(annotation)}
    if required:
        return {**settings, "nargs": "+", "required": True}
    return {**settings, "action": "append"} if annotation.startswith("Mapping") else settings


def _reader(annotation: str) -> Callable[[str], Any]:
    kind = kind_of(annotation)

    def read(text: str) -> Any:
        try:
            return kind.parse(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {kind.wanted}") from None

    return read


def options_from(arguments: argparse.Namespace) -> Options:
    """Return the options of parsed arguments. Raises InputError for wrong values."""
    values = vars(arguments)
    return Options(**{**values, "time_limit_scale": dict(values["time_limit_scale"] or ())})


def changed_flags(options: Options) -> str:
    """Return the flags that differ from their defaults, as one would type them."""
    default = Options(solutions_path=())
    words = [
        typed(f.name, getattr(options, f.name)).replace(" ", "\u00a0", 1)
        for f in fields(options)
        if getattr(options, f.name) != getattr(default, f.name)
    ]
    return textwrap.fill(
        "  ".join(words), 79, break_long_words=False, break_on_hyphens=False
    ).replace("\u00a0", " ")


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
        from gradebox.eval.cli.summary import describe_plan

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
        print_line(f"Interrupted; {how_to_continue(argv)}.")
    return result.exit_status
