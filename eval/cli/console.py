"""The console script `gradebox`: dispatch to a command by its name.

gradebox grade --solutions-path …    eval/eval_with_piston_gentest_checker_stats.py
gradebox debug RESULTS …             eval/debug_case.py
gradebox answer GOLD RESPONSE        judge a short answer, explained
gradebox answers FILE                grade a file of short answers
gradebox verify PACKAGE              eval/verify.py
gradebox report RESULTS              eval/report.py
gradebox view RESULTS…               the report of runs, live, with running again
gradebox compare A B                 eval/compare.py
gradebox export RESULTS --to FILE    the records as CSV or parquet
gradebox serve --port 2000           python -m sandbox.server
gradebox doctor                      python -m sandbox.doctor
gradebox completion SHELL            flags and commands for bash, zsh and fish
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from gradebox.sandbox.common.exit_status import ExitStatus


class Command(NamedTuple):
    """A function (argv) -> int as module:name, and its line in the list of commands."""

    function: str
    help: str


COMMANDS: dict[str, Command] = {
    "grade": Command("eval.cli.grade:main", "grade a file of solutions"),
    "debug": Command("eval.cli.commands.debug:main", "run one case of a run again, explained"),
    "sample": Command(
        "eval.cli.commands.sample_solutions:main", "ask a server for solutions, and grade them"
    ),
    "answer": Command("eval.cli.commands.answers:main_one", "judge a short answer, explained"),
    "answers": Command("eval.cli.commands.answers:main", "grade a file of short answers"),
    "verify": Command("eval.cli.commands.verify:main", "grade the submissions of problem packages"),
    "report": Command("eval.cli.commands.report:main", "write the report of a run"),
    "view": Command("eval.cli.commands.view:main", "look at runs in the browser, run again"),
    "compare": Command("eval.cli.commands.compare:main", "compare two runs by problem"),
    "export": Command(
        "eval.cli.commands.report:main_of_table", "write records as a CSV or parquet table"
    ),
    "serve": Command("sandbox.server.__main__:main", "serve Piston's API and POST /grade"),
    "doctor": Command("sandbox.doctor:main", "show which isolation this machine offers"),
    "completion": Command(
        "eval.cli.commands.completion:main", "print the completion for bash, zsh or fish"
    ),
}


def usage() -> str:
    """Return the list of commands."""
    rows = [f"  {name:<12}{command.help}" for name, command in COMMANDS.items()]
    more = "gradebox COMMAND --help lists flags"
    return "\n".join(["usage: gradebox COMMAND [flags] | --version", "", *rows, "", more])


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the first argument names; return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments[0] if arguments else ""
    if name in ("-h", "--help"):
        print(usage())
        return ExitStatus.OK
    if name in ("-V", "--version"):
        system, python = os.uname(), ".".join(map(str, sys.version_info[:3]))
        version = import_module("gradebox").__version__
        print(f"gradebox {version}, Python {python}, {system.sysname} {system.machine}")
        return ExitStatus.OK
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        print(f"gradebox: there is no command {name[:80]!r}{hint}\n{usage()}", file=sys.stderr)
        return ExitStatus.BAD_INPUT
    sys.argv[0] = f"gradebox {name}"  # the name in the command's usage
    module, _, function = command.function.partition(":")
    status: int = getattr(import_module(f"gradebox.{module}"), function)(arguments[1:])
    return status


if __name__ == "__main__":
    sys.exit(main())
