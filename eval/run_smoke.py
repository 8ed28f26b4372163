"""The equational theories run: `python eval/run_smoke.py --limit 2 --models gpt-oss-120b`.

Prints one JSON line a problem and a summary. The key is read from OPENROUTER_API_KEY.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval.sampling.model import Outcome

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "eval" / "data" / "equational"


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    from eval.answers.command import not_negative, positive_int

    p = argparse.ArgumentParser(
        prog="run_smoke.py",
        description="Asks models whether one equation implies another; one JSON line a problem.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    p.add_argument(
        "--problems", "--problem-file", type=Path, default=DATA / "problems.jsonl", metavar="FILE"
    )
    p.add_argument("--limit", type=positive_int, default=20, help="only the first N problems")
    p.add_argument("--models", nargs="*", default=[], metavar="ALIAS", help="default: all")
    p.add_argument(
        "--models-file",
        "--model-file",
        type=Path,
        default=ROOT / "eval" / "evaluation_models.json",
        metavar="FILE",
    )
    p.add_argument("--prompt-file", type=Path, default=DATA / "prompt.txt", metavar="FILE")
    p.add_argument(
        "--max-tokens", type=positive_int, help="output tokens, instead of the models file's"
    )
    p.add_argument("--timeout", type=not_negative, default=180.0, help="seconds an HTTP exchange")
    p.add_argument(
        "--call-timeout",
        type=not_negative,
        default=240.0,
        help="seconds a call, retries included; 0: none",
    )
    p.add_argument("--concurrency", type=positive_int, default=4, help="calls at once")
    p.add_argument("--hide-response", action="store_true", help="leave response_text out")
    p.add_argument("--api-key-env", default="OPENROUTER_API_KEY", metavar="NAME")
    p.add_argument("--base-url", default="https://openrouter.ai/api/v1", metavar="URL")
    return p


def smoke(args: argparse.Namespace) -> int:
    """Asks every model every problem; the exit status."""
    from dataclasses import replace

    from eval.answers import equational
    from eval.command import EXIT_INFRASTRUCTURE, EXIT_OK
    from eval.input_error import InputError
    from eval.sampling.key import key_from
    from eval.sampling.openrouter import OpenRouter, choose_models, read_models
    from eval.sampling.reach import check_reachable
    from eval.sampling.sampler import Sampler, SamplerOptions

    entries = choose_models(read_models(args.models_file), dict.fromkeys(args.models))
    problems = equational.read_problems(args.problems, args.limit)
    template = equational.read_template(args.prompt_file)
    key = key_from(args.api_key_env)
    if not key:
        raise InputError(f"no key: set {args.api_key_env} to your OpenRouter key")
    check_reachable(args.base_url, "--base-url")
    options = SamplerOptions(
        concurrency=args.concurrency,
        http_timeout_s=args.timeout if args.timeout > 0 else 180.0,
        call_timeout_s=args.call_timeout if args.call_timeout > 0 else None,
    )
    by_id = {p.id: p for p in problems}
    tallies = equational.Tallies()

    def emit(line: dict[str, Any]) -> None:
        tallies.add(line)
        print(json.dumps(line), flush=True)

    try:
        for entry in entries:
            if args.max_tokens:
                entry = replace(entry, max_output_tokens=args.max_tokens)
            server = OpenRouter(entry, secret=key, base_url=args.base_url)
            in_order = equational.InOrder(list(by_id), emit)

            def done(outcome: Outcome, alias: str = entry.alias, order: Any = in_order) -> None:
                problem = by_id[outcome.request.item]
                order.add(equational.output_line(alias, problem, outcome, args.hide_response))

            try:
                Sampler(server, options).run(equational.requests(problems, template), done)
            finally:
                in_order.flush()
    finally:
        # Whatever ended the run, the calls that were paid for are summed up.
        print(json.dumps(tallies.summary()), flush=True)
    return EXIT_INFRASTRUCTURE if tallies.failed else EXIT_OK


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: smoke(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
