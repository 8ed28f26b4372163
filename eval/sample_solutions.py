"""Asks a server for solutions to a code dataset's problems, and feeds the grader.

    python eval/sample_solutions.py --server-url http://localhost:8000 --num-samples 4 \\
        --temperature 0.8 --output solutions.jsonl --grade -- --k 1,4
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eval.sampling.model import Outcome, Request
    from eval.sampling.servers import Server

ROOT = Path(__file__).resolve().parents[1]


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    from eval.answers.command import natural_int, not_negative, positive_int

    p = argparse.ArgumentParser(
        prog="sample_solutions.py",
        description="Asks a server for solutions to the problems of a code dataset.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    p.add_argument("--server-url", required=True, help="the server's address")
    p.add_argument(
        "--api",
        choices=("chat", "completions", "local"),
        default="chat",
        help="OpenAI-compatible chat or text completions, or the local contract",
    )
    p.add_argument("--model-name", metavar="NAME", help="what the server calls its model")
    p.add_argument("--dataset", default="open-r1/codeforces")
    p.add_argument("--dataset-split", default="test")
    p.add_argument("--dataset-subsets", default="verifiable,default")
    p.add_argument("--problems", default="", metavar="ID[,ID]", help="only these")
    p.add_argument("--limit", type=positive_int, help="only the first N problems")
    p.add_argument("--num-samples", type=positive_int, default=1, help="solutions a problem")
    p.add_argument("--language", default="python", help="what the solutions are to be written in")
    p.add_argument(
        "--prompt-file", type=Path, default=ROOT / "eval" / "data" / "code" / "prompt.txt"
    )
    p.add_argument("--temperature", type=not_negative, default=0.0)
    p.add_argument("--top-p", type=not_negative, default=1.0)
    p.add_argument("--max-tokens", type=positive_int, default=16384)
    p.add_argument("--seed", type=int, help="seed of the first sample; the next has the next")
    p.add_argument("--concurrency", type=positive_int, default=16, help="calls at once")
    p.add_argument(
        "--request-interval", type=not_negative, default=0.0, help="least seconds between calls"
    )
    p.add_argument(
        "--call-timeout", type=not_negative, default=1800.0, help="seconds a call, 0: none"
    )
    p.add_argument("--max-retries", type=natural_int, help="tries after the first")
    p.add_argument("--response-field", default="answer", help="where --api local has the answer")
    p.add_argument("--api-key-env", default="OPENAI_API_KEY", metavar="NAME")
    p.add_argument("--output", type=Path, default=Path("solutions.jsonl"))
    p.add_argument("--fresh", action="store_true", help="ask everything again")
    p.add_argument("--grade", action="store_true", help="grade the solutions afterwards")
    p.add_argument("grader_flags", nargs="*", metavar="-- GRADER_FLAG", help="after --grade")
    return p


def sample(args: argparse.Namespace) -> int:
    """Asks what is lacking, then grades if asked to; the exit status."""
    from eval.command import EXIT_INFRASTRUCTURE, EXIT_OK
    from eval.input_error import InputError
    from eval.sampling.progress import Progress
    from eval.sampling.reach import check_reachable
    from eval.sampling.response_file import ResponseFile
    from eval.sampling.retry import RetryPolicy
    from eval.sampling.sampler import Sampler, SamplerOptions
    from sandbox.errors import UnknownLanguage
    from sandbox.languages import find

    if args.grader_flags and not args.grade:
        raise InputError(f"{args.grader_flags[0]!r}: flags for the grader need --grade")
    try:
        language = find(args.language).name
    except UnknownLanguage as error:
        raise InputError(f"--language: {error}") from None
    requests = list(_requests(args, language))
    check_reachable(args.server_url, "--server-url")
    server = _server(args)
    options = SamplerOptions(
        concurrency=args.concurrency,
        interval_s=args.request_interval,
        http_timeout_s=args.call_timeout or 3600.0,
        call_timeout_s=args.call_timeout or None,
        retry=RetryPolicy(max_retries=args.max_retries),
    )
    with ResponseFile(args.output, parameters=server.parameters, fresh=args.fresh) as file:
        lacking = [r for r in requests if file.lacks(r)]
        with Progress(len(lacking), "solutions") as progress:

            def done(outcome: Outcome) -> None:
                file.add(outcome, language=language)
                progress.add(outcome)

            Sampler(server, options).run(lacking, done)
        there = len(file)
    print(f"{args.output}: {there} solutions, {progress.answered} of them new", flush=True)
    if progress.failed:
        print(
            f"{progress.failed} requests failed, see {args.output.stem}.failed.jsonl; run the same "
            "command again to ask them again"
        )
    status = EXIT_INFRASTRUCTURE if progress.failed else EXIT_OK
    return max(status, _grade(args)) if args.grade and there else status


def _requests(args: argparse.Namespace, language: str) -> Iterator[Request]:
    """Every sample of every problem that is asked for."""
    from eval.answers.statements import read_template, render, rows_of, statement_id
    from eval.input_error import InputError
    from eval.sampling.model import Request

    template = read_template(args.prompt_file)
    wanted = {name for name in args.problems.split(",") if name}
    seen: set[str] = set()
    for number, row in enumerate(
        rows_of(args.dataset, args.dataset_split, args.dataset_subsets.split(",")), 1
    ):
        name = statement_id(row, number, args.dataset)
        if (wanted and name not in wanted) or len(seen) == args.limit:
            continue
        if name in seen:
            raise InputError(f"--dataset {args.dataset} row {number}: id {name!r} is there twice")
        seen.add(name)
        prompt = render(template, row, language)
        for i in range(args.num_samples):
            seed = None if args.seed is None else args.seed + i
            if args.api == "chat":
                yield Request(name, i, ({"role": "user", "content": prompt},), seed=seed)
            else:
                yield Request(name, i, prompt=prompt, seed=seed)
    missing = sorted(wanted - seen)
    if missing and args.limit is None:
        raise InputError(f"--problems {missing[0]!r} is not in {args.dataset}")
    if not seen:
        raise InputError(f"--dataset {args.dataset} has no problem")


def _server(args: argparse.Namespace) -> Server:
    from eval.sampling.discover import served_model
    from eval.sampling.key import key_from
    from eval.sampling.servers import LocalContract, OpenAIChat, OpenAICompletions

    secret = key_from(args.api_key_env)
    sampling = {
        "temperature": args.temperature,
        "top_p": args.top_p,
        "max_tokens": args.max_tokens,
    }
    if args.api == "local":
        return LocalContract(args.server_url, "codeforces", sampling, args.response_field, secret)
    kind = OpenAIChat if args.api == "chat" else OpenAICompletions
    model = args.model_name or served_model(args.server_url, secret)
    return kind(args.server_url, model, sampling, secret)


def _grade(args: argparse.Namespace) -> int:
    from eval.cli import main as grade

    flags = ["--solutions-path", str(args.output), "--dataset", args.dataset]
    flags += ["--dataset-split", args.dataset_split, "--dataset-subsets", args.dataset_subsets]
    return grade([*flags, *args.grader_flags])


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: sample(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
