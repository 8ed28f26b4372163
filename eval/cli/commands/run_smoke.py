"""Run equational theories: `python eval/run_smoke.py --limit 2 --models gpt-oss-120b`.

Prints a JSON line for each problem and a summary. Needs OPENROUTER_API_KEY.
"""

from __future__ import annotations

import argparse
import json
from functools import partial
from pathlib import Path

from gradebox.eval.cli.command import (
    CALL_TIMEOUT_HELP,
    not_negative,
    parser_of,
    positive_int,
    run_command,
    sampler_options,
)
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

MODELS_FILE = DATA.parent / "evaluation_models.json"
PROBLEMS_HELP = "problems as JSON lines"
OUTPUT_HELP = "keep the responses in DIR/<alias>.jsonl; the same command asks only for missing ones"


parser = parser_of(
    "Ask models whether one equation implies another; print a line per problem.",
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
    prog="run_smoke.py",
)


def smoke(args: argparse.Namespace) -> int:
    """Ask every model every problem and return the exit status."""
    import tempfile

    from msgspec.structs import replace

    from gradebox.eval.models.answers import equational
    from gradebox.eval.models.exchange import check_reachable, read_api_key
    from gradebox.eval.models.response_file import ResponseFile
    from gradebox.eval.models.servers import openrouter_server, read_models, select_models

    entries = select_models(read_models(args.models_file), dict.fromkeys(args.models))
    implications = equational.read_implications(args.problems, args.limit)
    requests = equational.implication_requests(
        implications, equational.read_template(args.prompt_file)
    )
    api_key = read_api_key(args.api_key_env)
    if not api_key:
        raise InputError(f"no API key: set {args.api_key_env} to your OpenRouter key")
    check_reachable(args.base_url, "--base-url")
    options = sampler_options(args, http_timeout_s=args.timeout or 180.0)
    counts = equational.RunCounts()
    try:
        with tempfile.TemporaryDirectory() as temporary:
            for alias, entry in entries.items():
                if args.max_tokens:
                    entry = replace(
                        entry,
                        max_output_tokens=args.max_tokens,
                        max_output_tokens_cap=args.max_tokens,
                    )
                server = openrouter_server(entry, api_key, args.base_url)
                path = (args.output or Path(temporary)) / f"{alias}.jsonl"
                with ResponseFile(path, parameters=server.parameters) as file:
                    try:
                        file.ask_missing(requests, server, options, alias)
                    finally:  # also after an interruption: the calls made so far were paid for
                        of_file = alias, implications, file, args.hide_response
                        for line in equational.output_lines(*of_file):
                            counts.add(line)
                            print(json.dumps(line), flush=True)
    finally:
        print(json.dumps(counts.summary()), flush=True)
    return ExitStatus.INFRASTRUCTURE if counts.failed else ExitStatus.OK


main = partial(run_command, parser, smoke)
