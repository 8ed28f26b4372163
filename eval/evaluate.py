"""The math harness: `python eval/evaluate.py --server-url http://localhost:8000/generate`.

Asks a server of one's own for answers to math problems; prints accuracy and pass@k.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    from eval.answers.command import natural_int, not_negative, positive_int

    p = argparse.ArgumentParser(
        prog="evaluate.py",
        description="Asks a server for answers to math problems; prints accuracy and pass@k.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    p.add_argument("--server-url", required=True, help="address that takes the POST")
    p.add_argument(
        "--datasets", nargs="+", default=["math500", "aime-24", "aime-25"], metavar="NAME"
    )
    p.add_argument("--data-dir", type=Path, default=ROOT / "eval" / "data" / "math")
    p.add_argument("--num-samples", type=positive_int, default=1, help="answers a problem")
    p.add_argument("--pass-k", type=positive_int, nargs="+", default=[1], metavar="K")
    p.add_argument(
        "--extra-field",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="further field of every request (repeatable)",
    )
    p.add_argument("--concurrency", type=positive_int, default=8, help="calls at once")
    p.add_argument(
        "--request-interval", type=not_negative, default=0.0, help="least seconds between calls"
    )
    p.add_argument("--max-retries", type=natural_int, default=5, help="tries after the first")
    p.add_argument(
        "--retry-delay", type=not_negative, default=1.0, help="seconds, doubled each time"
    )
    p.add_argument(
        "--call-timeout", type=not_negative, default=240.0, help="seconds a call, 0: none"
    )
    p.add_argument("--http-timeout", type=not_negative, default=180.0, help="seconds an exchange")
    p.add_argument("--response-field", default="answer", help="where the answer stands")
    p.add_argument(
        "--normalisation",
        default="harness",
        help="harness, exact, strict, dart, lm-open-science, or module:function",
    )
    p.add_argument("--limit", type=positive_int, help="only the first N problems a dataset")
    p.add_argument("--output-dir", type=Path, default=ROOT / "results" / "math-harness")
    p.add_argument("--fresh", action="store_true", help="ask everything again")
    return p


def evaluate(args: argparse.Namespace) -> int:
    """Runs every dataset and prints the table; the exit status."""
    from eval.answers import math_harness as harness
    from eval.answers.command import extra_fields, write_json
    from eval.answers.normalise import judge_by_name
    from eval.command import EXIT_INFRASTRUCTURE, EXIT_OK
    from eval.input_error import InputError
    from eval.sampling.reach import check_reachable
    from eval.sampling.retry import RetryPolicy
    from eval.sampling.sampler import SamplerOptions
    from eval.sampling.servers import LocalContract

    ks = sorted(set(args.pass_k))
    harness.check_k(ks, args.num_samples)
    if len(set(args.datasets)) != len(args.datasets):
        raise InputError("--datasets names one twice; leave it out")
    extra = extra_fields(args.extra_field)
    judge = judge_by_name(args.normalisation)
    datasets = [harness.load_dataset(args.data_dir, name, args.limit) for name in args.datasets]
    check_reachable(args.server_url, "--server-url")
    options = SamplerOptions(
        concurrency=args.concurrency,
        interval_s=args.request_interval,
        http_timeout_s=args.http_timeout or 180.0,
        call_timeout_s=args.call_timeout or None,
        retry=RetryPolicy(first_s=args.retry_delay, max_retries=args.max_retries),
    )
    scores = []
    for dataset in datasets:
        if dataset.placeholder:
            print(
                f"{dataset.name}: example problems of ours, not the dataset (docs/math-harness.md)"
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
                fresh=args.fresh,
            )
        )
    figures = harness.metrics(scores, ks)
    figures["settings"] = {k: str(v) for k, v in sorted(vars(args).items())}
    write_json(args.output_dir / "metrics.json", figures)
    print(harness.table(figures, ks))
    failed = sum(s.failed for s in scores)
    if failed:
        print(
            f"{failed} requests failed and count in no figure; their reasons are in "
            f"{args.output_dir}/*.failed.jsonl; run the same command again to ask them again"
        )
    return EXIT_INFRASTRUCTURE if failed else EXIT_OK


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: evaluate(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
