"""Ask a server for solutions to the problems of a code dataset, and optionally grade them.

    gradebox sample --server-url http://localhost:8000 --num-samples 4 \\
        --temperature 0.8 --output solutions.jsonl --grade -- --k 1,4
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.parser import CommandParser, not_negative, positive_int
from gradebox.eval.cli.sampling_flags import add_sampling_flags, sampler_options, sampling_fields
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.models.exchange import Request
    from gradebox.eval.models.servers import Server


def parser() -> CommandParser:
    """Return the parser of the command's flags."""
    p = CommandParser(
        prog="gradebox sample",
        description="Ask a server for solutions to the problems of a code dataset.",
    )
    add = p.add_argument
    add("--server-url", required=True, help="address of the server")
    add(
        "--api",
        choices=("chat", "completions", "local"),
        default="chat",
        help="OpenAI-compatible chat or text completions, or the local contract",
    )
    add("--model-name", metavar="NAME", help="the server's name of the model")
    add(
        "--dataset",
        default="open-r1/codeforces",
        help="name on the Hugging Face hub, or a local file or folder",
    )
    add("--dataset-split", default="test", help="split of the dataset")
    add("--dataset-subsets", default="verifiable,default", help="subsets of the dataset")
    add("--problems", default="", metavar="ID[,ID]", help="only these")
    add("--limit", type=positive_int, help="only the first N problems")
    add("--num-samples", type=positive_int, default=1, help="solutions per problem")
    add("--language", default="python", help="language of the solutions")
    add(
        "--prompt-file",
        type=Path,
        default=DATA / "code" / "prompt.txt",
        help="template of the prompt",
    )
    add_sampling_flags(p, max_tokens=16384, concurrency=16, call_timeout_s=1800.0)
    add("--request-interval", type=not_negative, default=0.0, help="minimum seconds between calls")
    add("--response-field", default="answer", help="field of the answer with --api local")
    add("--output", type=Path, default=Path("solutions.jsonl"), help="file of the solutions")
    add("--grade", action="store_true", help="grade the solutions afterwards")
    add("grader_flags", nargs="*", metavar="-- GRADER_FLAG", help="flags for the grader")
    return p


def sample(args: argparse.Namespace) -> int:
    """Ask for the missing solutions, grade them with --grade, and return the exit status."""
    from gradebox.eval.models.addresses import check_reachable
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
    options = sampler_options(args, args.request_interval)
    if args.fresh:
        discard_responses([args.output])
    with ResponseFile(args.output, parameters=server.parameters) as file:
        progress = file.ask_missing(requests, server, options, "solutions", language=language)
        count = len(file)
    print(f"{args.output}: {count} solutions, {progress.answered} of them new", flush=True)
    if progress.failed:
        print(
            f"{progress.failed} requests failed (reasons in {args.output.stem}.failed.jsonl); run "
            "the same command again to retry them"
        )
    status = ExitStatus.INFRASTRUCTURE if progress.failed else ExitStatus.OK
    return max(status, _grade(args)) if args.grade and count else status


def _requests(args: argparse.Namespace, language: str) -> Iterator[Request]:
    """Yield a request for every sample of every selected problem."""
    from gradebox.eval.models.answers import code_prompts
    from gradebox.eval.models.exchange import Request

    template = code_prompts.read_template(args.prompt_file)
    described = args.prompt_file == DATA / "code" / "prompt.txt"
    other = code_prompts.read_template(code_prompts.TEMPLATE) if described else template
    selected = {name for name in args.problems.split(",") if name}
    found: set[str] = set()
    rows = code_prompts.read_rows(args.dataset, args.dataset_split, args.dataset_subsets.split(","))
    for number, row in enumerate(rows, 1):
        name = code_prompts.get_problem_id(row, number, args.dataset)
        if (selected and name not in selected) or len(found) == args.limit:
            continue
        if name in found:
            raise InputError(
                f"--dataset {args.dataset} row {number}: an earlier row has the same id {name!r}; "
                "ids must be unique"
            )
        found.add(name)
        used = other if "language" in row else template  # rows of other data sets
        prompt = code_prompts.render(used, row, row.get("language") or language)
        for i in range(args.num_samples):
            yield Request.of(name, i, prompt, chat=args.api == "chat", seed=args.seed)
    missing = sorted(selected - found)
    if missing and args.limit is None:
        raise InputError(f"--problems {missing[0]!r} is not in {args.dataset}; check the id")
    if not found:
        raise InputError(f"--dataset {args.dataset} has no problem; give another dataset")


def _server(args: argparse.Namespace) -> Server:
    from gradebox.eval.models.addresses import get_served_model
    from gradebox.eval.models.api_key import read_api_key
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, sample, argv)
