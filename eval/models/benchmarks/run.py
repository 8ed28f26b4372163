"""Run benchmarks of models: ask for missing answers, read them, judge them, write files.

Target (a running server) × Benchmark × task ─▶ BenchmarkJob ─▶ its files, in the format of
lm-open-science-evaluation:

outputs/<model dirs>/<benchmark>/samples/
    metrics.json       {"n_samples", "accuracy"} only, because other tools aggregate it
    predictions.json   a list of {"dataset", "id", "messages", "answer", "reference",
                       "prompt", "model_output", "prediction", "accuracy", "outcome"}
    run.json           settings that the figures depend on, and counts of failures
    responses.jsonl    the server's answers, from which an interrupted run continues
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradebox.checkers.math.grading import OUTCOMES, GradeOutcome
from gradebox.eval.common.errors import InputError
from gradebox.eval.common.files import replacing, write_json
from gradebox.eval.models.answers.equality import MathEquality
from gradebox.eval.models.benchmarks.extraction import program_result
from gradebox.eval.models.benchmarks.pal import ProgramResult, run_programs
from gradebox.eval.models.benchmarks.registry import folder_name
from gradebox.eval.models.benchmarks.sample import (
    EXAMPLE_DATA,
    Benchmark,
    Sample,
    Task,
    find_file,
    missing_files_message,
    read_samples,
)
from gradebox.eval.models.benchmarks.texts import shortened
from gradebox.eval.models.exchange import Request, check_reachable, get_served_model
from gradebox.eval.models.response_file import ResponseFile, discard_responses
from gradebox.eval.models.sampler import SamplerOptions
from gradebox.eval.models.servers import OpenAIChat, OpenAICompletions

if TYPE_CHECKING:
    from gradebox.sandbox import Sandbox

_UNSAFE = re.compile(r"[^A-Za-z0-9._@+=-]")
PROGRAMS_PER_BATCH = 64


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


def safe_dirs(parts: Sequence[str]) -> tuple[str, ...]:
    """Return folder names for a model's name, which a server could choose to leave the folder."""
    dirs = [_UNSAFE.sub("_", part)[:100] for part in parts]
    return tuple("_" if part.strip(".") == "" else part for part in dirs if part) or ("model",)


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


@dataclass
class PredictionCounts:
    """Counts of one benchmark of one model.

    graded       judged answers
    unreadable   judged answers without a prediction, which are wrong
    truncated    judged answers cut by the token limit
    failed       failed requests, and programs that failed through the machine's fault; these
                 are in no figure
    outcomes     judged answers by outcome: equal, different, not read, …
    """

    graded: int = 0
    right: int = 0
    unreadable: int = 0
    truncated: int = 0
    failed: int = 0
    outcomes: dict[GradeOutcome, int] = field(default_factory=lambda: dict.fromkeys(OUTCOMES, 0))

    def add(self, prediction: Mapping[str, Any]) -> None:
        """Count an entry of predictions.json."""
        self.graded += 1
        self.right += prediction["accuracy"] == 1.0
        self.unreadable += not prediction["prediction"]
        self.outcomes[prediction["outcome"]] += 1
        self.truncated += prediction["finish_reason"] == "length"

    @property
    def accuracy(self) -> float | None:
        """Return the share of right answers; None, not 0, when nothing was judged."""
        return self.right / self.graded if self.graded else None


def outcome_of(
    right: bool, found: Sequence[str], compared: Sequence[GradeOutcome], finish_reason: str | None
) -> GradeOutcome:
    """Return what came of an answer: `not read` when it is wrong and one comparison had no verdict.

    compared  the outcomes of its comparisons as math
    """
    if right:
        return "equal"
    if not any(text.strip() for text in found):
        return "cut" if finish_reason == "length" else "no answer"
    return next((o for o in compared if o in ("not read", "timed out")), "different")


