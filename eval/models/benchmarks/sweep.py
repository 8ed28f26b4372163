"""Run all jobs of this node, with a vLLM server for each local model.

models × (benchmark, task) ─▶ jobs ─(index % n == i)─▶ this node's jobs
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.benchmarks.data_file import is_missing
from gradebox.eval.models.benchmarks.outputs import PredictionCounts
from gradebox.eval.models.benchmarks.run import Job, JobRun, Settings
from gradebox.eval.models.benchmarks.sample import Benchmark, Task
from gradebox.eval.models.benchmarks.targets import Target
from gradebox.eval.models.benchmarks.vllm import VllmServer
from gradebox.eval.models.response_file import discard_responses


@dataclass(frozen=True)
class Shard:
    """Part `index` (from 0) of `count`."""

    index: int = 0
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Parse i/n; raise InputError unless 0 ≤ i < n."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal() and int(count) >= 1):
            raise InputError(f"--shard {text!r}: write it as i/n, such as 0/4")
        if int(index) >= int(count):
            raise InputError(
                f"--shard {text!r}: parts are counted from 0, the last of {count} is "
                f"{int(count) - 1}/{count}"
            )
        return cls(int(index), int(count))


def make_jobs(
    targets: Sequence[Target], pairs: Sequence[tuple[Benchmark, Task]], shard: Shard
) -> list[Job]:
    """Return the jobs of a shard, those of a model together. Each job is in exactly one shard.

    With at least as many models as shards, whole models are distributed, so that each is loaded
    by one node only.
    """
    if len(targets) >= shard.count:
        targets = targets[shard.index :: shard.count]
        return [Job(target, *pair) for target in targets for pair in pairs]
    jobs = [Job(target, *pair) for target in targets for pair in pairs]
    return jobs[shard.index :: shard.count]


def split_by_file(jobs: Sequence[Job], data_dir: Path) -> tuple[list[Job], list[str]]:
    """Return the jobs whose test file is there, and the test paths of the others."""
    found = [job for job in jobs if not is_missing(job.benchmark.test_path, data_dir)]
    missing = [job.benchmark.test_path for job in jobs if job not in found]
    return found, list(dict.fromkeys(missing))


@dataclass(frozen=True)
class VllmOptions:
    """How the server of a local model is started."""

    arguments: tuple[str, ...] = ()
    start_timeout_s: float = 1800.0


def sweep(
    jobs: Sequence[Job],
    settings: Settings,
    vllm: VllmOptions,
    on_done: Callable[[JobRun, PredictionCounts], None],
) -> None:
    """Run the jobs model by model; call `on_done` after each.

    All files are read before the first request, so bad input costs no calls and starts no model.
    """
    runs = [JobRun(job, settings) for job in jobs]
    if settings.fresh:
        discard_responses(run.responses_path for run in runs)
    for target, group in groupby(runs, key=lambda run: run.job.target):
        runs_of_target = list(group)
        missing = sum(run.count_missing() for run in runs_of_target)
        with _open_server(target, missing, settings, vllm) as url:
            for run in runs_of_target:
                on_done(run, run.finish(url))


@contextlib.contextmanager
def _open_server(
    target: Target, missing: int, settings: Settings, vllm: VllmOptions
) -> Iterator[str]:
    """Yield the server's address, "" when no request is missing; start it for a local model."""
    if target.path is None or not missing:
        yield target.url if missing else ""
        return
    with VllmServer(
        target.path,
        name=target.name,
        log_path=settings.output_dir.joinpath(*target.dirs, "vllm.log"),
        arguments=vllm.arguments,
        start_timeout_s=vllm.start_timeout_s,
    ) as server:
        yield server.url
