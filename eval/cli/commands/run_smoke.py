"""Run equational theories: `python eval/run_smoke.py --limit 2 --models gpt-oss-120b`.

Prints a JSON line for each problem and a summary. Needs OPENROUTER_API_KEY.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.parser import CommandParser, not_negative, positive_int
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.models.exchange import RequestOutcome


def parser() -> CommandParser:
    """Return the parser of the command's flags."""
    p = CommandParser(
        prog="run_smoke.py",
        description="Ask models whether one equation implies another; print a line per problem.",
    )
    add = p.add_argument
    add(
        "--problems",
        "--problem-file",
        type=Path,
        default=DATA / "equational" / "problems.jsonl",
        metavar="FILE",
        help="problems as JSON lines",
    )
    add("--limit", type=positive_int, default=20, help="only the first N problems")
    add("--models", nargs="*", default=[], metavar="ALIAS", help="only these models")
    add(
        "--models-file",
        "--model-file",
        type=Path,
        default=DATA.parent / "evaluation_models.json",
        metavar="FILE",
        help="the models by alias",
    )
    add(
        "--prompt-file",
        type=Path,
        default=DATA / "equational" / "prompt.txt",
        metavar="FILE",
        help="template of the prompt",
    )
    add("--max-tokens", type=positive_int, help="output tokens, instead of the models file's")
    add("--timeout", type=not_negative, default=180.0, help="seconds for an HTTP exchange")
    add(
        "--call-timeout",
        type=not_negative,
        default=240.0,
        help="seconds for a call with its retries; 0: no limit",
    )
    add("--concurrency", type=positive_int, default=4, help="calls at once")
    add(
        "--output",
        type=Path,
        metavar="DIR",
        help="keep the responses in DIR/<alias>.jsonl; the same command asks only for missing ones",
    )
    add("--hide-response", action="store_true", help="omit response_text")
    add(
        "--api-key-env",
        default="OPENROUTER_API_KEY",
        metavar="NAME",
        help="environment variable with the key",
    )
    add(
        "--base-url",
        default="https://openrouter.ai/api/v1",
        metavar="URL",
        help="address of the API",
    )
    return p


def smoke(args: argparse.Namespace) -> int:
    """Ask every model every problem and return the exit status."""
    from dataclasses import replace

    from gradebox.eval.models.addresses import check_reachable
    from gradebox.eval.models.answers import equational
    from gradebox.eval.models.api_key import read_api_key
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


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, smoke, argv)
