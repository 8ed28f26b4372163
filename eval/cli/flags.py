"""The command line of the main command, made from the fields of `Options`."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any

from gradebox.eval.cli.parser import CommandParser
from gradebox.eval.grading.flag import Flag, flag_name, kind_of, typed
from gradebox.eval.grading.options import FLAGS, GROUPS, Options

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
