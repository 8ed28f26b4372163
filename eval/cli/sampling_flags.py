"""The flags of commands that send requests to a model server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gradebox.eval.cli.parser import natural_int, not_negative, positive_int

if TYPE_CHECKING:
    from gradebox.eval.models.sampler import SamplerOptions


def add_sampling_flags(
    parser: argparse.ArgumentParser, *, max_tokens: int, concurrency: int, call_timeout_s: float
) -> None:
    """Add the flags, with these defaults."""
    add = parser.add_argument
    add("--temperature", type=not_negative, default=0.0, help="sampling temperature")
    add("--top-p", type=not_negative, default=1.0, help="probability mass of nucleus sampling")
    add("--max-tokens", type=positive_int, default=max_tokens, help="output tokens of a reply")
    add("--seed", type=int, help="seed of the first sample; each further sample adds 1")
    add("--concurrency", type=positive_int, default=concurrency, help="calls at once")
    add(
        "--call-timeout",
        type=not_negative,
        default=call_timeout_s,
        help="seconds for a call with its retries; 0: no limit",
    )
    add("--max-retries", type=natural_int, help="calls after the first one")
    add(
        "--api-key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable with the server's key",
    )
    add("--fresh", action="store_true", help="discard earlier answers and ask everything again")


def sampling_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of every request that the flags set."""
    return {
        "temperature": args.temperature,
        "top_p": args.top_p,
        "max_tokens": args.max_tokens,
    }


def sampler_options(args: argparse.Namespace, interval_s: float = 0.0) -> SamplerOptions:
    """Return the sampler's options that the flags set."""
    from gradebox.eval.models.backoff import RetryPolicy
    from gradebox.eval.models.sampler import SamplerOptions

    return SamplerOptions(
        concurrency=args.concurrency,
        interval_s=interval_s,
        http_timeout_s=args.call_timeout or 3600.0,
        call_timeout_s=args.call_timeout or None,
        retry=RetryPolicy(max_retries=args.max_retries),
    )
