"""One benchmark of one model: ask what is lacking, read, judge, write."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.benchmarks.config import folder_name
from eval.benchmarks.data_file import find_file, is_sample, read_samples
from eval.benchmarks.extraction.numbers import program_result
from eval.benchmarks.model import Equality, Sample
from eval.benchmarks.outputs import Counts, Prediction, write_metrics, write_predictions
from eval.benchmarks.pal import ProgramResult, run_programs
from eval.benchmarks.work import Unit
from eval.sampling.model import Outcome, Request
from eval.sampling.progress import Progress
from eval.sampling.response_file import ResponseFile
from eval.sampling.sampler import Sampler, SamplerOptions
from eval.sampling.servers import OpenAIChat, OpenAICompletions

if TYPE_CHECKING:
    from sandbox import Sandbox

Record = dict[str, Any]
PROGRAMS_AT_A_TIME = 64


@dataclass(frozen=True)
class Settings:
    """How every benchmark of a run is asked and judged.

    sampling     temperature, top_p, max_tokens, … of every request
    num_samples  answers a question
    open_sandbox gives the sandbox for programs; called once, when one is needed
    """

    data_dir: Path
    output_dir: Path
    sampler: SamplerOptions
    equality: Equality
    open_sandbox: Callable[[], AbstractContextManager[Sandbox]]
    sampling: dict[str, Any] = field(default_factory=dict)
    num_samples: int = 1
    seed: int | None = None
    limit: int | None = None
    secret: str = ""
    fresh: bool = False


class UnitRun:
    """One unit, opened: its questions are read, its responses found; nothing is asked yet."""

    def __init__(self, unit: Unit, settings: Settings) -> None:
        self.unit = unit
        self.settings = settings
        self.label = f"{unit.target.name} {folder_name(unit.benchmark, unit.task)}"
        self.folder = settings.output_dir.joinpath(
            *unit.target.dirs, folder_name(unit.benchmark, unit.task), "samples"
        )
        self.path = find_file(unit.benchmark.test_path, settings.data_dir)
        self.samples = read_samples(unit.benchmark, self.path, settings.limit)

    @property
    def is_sample_data(self) -> bool:
        """Whether the questions are our few, not the benchmark's."""
        return is_sample(self.path)

    def server(self, url: str) -> OpenAIChat | OpenAICompletions:
        """Base models go on with a text; tuned ones are asked in a chat."""
        kind = OpenAIChat if self.unit.task == "sft" else OpenAICompletions
        return kind(url, self.unit.target.name, self.settings.sampling, self.settings.secret)

    def requests(self) -> Iterator[Request]:
        """Every sample of every question."""
        prompt = self.unit.benchmark.prompt
        for sample in self.samples:
            text = prompt.format(sample.question)
            for number in range(self.settings.num_samples):
                seed = None if self.settings.seed is None else self.settings.seed + number
                if self.unit.task == "sft":
                    message = {"role": "user", "content": text}
                    yield Request(sample.id, number, (message,), stop=prompt.stop, seed=seed)
                else:
                    yield Request(sample.id, number, prompt=text, stop=prompt.stop, seed=seed)

    def responses(self, fresh: bool = False) -> ResponseFile:
        """The answers so far; `fresh` forgets them."""
        parameters = self.server("http://unused").parameters
        return ResponseFile(self.folder / "responses.jsonl", parameters=parameters, fresh=fresh)

    def lacking(self) -> int:
        """How many requests are still to be asked."""
        if self.settings.fresh:
            return len(self.samples) * self.settings.num_samples
        with self.responses() as file:
            return sum(file.lacks(request) for request in self.requests())

    def finish(self, url: str) -> Counts:
        """Asks the server at `url` ("": everything is answered), then judges everything."""
        counts = Counts()
        with self.responses(self.settings.fresh) as file:
            if url:
                counts.failed += self._ask(file, url)
            write_predictions(self.folder / "predictions.json", self._judged(file, counts), counts)
        write_metrics(self.folder, counts, self._facts())
        return counts

    def _ask(self, file: ResponseFile, url: str) -> int:
        requests = [r for r in self.requests() if file.lacks(r)]
        with Progress(len(requests), self.label) as progress:

            def done(outcome: Outcome) -> None:
                file.add(outcome)
                progress.add(outcome)

            Sampler(self.server(url), self.settings.sampler).run(requests, done)
            return progress.failed

    def _judged(self, file: ResponseFile, counts: Counts) -> Iterator[Prediction]:
        wanted = {sample.id: sample for sample in self.samples}
        # In the questions' order: the same predictions whatever the server's speed.
        numbers = range(self.settings.num_samples)
        records = file.records((name, number) for name in wanted for number in numbers)
        if self.unit.task != "pal":
            for record in records:
                yield self._prediction(wanted[str(record["problem_id"])], record, None)
            return
        for record, program in self._programs(records):
            if program.fault:
                counts.failed += 1
                continue
            yield self._prediction(wanted[str(record["problem_id"])], record, program)

    def _programs(self, records: Iterator[Record]) -> Iterator[tuple[Record, ProgramResult]]:
        first = list(islice(records, PROGRAMS_AT_A_TIME))
        if not first:
            return
        with self.settings.open_sandbox() as sandbox:
            while first:
                results = run_programs(sandbox, [str(r["response"]) for r in first])
                yield from zip(first, results, strict=True)
                first = list(islice(records, PROGRAMS_AT_A_TIME))

    def _prediction(
        self, sample: Sample, record: Record, program: ProgramResult | None
    ) -> Prediction:
        benchmark, output = self.unit.benchmark, str(record["response"])
        if program is None:
            found = benchmark.extract(output, sample)
        else:
            found = program_result(program.answer, sample)
        return Prediction(
            sample=sample,
            benchmark=benchmark.name,
            prompt=benchmark.prompt.format(sample.question),
            output=output,
            prediction=found,
            right=benchmark.evaluate(found, sample, self.settings.equality),
            finish_reason=record.get("finish_reason"),
            program=program,
        )

    def _facts(self) -> dict[str, Any]:
        benchmark = self.unit.benchmark
        return {
            "benchmark": benchmark.name,
            "task": self.unit.task,
            "model": self.unit.target.name,
            "test_file": str(self.path),
            "sample_data": self.is_sample_data,
            "few_shot_prompt": benchmark.prompt.name,
            "few_shot_examples": (
                "none"
                if not benchmark.prompt.has_shots
                else "the user's"
                if benchmark.prompt.own
                else "gradebox's own, not comparable with a paper's"
            ),
            "sampling": self.settings.sampling,
            "seed": self.settings.seed,
            "num_samples": self.settings.num_samples,
            "questions": len(self.samples),
        }
