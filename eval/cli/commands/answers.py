"""Grade short answers: one, explained (`gradebox answer GOLD RESPONSE`), or a file of them
(`gradebox answers FILE`).

The file's command prints how many responses give the reference answer, and how the others were
decided. Exit status of both: 0 graded; 2 bad input; 3 no worker process could be started. For one
answer, 0 means equal, and 1 not equal.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from functools import partial
from pathlib import Path

from gradebox.eval.cli.command import CommandParser, add_flags, run_command
from gradebox.sandbox.common.exit_status import ExitStatus

POLICIES = ("strict", "dart", "lm-open-science", "harness")


def parser_of_one() -> CommandParser:
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
    add_flags(
        p,
        ("--policy", POLICIES, "strict", "what counts as equal"),
        ("--timeout", float, 5.0, "CPU seconds of a comparison"),
    )


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


main_one = partial(run_command, parser_of_one, answer)


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        prog="gradebox answers",
        description="Grade the responses of a JSONL file against their reference answers.",
    )
    p.add_argument("file", metavar="FILE", type=Path, help="a JSON object with both on each line")
    add_flags(
        p,
        ("--gold FIELD", str, None, "field of the reference, such as answer or ref"),
        ("--response FIELD", str, None, "field of the response or bare answer"),
        ("--output FILE", Path, None, "JSONL file of the verdicts"),
    )
    add_policy(p)
    return p


def answers(args: argparse.Namespace) -> int:
    """Grade the file, write the verdicts, print the counts; return the exit status."""
    from tqdm import tqdm

    from gradebox.eval.common.errors import InputError
    from gradebox.eval.common.files import replacing
    from gradebox.eval.models.answers import pair_file

    counts: Counter[str] = Counter()
    with replacing(args.output) if args.output else contextlib.nullcontext() as output:
        try:
            graded = pair_file.grade_file(
                args.file, args.policy, args.timeout, args.gold, args.response
            )
            for number, line, grade in tqdm(graded, unit="", disable=None, leave=False):
                outcome = pair_file.outcome_of(grade)
                counts[outcome] += 1
                if output is not None:
                    verdict = {
                        "line": number,
                        **({"id": line["id"]} if "id" in line else {}),
                        "equal": grade.equal,
                        "outcome": outcome,
                        "answer": grade.answer,
                        "reason": grade.reason,
                    }
                    output.write(json.dumps(verdict).encode() + b"\n")
        except ValueError as error:
            raise InputError(str(error)) from None
        if not counts:
            raise InputError(f"{args.file}: no lines")
    print(pair_file.table(counts))
    return ExitStatus.OK


main = partial(run_command, parser, answers)
