"""Run equational theories: `python eval/run_smoke.py --limit 2 --models gpt-oss-120b`.

Prints a JSON line for each problem and a summary. Needs OPENROUTER_API_KEY.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradebox.eval.cli.command import (
    CommandParser,
    add_flags,
    not_negative,
    positive_int,
    run_command,
)
from gradebox.eval.cli.sampling_flags import CALL_TIMEOUT_HELP
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.models.exchange import RequestOutcome


MODELS_FILE = DATA.parent / "evaluation_models.json"
PROBLEMS_HELP = "problems as JSON lines"
OUTPUT_HELP = "keep the responses in DIR/<alias>.jsonl; the same command asks only for missing ones"


def parser() -> CommandParser:
    """Return the parser of the command's flags."""
    p = CommandParser(
        prog="run_smoke.py",
        description="Ask models whether one equation implies another; print a line per problem.",
    )
    add_flags(
        p,
        ("--problems --problem-file FILE", Path, DATA / "equational/problems.jsonl", PROBLEMS_HELP),
        ("--limit", positive_int, 20, "only the first N problems"),
        ("--models ALIAS*", str, [], "only these models"),
        ("--models-file --model-file FILE", Path, MODELS_FILE, "the models by alias"),
        ("--prompt-file FILE", Path, DATA / "equational/prompt.txt", "template of the prompt"),
        ("--max-tokens", positive_int, None, "output tokens, instead of the models file's"),
        ("--timeout", not_negative, 180.0, "seconds for an HTTP exchange"),
        ("--call-timeout", not_negative, 240.0, CALL_TIMEOUT_HELP),
        ("--concurrency", positive_int, 4, "calls at once"),
        ("--output DIR", Path, None, OUTPUT_HELP),
        ("--hide-response", bool, False, "omit response_text"),
        ("--api-key-env NAME", str, "OPENROUTER_API_KEY", "environment variable with the key"),
        ("--base-url URL", str, "https://openrouter.ai/api/v1", "address of the API"),
    )
    return p


def smoke(args: argparse.Namespace) -> int:
    """Ask every model every problem and return the exit status."""
    from dataclasses import replace

    from gradebox.eval.models.answers import equational
    from gradebox.eval.models.http_json import check_reachable, read_api_key
    from gradebox.eval.models.openrouter import openrouter_server, read_models, select_models
    from gradebox.eval.models.sampler import Sampler, SamplerOptions

    entries = select_models(read_models(args.models_file), dict.fromkeys(args.models))
    implications = equational.read_implications(args.problems, args.limit)
    template = equational.read_template(args.prompt_file)
    api_key = read_api_key(args.api_key_env)
    if not api_key:
        raise InputError(f"no API key: set {args.api_key_env} to your OpenRouter key")
    check_reachable(args.base_url, "--base-url")
    options = SamplerOptions(
        concurrency=args.concurrency,
        http_timeout_s=args.timeout or 180.0,
        call_timeout_s=args.call_timeout or None,
    )
    by_id = {implication.id: implication for implication in implications}
    counts = equational.RunCounts()

    def emit(line: dict[str, Any]) -> None:
        counts.add(line)
        print(json.dumps(line), flush=True)

    try:
        for entry in entries:
            if args.max_tokens:
                entry = replace(entry, max_output_tokens=args.max_tokens)
            server = openrouter_server(entry, api_key, args.base_url)
            output = equational.OrderedOutput(list(by_id), emit)

            def on_outcome(
                outcome: RequestOutcome,
                alias: str = entry.alias,
                output: equational.OrderedOutput = output,
            ) -> None:
                implication = by_id[outcome.request.item]
                line = equational.output_line(alias, implication, outcome, args.hide_response)
                output.add(line)

            requests = equational.implication_requests(implications, template)
            try:
                if args.output:
                    path = args.output / f"{entry.alias}.jsonl"
                    equational.ask_missing(path, requests, server, options, on_outcome)
                else:
                    Sampler(server, options).run(requests, on_outcome)
            finally:
                output.flush()
    finally:
        # Also after an interruption: the calls made so far were paid for.
        print(json.dumps(counts.summary()), flush=True)
    return ExitStatus.INFRASTRUCTURE if counts.failed else ExitStatus.OK


main = partial(run_command, parser, smoke)
