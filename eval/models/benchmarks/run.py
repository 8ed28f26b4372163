"""Run benchmarks of models: ask for missing answers, read them, judge them, write files.

Target (a running server) × Benchmark × task ─▶ JobRun ─▶ the files of `outputs`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.equality import MathEquality
from gradebox.eval.models.benchmarks.config import folder_name
from gradebox.eval.models.benchmarks.data_file import (
    find_file,
    is_example_data,
    is_missing,
    read_samples,
)
from gradebox.eval.models.benchmarks.extraction.free_answers import program_result
from gradebox.eval.models.benchmarks.extraction.texts import shortened
from gradebox.eval.models.benchmarks.outputs import (
    Prediction,
    PredictionCounts,
    write_metrics,
    write_predictions,
)
from gradebox.eval.models.benchmarks.pal import ProgramResult, run_programs
from gradebox.eval.models.benchmarks.sample import Benchmark, Sample, Task
from gradebox.eval.models.exchange import Request
from gradebox.eval.models.http_json import check_reachable, get_served_model
from gradebox.eval.models.response_file import ResponseFile, discard_responses
from gradebox.eval.models.sampler import SamplerOptions
from gradebox.eval.models.servers import OpenAIChat, OpenAICompletions

if TYPE_CHECKING:
    from gradebox.sandbox import Sandbox

_DIGITS = re.compile(r"(\d+)")
_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]")


@dataclass(frozen=True)
class Target:
    """A model.

    name   the server's name of the model
    dirs   its folder below the output folder
    url    address of the server
    """

    name: str
    dirs: tuple[str, ...]
    url: str


def find_targets(urls: Sequence[str], name: str | None, api_key: str) -> list[Target]:
    """Return the models of the --model values.

    Raises InputError for a server that can't be reached, or two models with one output folder.
    """
    found: dict[tuple[str, ...], Target] = {}
    for url in urls:
        check_reachable(url, "--model")
        model = name or get_served_model(url, api_key)
        target = Target(model, safe_dirs(model.split("/")), url)
        other = found.setdefault(target.dirs, target)
        if other is not target:
            raise InputError(
                f"{target.url} and {other.url} would both write into {'/'.join(target.dirs)}; run "
                "one of them with another --output-dir"
            )
    return list(found.values())


def number_sort_key(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key that puts step-2 before step-10."""
    return [(0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(name) if p]


def safe_dirs(parts: Sequence[str]) -> tuple[str, ...]:
    """Return folder names for a model's name, which a server could choose to leave the folder."""
    dirs = [_UNSAFE.sub("_", part)[:100] for part in parts]
    return tuple("_" if part.strip(".") == "" else part for part in dirs if part) or ("model",)


Record = dict[str, Any]
PROGRAMS_PER_BATCH = 64


@dataclass(frozen=True)
class BenchmarkJob:
    """One task of one benchmark for one model."""

    target: Target
    benchmark: Benchmark
    task: Task

    @property
    def folder(self) -> str:
        return folder_name(self.benchmark, self.task)

    @property
    def label(self) -> str:
        return f"{self.target.name} {self.folder}"


@dataclass(frozen=True)
class Settings:
    """How the benchmarks of a run are asked and judged.

    sampling     temperature, top_p, max_tokens, … of every request
    num_samples  answers to each question
    open_sandbox opens the sandbox for programs; called once per job that needs it
    """

    data_dir: Path
    output_dir: Path
    sampler: SamplerOptions
    equality: MathEquality
    open_sandbox: Callable[[], AbstractContextManager[Sandbox]]
    sampling: dict[str, Any] = field(default_factory=dict)
    num_samples: int = 1
    seed: int | None = None
    limit: int | None = None
    api_key: str = ""
    fresh: bool = False


class JobRun:
    """The run of a job. Creating it reads the questions; `finish` asks the server."""

    def __init__(self, job: BenchmarkJob, settings: Settings) -> None:
        self.job = job
        self.settings = settings
        self.folder = settings.output_dir.joinpath(*job.target.dirs, job.folder, "samples")
        self.path = find_file(job.benchmark.test_path, settings.data_dir)
        self.samples = read_samples(job.benchmark, self.path, settings.limit)

    @property
    def is_example_data(self) -> bool:
        """Return whether the questions are gradebox's examples, not those of the benchmark."""
        return is_example_data(self.path)

    def _server(self) -> OpenAIChat:
        """Return the server: chat for tuned models, text completion for base models."""
        kind = OpenAIChat if self.job.task == "sft" else OpenAICompletions
        target, settings = self.job.target, self.settings
        return kind(target.url, target.name, settings.sampling, settings.api_key)

    def _requests(self) -> Iterator[Request]:
        prompt = self.job.benchmark.prompt
        for sample in self.samples:
            text = prompt.format(sample.question)
            for number in range(self.settings.num_samples):
                yield Request.of(
                    *(sample.id, number, text),
                    chat=self.job.task == "sft",
                    seed=self.settings.seed,
                    stop=prompt.stop,
                )

    @property
    def responses_path(self) -> Path:
        return self.folder / "responses.jsonl"

    def finish(self) -> PredictionCounts:
        """Ask the server for the missing answers, then judge all answers. Raises ServerLost."""
        counts, server = PredictionCounts(), self._server()
        with ResponseFile(self.responses_path, parameters=server.parameters) as file:
            options = self.settings.sampler
            progress = file.ask_missing(self._requests(), server, options, self.job.label)
            counts.failed += progress.failed
            write_predictions(self.folder / "predictions.json", self._judged(file, counts), counts)
        write_metrics(self.folder, counts, self._facts())
        return counts

    def _judged(self, file: ResponseFile, counts: PredictionCounts) -> Iterator[Prediction]:
        by_id = {sample.id: sample for sample in self.samples}
        numbers = range(self.settings.num_samples)
        # In the order of the questions, so that predictions do not depend on the server's speed.
        records = file.records((name, number) for name in by_id for number in numbers)
        if self.job.task != "pal":
            for record in records:
                yield self._predict(by_id[str(record["problem_id"])], record, None)
            return
        for record, program in self._run_programs(records):
            if program.fault:
                counts.failed += 1
            else:
                yield self._predict(by_id[str(record["problem_id"])], record, program)

    def _run_programs(self, records: Iterator[Record]) -> Iterator[tuple[Record, ProgramResult]]:
        batch = list(islice(records, PROGRAMS_PER_BATCH))
        if not batch:
            return
        with self.settings.open_sandbox() as sandbox:
            while batch:
                results = run_programs(sandbox, [str(r["response"]) for r in batch])
                yield from zip(batch, results, strict=True)
                batch = list(islice(records, PROGRAMS_PER_BATCH))

    def _predict(self, sample: Sample, record: Record, program: ProgramResult | None) -> Prediction:
        benchmark, output = self.job.benchmark, str(record["response"])
        equality = replace(self.settings.equality, outcomes=[])
        if program is None:
            found = benchmark.extract(shortened(output), sample)
        else:
            found = program_result(shortened(program.answer), sample)
        return Prediction(
            sample=sample,
            benchmark=benchmark.name,
            prompt=benchmark.prompt.format(sample.question),
            output=output,
            prediction=found,
            right=benchmark.evaluate(found, sample, equality),
            compared=equality.outcomes,
            finish_reason=record.get("finish_reason"),
            program=program,
        )

    def _facts(self) -> dict[str, Any]:
        """Return what run.json records beside the counts: the job and its settings."""
        prompt = self.job.benchmark.prompt
        examples = "none"
        if prompt.shots:
            examples = (
                "the user's" if prompt.own else ("gradebox's own, not comparable with a paper's")
            )
        return {
            "benchmark": self.job.benchmark.name,
            "task": self.job.task,
            "model": self.job.target.name,
            "test_file": str(self.path),
            "sample_data": self.is_example_data,
            "few_shot_prompt": prompt.name,
            "few_shot_examples": examples,
            "sampling": self.settings.sampling,
            "seed": self.settings.seed,
            "num_samples": self.settings.num_samples,
            "questions": len(self.samples),
        }


def split_by_file(
    jobs: Sequence[BenchmarkJob], data_dir: Path
) -> tuple[list[BenchmarkJob], list[str]]:
    """Return the jobs whose test file is there, and the test paths of the others."""
    found = [job for job in jobs if not is_missing(job.benchmark.test_path, data_dir)]
    missing = [job.benchmark.test_path for job in jobs if job not in found]
    return found, list(dict.fromkeys(missing))


def run_jobs(
    jobs: Sequence[BenchmarkJob],
    settings: Settings,
    on_done: Callable[[JobRun, PredictionCounts], None],
) -> None:
    """Run the jobs in their order; call `on_done` after each.

    All files are read before the first request, so bad input costs no calls.
    """
    runs = [JobRun(job, settings) for job in jobs]
    if settings.fresh:
        discard_responses(run.responses_path for run in runs)
    for run in runs:
        on_done(run, run.finish())
