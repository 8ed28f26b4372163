"""The flags of commands that send requests to a model server."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gradebox.eval.cli.command import FlagRow, natural_int, not_negative, positive_int

if TYPE_CHECKING:
    from gradebox.eval.models.sampler import SamplerOptions


CALL_TIMEOUT_HELP = "seconds for a call with its retries; 0: no limit"
FRESH: FlagRow = ("--fresh", bool, False, "discard earlier answers and ask everything again")


def sampling_flags(
    *, max_tokens: int, concurrency: int, call_timeout_s: float
) -> tuple[FlagRow, ...]:
    """Return the flags of commands that ask OpenAI-compatible servers, with these defaults."""
    return (
        ("--temperature", not_negative, 0.0, "sampling temperature"),
        ("--top-p", not_negative, 1.0, "probability mass of nucleus sampling"),
        ("--max-tokens", positive_int, max_tokens, "output tokens of a reply"),
        ("--seed", int, None, "seed of the first sample; each further sample adds 1"),
        ("--concurrency", positive_int, concurrency, "calls at once"),
        ("--call-timeout", not_negative, call_timeout_s, CALL_TIMEOUT_HELP),
        ("--max-retries", natural_int, None, "calls after the first one"),
        ("--api-key-env NAME", str, "OPENAI_API_KEY", "environment variable with the server's key"),
        FRESH,
    )


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
