"""Run benchmarks from a configuration.

python eval/run_benchmarks.py octothinker --model http://localhost:8000
python eval/run_benchmarks.py --config math-pal --model http://localhost:8000
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradebox.eval.cli.command import run_command
from gradebox.eval.cli.parser import CommandParser, positive_int
from gradebox.eval.cli.sampling_flags import add_sampling_flags, sampler_options, sampling_fields
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.models.benchmarks.outputs import PredictionCounts
    from gradebox.eval.models.benchmarks.run import JobRun, Settings

SUITES = ("octothinker", "megascience")


def parser() -> CommandParser:
    """Return the parser of the command's flags."""
    p = CommandParser(
        prog="run_benchmarks.py",
        description="Run the benchmarks of a configuration with one or more models.",
    )
    add = p.add_argument
    add("suite", nargs="?", choices=SUITES, help="a suite, instead of --config")
    add(
        "--config",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="configuration files, or names of included ones such as math-pal",
    )
    add(
        "--model",
        nargs="+",
        required=True,
        metavar="ADDRESS",
        help="addresses of running servers",
    )
    add("--model-name", metavar="NAME", help="the server's name of the model")
    add("--benchmarks", nargs="+", default=[], metavar="NAME", help="only these")
    add(
        "--tasks",
        nargs="+",
        default=[],
        choices=("cot", "pal", "sft"),
        help="only these kinds of prompts",
    )
    add(
        "--data-dir",
        type=Path,
        default=DATA / "benchmarks",
        help="folder of the configurations' test files",
    )
    add(
        "--skip-missing",
        action="store_true",
        help="leave out benchmarks whose test file is missing",
    )
    add("--output-dir", type=Path, default=Path("outputs"), help="folder of the results")
    add("--limit", type=positive_int, help="only the first N questions per benchmark")
    add("--num-samples", type=positive_int, default=1, help="answers to each question")
    add_sampling_flags(p, max_tokens=2048, concurrency=32, call_timeout_s=600.0)
    add(
        "--few-shot-dir",
        type=Path,
        metavar="DIR",
        help="folder with worked examples, a file <Prompt>.txt for each prompt",
    )
    add("--register", nargs="+", default=[], metavar="MODULE", help="modules that add functions")
    add("--dry-run", action="store_true", help="print the runs and stop")
    add("--sandbox", choices=("auto", "local", "piston"), help="where programs run")
    add("--endpoint", metavar="URL[,URL]", help="Piston servers for the programs")
    add("--sandbox-workers", type=positive_int, help="programs at once")
    return p


def run(args: argparse.Namespace) -> int:
    """Run the benchmarks, print a line for each, and return the exit status."""
    from gradebox.eval.models.api_key import read_api_key
    from gradebox.eval.models.benchmarks import registry
    from gradebox.eval.models.benchmarks.config import find_config, read_configs, select_benchmarks
    from gradebox.eval.models.benchmarks.data_file import missing_files_message
    from gradebox.eval.models.benchmarks.run import BenchmarkJob, run_jobs, split_by_file
    from gradebox.eval.models.benchmarks.targets import find_targets

    if bool(args.suite) == bool(args.config):
        raise InputError(f"give either --config FILE or one of the suites {', '.join(SUITES)}")
    registry.load_user_modules(args.register)
    configs = [find_config(path) for path in args.config or [Path(args.suite)]]
    benchmarks = read_configs(configs, args.few_shot_dir)
    pairs = select_benchmarks(benchmarks, args.benchmarks, args.tasks)
    targets = find_targets(args.model, args.model_name, read_api_key(args.api_key_env))
    jobs = [BenchmarkJob(target, *pair) for target in targets for pair in pairs]
    if args.dry_run:
        for job in jobs:
            print(job.label)
        return ExitStatus.OK
    jobs, missing = split_by_file(jobs, args.data_dir)
    if missing and (not args.skip_missing or not jobs):
        raise InputError(missing_files_message(missing, args.data_dir))
    for path in missing:
        print(f"skipped, no test file: {path}")
    failed = 0

    def on_done(job_run: JobRun, counts: PredictionCounts) -> None:
        nonlocal failed
        failed += counts.failed
        print(_result_line(job_run, counts), flush=True)

    run_jobs(jobs, _settings(args), on_done)
    if failed:
        print(
            f"{failed} requests or programs failed through the fault of a server or the machine "
            "and are in no figure; run the same command again to retry them"
        )
    return ExitStatus.INFRASTRUCTURE if failed else ExitStatus.OK


def _settings(args: argparse.Namespace) -> Settings:
    from gradebox.eval.models.answers.equality import MathEquality
    from gradebox.eval.models.api_key import read_api_key
    from gradebox.eval.models.benchmarks.run import Settings

    return Settings(
        data_dir=args.data_dir,
        output_dir=args.output_dir,
        sampler=sampler_options(args),
        equality=MathEquality("lm-open-science"),
        open_sandbox=lambda: _open_sandbox(args),
        sampling=sampling_fields(args),
        num_samples=args.num_samples,
        seed=args.seed,
        limit=args.limit,
        api_key=read_api_key(args.api_key_env),
        fresh=args.fresh,
    )


def _open_sandbox(args: argparse.Namespace) -> Any:
    from gradebox.sandbox.errors import SandboxUnavailable
    from gradebox.sandbox.opening import open_sandbox

    endpoints = args.endpoint.split(",") if args.endpoint else None
    try:
        return open_sandbox(
            args.sandbox,
            endpoints=endpoints,
            slots=args.sandbox_workers,
            languages=["python"],
            hidden=[path for path in (args.data_dir, args.output_dir) if path],
        )
    except SandboxUnavailable as error:
        raise InputError(f"no sandbox for the models' programs: {error}") from None


def _result_line(job_run: JobRun, counts: PredictionCounts) -> str:
    accuracy = "no figure" if counts.accuracy is None else f"{counts.accuracy:.4f}"
    notes = [f"{counts.graded} graded"]
    for count, description in (
        (counts.unreadable, "without an answer"),
        (counts.truncated, "truncated"),
        (counts.failed, "failed"),
    ):
        if count:
            notes.append(f"{count} {description}")
    if job_run.is_example_data:
        notes.append("gradebox's example questions, not the benchmark")
    return f"{job_run.job.label}: {accuracy} ({', '.join(notes)})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command(parser, run, argv)
