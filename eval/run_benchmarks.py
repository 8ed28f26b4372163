"""Whole benchmarks by configuration.

python eval/run_benchmarks.py octothinker --model http://localhost:8000
python eval/run_benchmarks.py --config configs/math-cot.json --model path/to/checkpoints
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eval.benchmarks.outputs import Counts
    from eval.benchmarks.run import Settings, UnitRun

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = ROOT / "configs"
SUITES = ("octothinker", "megascience")


def parser() -> argparse.ArgumentParser:
    """Every flag with its default."""
    from eval.answers.command import natural_int, not_negative, positive_int

    p = argparse.ArgumentParser(
        prog="run_benchmarks.py",
        description="Runs benchmarks by configuration over one or more models.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    p.add_argument("suite", nargs="?", choices=SUITES, help="a suite, instead of --config")
    p.add_argument("--config", type=Path, nargs="+", default=[], metavar="FILE")
    p.add_argument(
        "--model",
        nargs="+",
        required=True,
        metavar="ADDRESS|PATH",
        help="a server's address, a model's folder, or a folder of checkpoints",
    )
    p.add_argument("--model-name", metavar="NAME", help="what the server calls its model")
    p.add_argument("--benchmarks", nargs="+", default=[], metavar="NAME", help="only these")
    p.add_argument("--tasks", nargs="+", default=[], choices=("cot", "pal", "sft"))
    p.add_argument(
        "--data-dir",
        type=Path,
        default=ROOT / "eval" / "data" / "benchmarks",
        help="where the configurations' test files are",
    )
    p.add_argument("--output-dir", type=Path, default=Path("outputs"))
    p.add_argument("--limit", type=positive_int, help="only the first N questions a benchmark")
    p.add_argument("--num-samples", type=positive_int, default=1, help="answers a question")
    p.add_argument("--temperature", type=not_negative, default=0.0)
    p.add_argument("--top-p", type=not_negative, default=1.0)
    p.add_argument("--max-tokens", type=positive_int, default=2048)
    p.add_argument("--seed", type=int, help="seed of the first sample; the next has the next")
    p.add_argument("--concurrency", type=positive_int, default=32, help="calls at once")
    p.add_argument(
        "--call-timeout", type=not_negative, default=600.0, help="seconds a call, 0: none"
    )
    p.add_argument("--max-retries", type=natural_int, help="tries after the first")
    p.add_argument("--api-key-env", default="OPENAI_API_KEY", metavar="NAME")
    p.add_argument(
        "--few-shot-dir", type=Path, metavar="DIR", help="own examples, a file <Prompt>.txt each"
    )
    p.add_argument(
        "--register", nargs="+", default=[], metavar="MODULE", help="modules that add functions"
    )
    p.add_argument("--shard", default="0/1", metavar="I/N", help="this node's part, I from 0")
    p.add_argument("--dry-run", action="store_true", help="print what would be run")
    p.add_argument("--sandbox", choices=("auto", "local", "piston"), default="auto")
    p.add_argument("--endpoint", metavar="URL[,URL]", help="Piston servers for the programs")
    p.add_argument("--sandbox-workers", type=positive_int, help="programs at once")
    p.add_argument(
        "--vllm-argument",
        action="append",
        default=[],
        metavar="ARG",
        help="further argument of `vllm serve`, such as --vllm-argument=--tensor-parallel-size=8",
    )
    p.add_argument("--server-start-timeout", type=not_negative, default=1800.0)
    p.add_argument("--fresh", action="store_true", help="ask everything again")
    return p


def run(args: argparse.Namespace) -> int:
    """Runs this node's units and prints a line for each; the exit status."""
    from eval.benchmarks import registry
    from eval.benchmarks.config import choose, folder_name, read_configs
    from eval.benchmarks.models import find_targets
    from eval.benchmarks.sweep import VllmOptions, sweep
    from eval.benchmarks.work import Shard, units_of
    from eval.command import EXIT_INFRASTRUCTURE, EXIT_OK
    from eval.input_error import InputError
    from eval.sampling.key import key_from

    if bool(args.suite) == bool(args.config):
        raise InputError(f"give --config FILE, or one of the suites {', '.join(SUITES)}")
    shard = Shard.parse(args.shard)
    registry.load(args.register)
    configs = args.config or [CONFIGS / f"{args.suite}.json"]
    pairs = choose(read_configs(configs, args.few_shot_dir), args.benchmarks, args.tasks)
    targets = find_targets(args.model, args.model_name, key_from(args.api_key_env))
    units = units_of(targets, pairs, shard)
    print(f"shard {shard.index}/{shard.count}: {len(units)} of {len(targets) * len(pairs)} runs")
    if args.dry_run:
        for unit in units:
            print(f"{unit.target.name} {folder_name(unit.benchmark, unit.task)}")
        return EXIT_OK
    failed = 0

    def done(unit_run: UnitRun, counts: Counts) -> None:
        nonlocal failed
        failed += counts.failed
        print(_line(unit_run, counts), flush=True)

    vllm = VllmOptions(tuple(args.vllm_argument), args.server_start_timeout)
    sweep(units, _settings(args), vllm, done)
    if failed:
        print(
            f"{failed} requests or programs failed on the machine's side and count in no figure; "
            "run the same command again to try them again"
        )
    return EXIT_INFRASTRUCTURE if failed else EXIT_OK