@dataclass(frozen=True)
class BenchmarkJob:
    """One task of one benchmark for one model."""

    target: Target
    benchmark: Benchmark
    task: Task
    settings: Settings

    @property
    def label(self) -> str:
        return f"{self.target.name} {folder_name(self.benchmark, self.task)}"

    @property
    def folder(self) -> Path:
        dirs = (*self.target.dirs, folder_name(self.benchmark, self.task), "samples")
        return self.settings.output_dir.joinpath(*dirs)

    @property
    def responses_path(self) -> Path:
        return self.folder / "responses.jsonl"

    @property
    def path(self) -> Path | None:
        """The test file, None when it is missing."""
        return find_file(self.benchmark.test_path, self.settings.data_dir)

    @property
    def is_example_data(self) -> bool:
        """Return whether the questions are gradebox's examples, not those of the benchmark."""
        return self.path is not None and EXAMPLE_DATA in self.path.resolve().parents

    @cached_property
    def samples(self) -> dict[str, Sample]:
        """The questions by id. Raises InputError for a file that is missing or can't be read."""
        if self.path is None:
            missing = [self.benchmark.test_path]
            raise InputError(missing_files_message(missing, self.settings.data_dir))
        samples = read_samples(self.benchmark, self.path, self.settings.limit)
        return {sample.id: sample for sample in samples}

    def finish(self) -> PredictionCounts:
        """Ask the server for the missing answers, judge all, write the files; raise CallError."""
        counts, settings, target = PredictionCounts(), self.settings, self.target
        # Chat for tuned models, text completion for base models.
        kind = OpenAIChat if self.task == "sft" else OpenAICompletions
        server = kind(target.url, target.name, settings.sampling, settings.api_key)
        with ResponseFile(self.responses_path, parameters=server.parameters) as file:
            progress = file.ask_missing(self._requests(), server, settings.sampler, self.label)
            counts.failed += progress.failed
            with replacing(self.folder / "predictions.json") as output:
                separator = b"[\n"
                for prediction in self._judged(file, counts):
                    counts.add(prediction)
                    output.write(separator + json.dumps(prediction).encode("ascii"))
                    separator = b",\n"
                output.write(b"[]\n" if separator == b"[\n" else b"\n]\n")
        if counts.accuracy is None:
            (self.folder / "metrics.json").unlink(missing_ok=True)
        else:
            metrics = {"n_samples": counts.graded, "accuracy": counts.accuracy}
            write_json(self.folder / "metrics.json", metrics)
        write_json(self.folder / "run.json", {**self._facts(), **asdict(counts)})
        return counts

    def _requests(self) -> Iterator[Request]:
        prompt, settings = self.benchmark.prompt, self.settings
        for name, sample in self.samples.items():
            text = prompt.format(sample.question)
            for number in range(settings.num_samples):
                how: Any = {"chat": self.task == "sft", "seed": settings.seed}
                yield Request.of(name, number, text, stop=prompt.stop, **how)

    def _judged(self, file: ResponseFile, counts: PredictionCounts) -> Iterator[dict[str, Any]]:
        """Yield the entries of predictions.json, in the order of the questions."""
        numbers = range(self.settings.num_samples)
        records = file.records((name, number) for name in self.samples for number in numbers)
        if self.task != "pal":
            yield from (self._prediction(record, None) for record in records)
            return
        batch = list(islice(records, PROGRAMS_PER_BATCH))
        if not batch:
            return
        with self.settings.open_sandbox() as sandbox:
            while batch:
                results = run_programs(sandbox, [str(r["response"]) for r in batch])
                for record, program in zip(batch, results, strict=True):
                    if program.fault:
                        counts.failed += 1
                    else:
                        yield self._prediction(record, program)
                batch = list(islice(records, PROGRAMS_PER_BATCH))

    def _prediction(self, record: dict[str, Any], program: ProgramResult | None) -> dict[str, Any]:
        benchmark, output = self.benchmark, str(record["response"])
        sample, finish_reason = self.samples[str(record["problem_id"])], record.get("finish_reason")
        equality = replace(self.settings.equality, outcomes=[])
        if program is None:
            found = benchmark.extract(shortened(output), sample)
        else:
            found = program_result(shortened(program.answer), sample)
        right = benchmark.evaluate(found, sample, equality)
        return {
            "dataset": benchmark.name,
            "id": sample.id,
            "messages": [
                {"role": "user", "content": sample.question},
                {"role": "assistant", "content": ""},
            ],
            "answer": sample.answer if len(sample.answers) == 1 else list(sample.answers),
            "reference": sample.reference,
            "prompt": benchmark.prompt.format(sample.question),
            "model_output": output,
            "prediction": found,
            "accuracy": 1.0 if right else 0.0,
            "outcome": outcome_of(right, found, equality.outcomes, finish_reason),
            "finish_reason": finish_reason,
            **({} if program is None else {"program_error": program.error}),
        }

    def _facts(self) -> dict[str, Any]:
        """Return what run.json records beside the counts: the job and its settings."""
        prompt, settings = self.benchmark.prompt, self.settings
        examples = "gradebox's own, not comparable with a paper's" if prompt.shots else "none"
        return {
            "benchmark": self.benchmark.name,
            "task": self.task,
            "model": self.target.name,
            "test_file": str(self.path),
            "sample_data": self.is_example_data,
            "few_shot_prompt": prompt.name,
            "few_shot_examples": "the user's" if prompt.own else examples,
            "sampling": settings.sampling,
            "seed": settings.seed,
            "num_samples": settings.num_samples,
            "questions": len(self.samples),
        }


def run_jobs(
    jobs: Sequence[BenchmarkJob], on_done: Callable[[BenchmarkJob, PredictionCounts], None]
) -> None:
    """Run the jobs in their order; call `on_done` after each.

    All files are read before the first request, so bad input costs no calls.
    """
    for job in jobs:
        _ = job.samples
    discard_responses(job.responses_path for job in jobs if job.settings.fresh)
    for job in jobs:
        on_done(job, job.finish())
