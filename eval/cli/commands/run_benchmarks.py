"""Run benchmarks from a configuration.

python eval/run_benchmarks.py octothinker --model http://localhost:8000
python eval/run_benchmarks.py --config math-pal --model http://localhost:8000
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradebox.eval.cli.command import (
    REQUIRED,
    parser_of,
    positive_int,
    run_command,
    sampler_options,
    sampling_fields,
    sampling_flags,
    status_of_failed,
)
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import DATA
from gradebox.sandbox.common.exit_status import ExitStatus

if TYPE_CHECKING:
    from gradebox.eval.models.benchmarks.run import BenchmarkJob, PredictionCounts, Settings

SUITES = ("octothinker", "megascience")
CONFIG_HELP = "configuration files, or names of included ones such as math-pal"
FEW_SHOT_HELP = "folder with worked examples, a file <Prompt>.txt for each prompt"


parser = parser_of(
    "Run the benchmarks of a configuration with one or more models.",
    ("suite SUITE?", SUITES, None, "a suite, instead of --config"),
    ("--config FILE+", Path, [], CONFIG_HELP),
    ("--model ADDRESS+", str, REQUIRED, "addresses of running servers"),
    ("--model-name NAME", str, None, "the server's name of the model"),
    ("--benchmarks NAME+", str, [], "only these"),
    ("--tasks +", ("cot", "pal", "sft"), [], "only these kinds of prompts"),
    ("--data-dir", Path, DATA / "benchmarks", "folder of the configurations' test files"),
    ("--skip-missing", bool, False, "leave out benchmarks whose test file is missing"),
    ("--output-dir", Path, Path("outputs"), "folder of the results"),
    ("--limit", positive_int, None, "only the first N questions per benchmark"),
    ("--num-samples", positive_int, 1, "answers to each question"),
    *sampling_flags(max_tokens=2048, concurrency=32, call_timeout_s=600.0),
    ("--few-shot-dir DIR", Path, None, FEW_SHOT_HELP),
    ("--register MODULE+", str, [], "modules that add functions"),
    ("--dry-run", bool, False, "print the runs and stop"),
    ("--sandbox", ("auto", "local", "piston"), None, "where programs run"),
    ("--endpoint URL[,URL]", str, None, "Piston servers for the programs"),
    ("--sandbox-workers", positive_int, None, "programs at once"),
    prog="run_benchmarks.py",
)


def run(args: argparse.Namespace) -> int:
    """Run the benchmarks, print a line for each, and return the exit status."""
    from gradebox.eval.models.benchmarks import registry
    from gradebox.eval.models.benchmarks.registry import (
        find_config,
        read_configs,
        select_benchmarks,
    )
    from gradebox.eval.models.benchmarks.run import BenchmarkJob, find_targets, run_jobs
    from gradebox.eval.models.benchmarks.sample import missing_files_message
    from gradebox.eval.models.exchange import read_api_key

    if bool(args.suite) == bool(args.config):
        raise InputError(f"give either --config FILE or one of the suites {', '.join(SUITES)}")
    registry.load_user_modules(args.register)
    configs = [find_config(path) for path in args.config or [Path(args.suite)]]
    benchmarks = read_configs(configs, args.few_shot_dir)
    pairs = select_benchmarks(benchmarks, args.benchmarks, args.tasks)
    targets = find_targets(args.model, args.model_name, read_api_key(args.api_key_env))
    settings = _settings(args)
    jobs = [BenchmarkJob(target, *pair, settings) for target in targets for pair in pairs]
    if args.dry_run:
        for job in jobs:
            print(job.label)
        return ExitStatus.OK
    missing = list(dict.fromkeys(j.benchmark.test_path for j in jobs if j.path is None))
    jobs = [job for job in jobs if job.path is not None]
    if missing and (not args.skip_missing or not jobs):
        raise InputError(missing_files_message(missing, args.data_dir))
    for path in missing:
        print(f"skipped, no test file: {path}")
    failed = 0

    def on_done(job: BenchmarkJob, counts: PredictionCounts) -> None:
        nonlocal failed
        failed += counts.failed
        print(_result_line(job, counts), flush=True)

    run_jobs(jobs, on_done)
    return status_of_failed(failed, "the benchmarks' responses.failed.jsonl")


def _settings(args: argparse.Namespace) -> Settings:
    from gradebox.eval.models.answers.equality import MathEquality
    from gradebox.eval.models.benchmarks.run import Settings
    from gradebox.eval.models.exchange import read_api_key

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


def _result_line(job: BenchmarkJob, counts: PredictionCounts) -> str:
    accuracy = "no figure" if counts.accuracy is None else f"{counts.accuracy:.4f}"
    notes = [f"{counts.graded} graded"]
    for count, description in (
        (counts.unreadable, "without an answer"),
        (counts.truncated, "truncated"),
        (counts.outcomes["not read"], "not read"),
        (counts.outcomes["timed out"], "timed out"),
        (counts.failed, "failed"),
    ):
        if count:
            notes.append(f"{count} {description}")
    if job.is_example_data:
        notes.append("gradebox's example questions, not the benchmark")
    return f"{job.label}: {accuracy} ({', '.join(notes)})"


main = partial(run_command, parser, run)