def _settings(args: argparse.Namespace) -> Settings:
    from eval.answers.equality import MathEquality
    from eval.benchmarks.run import Settings
    from eval.sampling.key import key_from
    from eval.sampling.retry import RetryPolicy
    from eval.sampling.sampler import SamplerOptions

    return Settings(
        data_dir=args.data_dir,
        output_dir=args.output_dir,
        sampler=SamplerOptions(
            concurrency=args.concurrency,
            http_timeout_s=args.call_timeout or 3600.0,
            call_timeout_s=args.call_timeout or None,
            retry=RetryPolicy(max_retries=args.max_retries),
        ),
        equality=MathEquality("lm-open-science"),
        open_sandbox=lambda: _open_sandbox(args),
        sampling={
            "temperature": args.temperature,
            "top_p": args.top_p,
            "max_tokens": args.max_tokens,
        },
        num_samples=args.num_samples,
        seed=args.seed,
        limit=args.limit,
        secret=key_from(args.api_key_env),
        fresh=args.fresh,
    )


def _open_sandbox(args: argparse.Namespace) -> Any:
    from eval.input_error import InputError
    from sandbox.choose import open_sandbox
    from sandbox.errors import SandboxUnavailable

    endpoints = args.endpoint.split(",") if args.endpoint else None
    try:
        return open_sandbox(
            args.sandbox, endpoints=endpoints, slots=args.sandbox_workers, languages=["python"]
        )
    except SandboxUnavailable as error:
        raise InputError(f"no sandbox for the models' programs: {error}") from None


def _line(unit_run: UnitRun, counts: Counts) -> str:
    accuracy = "no figure" if counts.accuracy is None else f"{counts.accuracy:.4f}"
    notes = [f"{counts.graded} graded"]
    for count, word in (
        (counts.unreadable, "without an answer"),
        (counts.truncated, "truncated"),
        (counts.failed, "failed"),
    ):
        if count:
            notes.append(f"{count} {word}")
    if unit_run.is_sample_data:
        notes.append("a few questions of ours, not the benchmark")
    return f"{unit_run.label}: {accuracy} ({', '.join(notes)})"


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see `run_command` for its exit statuses."""
    from eval.command import run_command

    args = parser().parse_args(argv)
    return run_command(lambda: run(args))


if __name__ == "__main__":
    sys.path[0] = str(ROOT)
    sys.exit(main())
