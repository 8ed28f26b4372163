"""Grade a file of short answers: `gradebox answers FILE`.

Prints how many responses give the reference answer, and how the others were decided.
Exit status: 0 graded; 2 bad input; 3 no worker process could be started.
"""

from __future__ import annotations

import argparse
import contextlib
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.commands.answer import add_policy
from gradebox.eval.cli.parser import CommandParser
from gradebox.sandbox.common.exit_status import ExitStatus


def parser() -> CommandParser:
    """Return the parser of the command line."""
    p = CommandParser(
        prog="gradebox answers",
        description="Grade the responses of a JSONL file against their reference answers.",
    )
    p.add_argument("file", metavar="FILE", type=Path, help="a JSON object with both on each line")
    p.add_argument("--gold", metavar="FIELD", help="field of the reference, such as answer or ref")
    p.add_argument("--response", metavar="FIELD", help="field of the response or bare answer")
    p.add_argument("--output", metavar="FILE", type=Path, help="JSONL file of the verdicts")
    add_policy(p)
    return p


def answers(args: argparse.Namespace) -> int:
    """Grade the file, write the verdicts, print the counts; return the exit status."""
    from tqdm import tqdm

    from gradebox.eval.common.errors import InputError
    from gradebox.eval.common.output_files import replacing
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, answers, argv)
