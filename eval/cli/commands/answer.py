"""Judge a short answer and explain the verdict: `gradebox answer GOLD RESPONSE`.

Exit status: 0 equal; 1 not equal; 2 bad input; 3 no worker process could be started.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.parser import CommandParser
from gradebox.sandbox.common.exit_status import ExitStatus

POLICIES = ("strict", "dart", "lm-open-science", "harness")


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        prog="gradebox answer",
        description="Judge whether a response gives the reference answer, and say why.",
        epilog="Put -- before an answer that starts with a minus sign.",
    )
    p.add_argument("gold", metavar="GOLD", help="the reference answer, such as '\\frac12'")
    p.add_argument("response", metavar="RESPONSE", help="a response or a bare answer; -: stdin")
    add_policy(p)
    return p


def add_policy(p: CommandParser) -> None:
    """Add the flags that say how two answers are compared."""
    p.add_argument("--policy", choices=POLICIES, default="strict", help="what counts as equal")
    p.add_argument("--timeout", type=float, default=5.0, help="CPU seconds of a comparison")


def answer(args: argparse.Namespace) -> int:
    """Print the verdict and how it came about; return the exit status."""
    from gradebox.checkers.math import grade
    from gradebox.eval.common.errors import InputError

    response = sys.stdin.read() if args.response == "-" else args.response
    try:
        found = grade(args.gold, response, args.policy, args.timeout, explain=True)
    except ValueError as error:
        raise InputError(str(error)) from None
    assert found.explanation is not None
    why = found.explanation
    rows = (
        ("verdict", "equal" if found.equal else "not equal"),
        ("reason", found.reason),
        ("tier", f"{found.tier} ({'text or plain numbers' if found.tier == 1 else 'mathematics'})"),
        ("policy", args.policy),
        ("gold", why.gold),
        ("  read as", why.gold_reading),
        ("answer", why.answer),
        ("  read as", why.answer_reading),
    )
    for name, value in rows:
        print(f"{name:<11}{value}")
    return ExitStatus.OK if found.equal else ExitStatus.NEGATIVE


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, answer, argv)
