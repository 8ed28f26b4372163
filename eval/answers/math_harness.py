"""The math harness: asks a server of the local contract, counts accuracy and pass@k.

eval/data/math/<name>.jsonl ─▶ POST {dataset, prompt, sample_id, …} ─▶ answer ─▶ judged
results/<run>/<name>.jsonl          the responses (asked once: a second run goes on)
results/<run>/<name>.graded.jsonl   each answer with its judgement
results/<run>/metrics.json          the figures that are printed
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.answers.items import read_items, text_field
from eval.answers.normalise import Judge
from eval.input_error import InputError
from eval.sampling.model import Request
from eval.sampling.progress import Progress
from eval.sampling.response_file import ResponseFile
from eval.sampling.sampler import Sampler, SamplerOptions
from eval.sampling.servers import LocalContract
from eval.statistics.pass_at_k import pass_at_k


@dataclass(frozen=True)
class Dataset:
    """Problems with their reference answers; `placeholder` when they are only examples."""

    name: str
    problems: Mapping[str, str]
    answers: Mapping[str, str]
    placeholder: bool


@dataclass
class Score:
    """What became of one dataset. `passes` holds right answers a problem, `counts` all."""

    name: str
    problems: int
    failed: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    passes: dict[str, int] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        return sum(self.counts.values())

    @property
    def accuracy(self) -> float | None:
        """The share of right answers among those given; None when none was."""
        return sum(self.passes.values()) / self.answered if self.answered else None

    def pass_at(self, k: int) -> tuple[float | None, int]:
        """pass@k and how many problems have fewer than k answers (then it is undefined)."""
        values = [pass_at_k(self.counts[name], self.passes[name], k) for name in self.counts]
        known = [v for v in values if v is not None]
        short = len(values) - len(known)
        return (None if short or not known else sum(known) / len(known)), short


def load_dataset(folder: Path, name: str, limit: int | None = None) -> Dataset:
    """Reads `<folder>/<name>.jsonl`; InputError names the file and where real ones come from."""
    if Path(name).name != name:
        # The name is the output's as well, which would lead back to the dataset.
        raise InputError(
            f"--datasets {name!r} is a path; name the file without .jsonl, and its folder with "
            "--data-dir"
        )
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        known = sorted(p.stem for p in folder.glob("*.jsonl"))
        raise InputError(
            f"no dataset {name!r}: {path} is missing; there are {', '.join(known) or 'none'} "
            "(docs/math-harness.md says where the real files come from)"
        )
    items = read_items(path, ["problem", "answer"], limit)
    return Dataset(
        name=name,
        problems={i: text_field(f"{path} {i}", line, "problem") for i, line in items},
        answers={i: text_field(f"{path} {i}", line, "answer") for i, line in items},
        placeholder=any(line.get("placeholder") is True for _, line in items),
    )


def check_k(ks: Sequence[int], num_samples: int) -> None:
    """InputError unless every k can be had from so many samples."""
    for k in ks:
        if k > num_samples:
            raise InputError(
                f"--pass-k {k} needs at least {k} samples, --num-samples is {num_samples}; "
                "raise it or leave that k out"
            )


def requests(dataset: Dataset, num_samples: int) -> Iterator[Request]:
    """Every sample of every problem."""
    for item, problem in dataset.problems.items():
        for sample in range(num_samples):
            yield Request(item=item, sample=sample, prompt=problem)


def run_dataset(
    dataset: Dataset,
    server: LocalContract,
    options: SamplerOptions,
    judge: Judge,
    folder: Path,
    num_samples: int,
    *,
    fresh: bool = False,
) -> Score:
    """Asks what is lacking and judges what is there. ServerLost leaves the responses behind."""
    path = folder / f"{dataset.name}.jsonl"
    with ResponseFile(path, parameters=server.parameters, fresh=fresh) as file:
        lacking = [r for r in requests(dataset, num_samples) if file.lacks(r)]
        with Progress(len(lacking), dataset.name) as progress:

            def done(outcome: Any) -> None:
                file.add(outcome, dataset=dataset.name)
                progress.add(outcome)

            Sampler(server, options).run(lacking, done)
        score = Score(dataset.name, len(dataset.problems), failed=progress.failed)
        _judge_all(dataset, file, judge, folder, num_samples, score)
    return score


def _judge_all(
    dataset: Dataset,
    file: ResponseFile,
    judge: Judge,
    folder: Path,
    num_samples: int,
    score: Score,
) -> None:
    score.counts = dict.fromkeys(dataset.problems, 0)
    score.passes = dict.fromkeys(dataset.problems, 0)
    with (folder / f"{dataset.name}.graded.jsonl").open("w", encoding="ascii") as out:
        # A file of an earlier, larger run holds more than this one asked for.
        for record in file.records((i, n) for i in dataset.answers for n in range(num_samples)):
            item, sample = str(record["problem_id"]), int(record["sample_id"])
            response = str(record["response"])
            correct = bool(judge(dataset.answers[item], response))
            score.counts[item] += 1
            score.passes[item] += correct
            line = {
                "problem_id": item,
                "sample_id": sample,
                "correct": correct,
                "expected": dataset.answers[item],
                "response": response,
            }
            out.write(json.dumps(line) + "\n")


def metrics(scores: Sequence[Score], ks: Sequence[int]) -> dict[str, Any]:
    """The figures of a run: per dataset, and their mean with equal weights."""
    per_dataset = {
        s.name: {
            "problems": s.problems,
            "answered": s.answered,
            "failed_requests": s.failed,
            "accuracy": s.accuracy,
            **{f"pass@{k}": s.pass_at(k)[0] for k in ks},
        }
        for s in scores
    }
    names = ["accuracy", *(f"pass@{k}" for k in ks)]
    macro = {name: _macro([d[name] for d in per_dataset.values()]) for name in names}
    return {"datasets": per_dataset, "macro_average": macro}


def _macro(values: Sequence[Any]) -> float | None:
    """The mean; None when one is undefined: a mean over the rest is of something else."""
    if not values or any(v is None for v in values):
        return None
    return float(sum(values) / len(values))


def table(figures: Mapping[str, Any], ks: Sequence[int]) -> str:
    """The figures for people, 80 columns."""
    names = ["accuracy", *(f"pass@{k}" for k in ks)]
    rows = [["dataset", "problems", "answers", "failed", *names]]
    for name, d in figures["datasets"].items():
        rows.append(
            [name, str(d["problems"]), str(d["answered"]), str(d["failed_requests"])]
            + [_shown(d[n]) for n in names]
        )
    rows.append(
        ["macro average", "", "", "", *(_shown(figures["macro_average"][n]) for n in names)]
    )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            c.ljust(w) if i == 0 else c.rjust(w)
            for i, (c, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
