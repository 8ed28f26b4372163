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
    CALL_TIMEOUT_HELP,
    FRESH,
    REQUIRED,
    natural_int,
    not_negative,
    parser_of,
    positive_int,
    run_command,
    sampler_options,
    status_of_failed,
)
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import DATA

# Fields of every request of the local contract, which --extra-field can't replace.
CONTRACT_FIELDS = ("dataset", "prompt", "sample_id")
DATASETS = ["math500", "aime-24", "aime-25"]
NAMES = ("harness", "exact", "strict", "dart", "lm-open-science")


parser = parser_of(
    "Ask a server for answers to math problems; print accuracy and pass@k.",
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
    prog="evaluate.py",
)


def evaluate(args: argparse.Namespace) -> int:
    """Run every dataset, print the table, and return the exit status."""
    from gradebox.eval.common.files import write_json
    from gradebox.eval.models.answers.equality import find_judge
    from gradebox.eval.models.answers.math_harness import HarnessRun, load_dataset
    from gradebox.eval.models.exchange import check_reachable
    from gradebox.eval.models.response_file import discard_responses
    from gradebox.eval.models.servers import LocalContract

    ks = sorted(set(args.pass_k))
    if ks[-1] > args.num_samples:
        raise InputError(
            f"--pass-k {ks[-1]} needs at least {ks[-1]} samples, --num-samples is "
            f"{args.num_samples}; raise it or leave that k out"
        )
    if len(set(args.datasets)) != len(args.datasets):
        raise InputError("--datasets has the same name twice; remove one")
    extra = extra_fields(args.extra_field)
    options = sampler_options(
        args, http_timeout_s=args.http_timeout or 180.0, interval_s=args.request_interval
    )
    judge = find_judge(args.normalisation)
    run = HarnessRun(options, judge, args.output_dir, args.num_samples, ks)
    datasets = [load_dataset(args.data_dir, name, args.limit) for name in args.datasets]
    check_reachable(args.server_url, "--server-url")
    if args.fresh:
        discard_responses(map(run.responses_path, datasets))
    figures: dict[str, dict[str, Any]] = {}
    for dataset in datasets:
        if dataset.placeholder:
            print(
                f"{dataset.name}: gradebox's example problems, not the dataset "
                "(docs/math-harness.md)"
            )
        server = LocalContract(args.server_url, dataset.name, extra, args.response_field)
        figures[dataset.name] = run.figures_of(dataset, server)
    metrics = run.metrics(figures)
    metrics["settings"] = {k: str(v) for k, v in sorted(vars(args).items())}
    write_json(args.output_dir / "metrics.json", metrics)
    print(run.table(metrics))
    failed = sum(found["failed_requests"] for found in figures.values())
    return status_of_failed(failed, args.output_dir / "*.failed.jsonl")


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
