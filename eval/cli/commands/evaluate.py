"""The math harness: `python eval/evaluate.py --server-url http://localhost:8000/generate`.

Asks the user's own server for answers to math problems; prints accuracy and pass@k.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from gradebox.eval.cli.command import (
    REQUIRED,
    CommandParser,
    add_flags,
    natural_int,
    not_negative,
    positive_int,
    run_command,
)
from gradebox.eval.cli.sampling_flags import CALL_TIMEOUT_HELP, FRESH
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

# Fields of every request of the local contract, which --extra-field can't replace.
CONTRACT_FIELDS = ("dataset", "prompt", "sample_id")
DATASETS = ["math500", "aime-24", "aime-25"]
NAMES = ("harness", "exact", "strict", "dart", "lm-open-science")


def parser() -> CommandParser:
    """Return the parser of the command's flags."""
    p = CommandParser(
        prog="evaluate.py",
        description="Ask a server for answers to math problems; print accuracy and pass@k.",
    )
    add_flags(
        p,
        ("--server-url", str, REQUIRED, "address that receives the POST"),
        ("--datasets NAME+", str, DATASETS, "data sets, files NAME.jsonl in --data-dir"),
        ("--data-dir", Path, DATA / "math", "folder of the data sets"),
        ("--num-samples", positive_int, 1, "answers to each problem"),
        ("--pass-k K+", positive_int, [1], "k of pass@k"),
        ("--extra-field KEY=VALUE&", str, [], "additional field of every request (repeatable)"),
        ("--concurrency", positive_int, 8, "calls at once"),
        ("--request-interval", not_negative, 0.0, "minimum seconds between calls"),
        ("--max-retries", natural_int, 5, "calls after the first one"),
        ("--retry-delay", not_negative, 1.0, "seconds, doubled for each retry"),
        ("--call-timeout", not_negative, 240.0, CALL_TIMEOUT_HELP),
        ("--http-timeout", not_negative, 180.0, "seconds for an HTTP exchange"),
        ("--response-field", str, "answer", "field of the reply with the answer"),
        ("--normalisation", str, "harness", f"{', '.join(NAMES)}, or module:function"),
        ("--limit", positive_int, None, "only the first N problems per dataset"),
        ("--output-dir", Path, Path("results", "math-harness"), "folder of the results"),
        FRESH,
    )
    return p


def evaluate(args: argparse.Namespace) -> int:
    """Run every dataset, print the table, and return the exit status."""
    from gradebox.eval.common.files import write_json
    from gradebox.eval.models.answers import math_harness as harness
    from gradebox.eval.models.answers.equality import find_judge
    from gradebox.eval.models.backoff import RetryPolicy
    from gradebox.eval.models.http_json import check_reachable
    from gradebox.eval.models.response_file import discard_responses
    from gradebox.eval.models.sampler import SamplerOptions
    from gradebox.eval.models.servers import LocalContract

    ks = sorted(set(args.pass_k))
    harness.check_k(ks, args.num_samples)
    if len(set(args.datasets)) != len(args.datasets):
        raise InputError("--datasets has the same name twice; remove one")
    extra = extra_fields(args.extra_field)
    judge = find_judge(args.normalisation)
    datasets = [harness.load_dataset(args.data_dir, name, args.limit) for name in args.datasets]
    check_reachable(args.server_url, "--server-url")
    options = SamplerOptions(
        concurrency=args.concurrency,
        interval_s=args.request_interval,
        http_timeout_s=args.http_timeout or 180.0,
        call_timeout_s=args.call_timeout or None,
        retry=RetryPolicy(first_s=args.retry_delay, max_retries=args.max_retries),
    )
    if args.fresh:
        discard_responses(harness.responses_path(args.output_dir, each) for each in datasets)
    scores = []
    for dataset in datasets:
        if dataset.placeholder:
            print(
                f"{dataset.name}: gradebox's example problems, not the dataset "
                "(docs/math-harness.md)"
            )
        server = LocalContract(args.server_url, dataset.name, extra, args.response_field)
        scores.append(
            harness.run_dataset(
                dataset,
                server,
                options,
                judge,
                args.output_dir,
                args.num_samples,
            )
        )
    figures = harness.metrics(scores, ks)
    figures["settings"] = {k: str(v) for k, v in sorted(vars(args).items())}
    write_json(args.output_dir / "metrics.json", figures)
    print(harness.format_table(figures, ks))
    failed = sum(score.failed for score in scores)
    if failed:
        print(
            f"{failed} requests failed and are in no figure (reasons in "
            f"{args.output_dir}/*.failed.jsonl); run the same command again to retry them"
        )
    return ExitStatus.INFRASTRUCTURE if failed else ExitStatus.OK


def extra_fields(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the fields of `key=value` texts; a value that is JSON is decoded.

    Raises InputError for a text in another form and for a field that is given twice or reserved.
    """
    fields: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InputError(f"--extra-field {pair!r}: write it as key=value")
        if key in CONTRACT_FIELDS:
            raise InputError(f"--extra-field {key!r}: the harness sets this field; leave it out")
        if key in fields:
            raise InputError(f"--extra-field {key!r} is given twice; leave one out")
        try:
            fields[key] = json.loads(value)
        except (ValueError, RecursionError):
            fields[key] = value
    return fields


main = partial(run_command, parser, evaluate)
