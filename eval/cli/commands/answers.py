"""Grade short answers: one, explained (`gradebox answer GOLD RESPONSE`), or a file of them
(`gradebox answers FILE`).

The file's command prints how many responses give the reference answer, and how the others were
decided. Exit status of both: 0 graded; 2 bad input; 3 no worker process could be started. For one
answer, 0 means equal, and 1 not equal. With --second-judge, 3 also when requests failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradebox.eval.cli.command import (
    REQUIRED,
    FlagRow,
    parser_of,
    run_command,
    sampler_options,
    sampling_fields,
    sampling_flags,
    status_of_failed,
)
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.models.answers import pair_file
    from gradebox.eval.models.answers.pair_file import SecondJudge, SecondVerdict

POLICIES = (
    *("strict", "rounded", "rounded:0.01", "rounded:2dp", "dart", "lm-open-science", "harness"),
)
JUDGE_HELP = "model that is asked about answers not found equal; its verdicts are counted apart"
ASKED = ("not-read", "rejected")


def policy_name(text: str) -> str:
    """Return the name of a policy; raise ArgumentTypeError for an unknown one."""
    from gradebox.checkers.math.policy import get_policy

    try:
        get_policy(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


POLICY_FLAGS: tuple[FlagRow, ...] = (
    ("--policy", policy_name, "strict", f"what counts as equal: {', '.join(POLICIES)}"),
    ("--timeout", float, 5.0, "CPU seconds of a comparison"),
)
parser_of_one = parser_of(
    "Judge whether a response gives the reference answer, and say why.",
    ("gold GOLD", str, REQUIRED, "the reference answer, such as '\\frac12'"),
    ("response RESPONSE", str, REQUIRED, "a response or a bare answer; -: stdin"),
    *POLICY_FLAGS,
    prog="gradebox answer",
    epilog="Put -- before an answer that starts with a minus sign.",
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
        ("outcome", found.outcome),
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


parser = parser_of(
    "Grade the responses of a JSONL file against their reference answers.",
    ("file FILE", Path, REQUIRED, "a JSON object with both on each line"),
    ("--gold FIELD", str, None, "field of the reference, such as answer or ref"),
    ("--response FIELD", str, None, "field of the response or bare answer"),
    ("--choices FIELD", str, None, "field of the choices; choices and options are found"),
    ("--output FILE", Path, None, "JSONL file of the verdicts"),
    *POLICY_FLAGS,
    groups={
        "second judge": (
            ("--second-judge MODEL", str, None, JUDGE_HELP),
            ("--second-judge-url URL", str, None, "address of its OpenAI-compatible server"),
            ("--second-judge-of", ASKED, ASKED[0], "which answers it is asked about"),
            *sampling_flags(max_tokens=2048, concurrency=8, call_timeout_s=240.0),
        )
    },
    prog="gradebox answers",
)


def answers(args: argparse.Namespace) -> int:
    """Grade the file, write the verdicts, print the counts; return the exit status."""
    from tqdm import tqdm

    from gradebox.eval.common.errors import InputError
    from gradebox.eval.common.files import replacing
    from gradebox.eval.models.answers import pair_file

    counts: Counter[str] = Counter()
    opinions: Counter[SecondVerdict] = Counter()
    judge = _second_judge(args)

    def graded() -> Iterator[pair_file.GradedLine]:
        fields = args.gold, args.response, args.choices
        lines = pair_file.grade_file(args.file, args.policy, args.timeout, *fields)
        for line in tqdm(lines, unit="", disable=None, leave=False):
            pair_file.count(counts, line.grade)
            yield line

    with replacing(args.output) if args.output else contextlib.nullcontext() as output:
        try:
            own = (line.record() for line in graded())
            for record in judge.records(graded(), opinions) if judge else own:
                if output is not None:
                    output.write(json.dumps(record).encode() + b"\n")
        except ValueError as error:
            raise InputError(str(error)) from None
        if not counts:
            raise InputError(f"{args.file}: no lines")
    print(pair_file.table(counts))
    if judge is None:
        return ExitStatus.OK
    print(judge.table(opinions))
    return status_of_failed(opinions["failed"], f"{judge.replies.stem}.failed.jsonl")


def _second_judge(args: argparse.Namespace) -> SecondJudge | None:
    """Return the model that --second-judge names."""
    from gradebox.eval.common.errors import InputError

    if args.second_judge is None:
        return None
    for flag, value in (("--second-judge-url", args.second_judge_url), ("--output", args.output)):
        if value is None:
            raise InputError(f"--second-judge {args.second_judge} needs {flag}; add it")
    from gradebox.eval.models.answers.pair_file import SecondJudge
    from gradebox.eval.models.exchange import check_reachable, read_api_key
    from gradebox.eval.models.response_file import discard_responses
    from gradebox.eval.models.servers import OpenAIChat

    check_reachable(args.second_judge_url, "--second-judge-url")
    replies = args.output.with_name(f"{args.output.stem}.second-judge.jsonl")
    if args.fresh:
        discard_responses([replies])
    fields = sampling_fields(args) | ({} if args.seed is None else {"seed": args.seed})
    key = read_api_key(args.api_key_env)
    server = OpenAIChat(args.second_judge_url, args.second_judge, fields, key)
    return SecondJudge(server, sampler_options(args), args.second_judge_of, replies)


main = partial(run_command, parser, answers)
