"""Ask a server for solutions to the problems of a code dataset, and optionally grade them.

    gradebox sample --server-url http://localhost:8000 --num-samples 4 \\
        --temperature 0.8 --output solutions.jsonl --grade -- --k 1,4
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradebox.eval.cli.command import (
    REQUIRED,
    not_negative,
    parser_of,
    positive_int,
    run_command,
    sampler_options,
    sampling_fields,
    sampling_flags,
    status_of_failed,
)
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import DATA

if TYPE_CHECKING:
    from gradebox.eval.models.exchange import Request
    from gradebox.eval.models.servers import Server

API_HELP = "OpenAI-compatible chat or text completions, or the local contract"
DATASET_HELP = "name on the Hugging Face hub, or a local file or folder"


parser = parser_of(
    "Ask a server for solutions to the problems of a code dataset.",
    ("--server-url", str, REQUIRED, "address of the server"),
    ("--api", ("chat", "completions", "local"), "chat", API_HELP),
    ("--model-name NAME", str, None, "the server's name of the model"),
    ("--dataset", str, "open-r1/codeforces", DATASET_HELP),
    ("--dataset-split", str, "test", "split of the dataset"),
    ("--dataset-subsets", str, "verifiable,default", "subsets of the dataset"),
    ("--problems ID[,ID]", str, "", "only these"),
    ("--limit", positive_int, None, "only the first N problems"),
    ("--num-samples", positive_int, 1, "solutions per problem"),
    ("--language", str, "python", "language of the solutions"),
    ("--prompt-file", Path, DATA / "code/prompt.txt", "template of the prompt"),
    *sampling_flags(max_tokens=16384, concurrency=16, call_timeout_s=1800.0),
    ("--request-interval", not_negative, 0.0, "minimum seconds between calls"),
    ("--response-field", str, "answer", "field of the answer with --api local"),
    ("--output", Path, Path("solutions.jsonl"), "file of the solutions"),
    ("--grade", bool, False, "grade the solutions afterwards"),
    ("grader_flags GRADER_FLAG*", str, (), "after --: flags for the grader"),
    prog="gradebox sample",
)


def sample(args: argparse.Namespace) -> int:
    """Ask for the missing solutions, grade them with --grade, and return the exit status."""
    from gradebox.eval.models.exchange import check_reachable
    from gradebox.eval.models.response_file import ResponseFile, discard_responses
    from gradebox.sandbox.errors import UnknownLanguage
    from gradebox.sandbox.languages import find

    if args.grader_flags and not args.grade:
        raise InputError(f"{args.grader_flags[0]!r}: flags for the grader need --grade")
    try:
        language = find(args.language).name
    except UnknownLanguage as error:
        raise InputError(f"--language: {error}") from None
    requests = list(_requests(args, language))
    check_reachable(args.server_url, "--server-url")
    server = _server(args)
    options = sampler_options(args, interval_s=args.request_interval)
    if args.fresh:
        discard_responses([args.output])
    with ResponseFile(args.output, parameters=server.parameters) as file:
        progress = file.ask_missing(requests, server, options, "solutions", language=language)
        count = len(file)
    print(f"{args.output}: {count} solutions, {progress.answered} of them new", flush=True)
    status = status_of_failed(progress.failed, f"{args.output.stem}.failed.jsonl")
    return max(status, _grade(args)) if args.grade and count else status


def _requests(args: argparse.Namespace, language: str) -> Iterator[Request]:
    """Yield a request for every sample of every selected problem."""
    from gradebox.eval.models.answers import code_prompts
    from gradebox.eval.models.exchange import Request

    selected = {name for name in args.problems.split(",") if name}
    found: set[str] = set()
    where, subsets = (args.dataset, args.dataset_split), args.dataset_subsets.split(",")
    prompts = code_prompts.prompts(*where, language, args.prompt_file, subsets)
    for number, (name, _, prompt) in enumerate(prompts, 1):
        if (selected and name not in selected) or len(found) == args.limit:
            continue
        if name in found:
            raise InputError(
                f"--dataset {args.dataset} row {number}: an earlier row has the same id {name!r}; "
                "ids must be unique"
            )
        found.add(name)
        for i in range(args.num_samples):
            yield Request.of(name, i, prompt, chat=args.api == "chat", seed=args.seed)
    missing = sorted(selected - found)
    if missing and args.limit is None:
        raise InputError(f"--problems {missing[0]!r} is not in {args.dataset}; check the id")
    if not found:
        raise InputError(f"--dataset {args.dataset} has no problem; give another dataset")


def _server(args: argparse.Namespace) -> Server:
    from gradebox.eval.models.exchange import get_served_model, read_api_key
    from gradebox.eval.models.servers import LocalContract, OpenAIChat, OpenAICompletions

    url, api_key, sampling = args.server_url, read_api_key(args.api_key_env), sampling_fields(args)
    if args.api == "local":
        return LocalContract(url, "codeforces", sampling, args.response_field, api_key)
    kind = OpenAIChat if args.api == "chat" else OpenAICompletions
    return kind(url, args.model_name or get_served_model(url, api_key), sampling, api_key)


def _grade(args: argparse.Namespace) -> int:
    from gradebox.eval.cli.grade import main as grade

    flags = ["--solutions-path", str(args.output), "--dataset", args.dataset]
    flags += ["--dataset-split", args.dataset_split, "--dataset-subsets", args.dataset_subsets]
    return grade([*flags, *args.grader_flags])


main = partial(run_command, parser, sample)
