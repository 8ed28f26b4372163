"""The math harness: ask a server of the local contract, compute accuracy and pass@k.

eval/models/data/math/<name>.jsonl ─▶ POST {dataset, prompt, sample_id, …} ─▶ answer ─▶ judged
results/<run>/<name>.jsonl          the responses, from which an interrupted run continues
results/<run>/<name>.graded.jsonl   each response with its judgement
results/<run>/metrics.json          the printed figures
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.equality import Judge
from gradebox.eval.models.exchange import Request
from gradebox.eval.models.response_file import ResponseFile, read_questions, text_field
from gradebox.eval.models.sampler import SamplerOptions
from gradebox.eval.models.servers import LocalContract
from gradebox.eval.results.statistics.intervals import mean_pass_at_k


@dataclass(frozen=True)
class MathDataset:
    """Problems and reference answers by id; `placeholder` marks gradebox's own examples."""

    name: str
    problems: Mapping[str, str]
    answers: Mapping[str, str]
    placeholder: bool


@dataclass
class MathScore:
    """The result on one dataset.

    failed   requests that got no answer; they count neither as right nor as wrong
    answers  number of answers by problem
    correct  number of correct answers by problem
    """

    name: str
    problems: int
    failed: int = 0
    answers: dict[str, int] = field(default_factory=dict)
    correct: dict[str, int] = field(default_factory=dict)

    def pass_at(self, k: int) -> float | None:
        """Return pass@k; None when a problem has fewer than k answers."""
        return mean_pass_at_k(((n, self.correct[name]) for name, n in self.answers.items()), k)

    def figures(self, ks: Sequence[int]) -> dict[str, Any]:
        """Return the dataset's entry in metrics.json."""
        answered = sum(self.answers.values())
        return {
            "problems": self.problems,
            "answered": answered,
            "failed_requests": self.failed,
            "accuracy": sum(self.correct.values()) / answered if answered else None,
            **{f"pass@{k}": self.pass_at(k) for k in ks},
        }


def load_dataset(folder: Path, name: str, limit: int | None = None) -> MathDataset:
    """Return the problems of `<folder>/<name>.jsonl`; raise InputError when it is missing."""
    if Path(name).name != name:
        # The name is also that of the output, which must not be the dataset itself.
        raise InputError(
            f"--datasets {name!r} is a path; give the file's name without .jsonl, and its folder "
            "with --data-dir"
        )
    path = folder / f"{name}.jsonl"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.jsonl"))) or "none"
        raise InputError(
            f"no dataset {name!r}: {path} is missing; the folder has {known} "
            "(docs/math-harness.md has the sources of the real files)"
        )
    questions = read_questions(path, ["problem", "answer"], limit)
    return MathDataset(
        name=name,
        problems={i: text_field(f"{path} {i}", line, "problem") for i, line in questions},
        answers={i: text_field(f"{path} {i}", line, "answer") for i, line in questions},
        placeholder=any(line.get("placeholder") is True for _, line in questions),
    )


def check_k(ks: Sequence[int], num_samples: int) -> None:
    """Raise InputError when a k is larger than the number of samples."""
    for k in ks:
        if k > num_samples:
            raise InputError(
                f"--pass-k {k} needs at least {k} samples, --num-samples is {num_samples}; "
                "raise it or leave that k out"
            )


def responses_path(folder: Path, dataset: MathDataset) -> Path:
    """Return the file of a dataset's responses."""
    return folder / f"{dataset.name}.jsonl"


def run_dataset(
    dataset: MathDataset,
    server: LocalContract,
    options: SamplerOptions,
    judge: Judge,
    folder: Path,
    num_samples: int,
) -> MathScore:
    """Ask for the missing responses and judge all of them; raise ServerLost."""
    path = responses_path(folder, dataset)
    with ResponseFile(path, parameters=server.parameters) as file:
        progress = file.ask_missing(
            _requests(dataset, num_samples), server, options, dataset.name, dataset=dataset.name
        )
        score = MathScore(dataset.name, len(dataset.problems), failed=progress.failed)
        _judge_all(dataset, file, judge, folder, num_samples, score)
    return score


def _requests(dataset: MathDataset, num_samples: int) -> Iterator[Request]:
    for item, problem in dataset.problems.items():
        for sample in range(num_samples):
            yield Request(item=item, sample=sample, prompt=problem)


def _judge_all(
    dataset: MathDataset,
    file: ResponseFile,
    judge: Judge,
    folder: Path,
    num_samples: int,
    score: MathScore,
) -> None:
    score.answers = dict.fromkeys(dataset.problems, 0)
    score.correct = dict.fromkeys(dataset.problems, 0)
    with (folder / f"{dataset.name}.graded.jsonl").open("w", encoding="ascii") as out:
        # Only the requested samples: the file may hold those of an earlier, larger run.
        for record in file.records((i, n) for i in dataset.answers for n in range(num_samples)):
            item, sample = str(record["problem_id"]), int(record["sample_id"])
            response = str(record["response"])
            correct = bool(judge(dataset.answers[item], response))
            score.answers[item] += 1
            score.correct[item] += correct
            line = {
                "problem_id": item,
                "sample_id": sample,
                "correct": correct,
                "expected": dataset.answers[item],
                "response": response,
            }
            out.write(json.dumps(line) + "\n")


def metrics(scores: Sequence[MathScore], ks: Sequence[int]) -> dict[str, Any]:
    """Return the figures of each dataset and their unweighted means."""
    per_dataset = {score.name: score.figures(ks) for score in scores}
    means = {name: _mean([d[name] for d in per_dataset.values()]) for name in _figure_names(ks)}
    return {"datasets": per_dataset, "macro_average": means}


def _figure_names(ks: Sequence[int]) -> list[str]:
    return ["accuracy", *(f"pass@{k}" for k in ks)]


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None when a value is undefined, as the rest would be another quantity."""
    known = [value for value in values if value is not None]
    return float(sum(known) / len(known)) if known and len(known) == len(values) else None


def format_table(figures: Mapping[str, Any], ks: Sequence[int]) -> str:
    """Return the figures as a table."""
    names = _figure_names(ks)
    rows = [("dataset", "problems", "answers", "failed", *names)]
    for name, d in figures["datasets"].items():
        counts = (d["problems"], d["answered"], d["failed_requests"])
        rows.append((name, *map(str, counts), *(_format(d[n]) for n in names)))
    macro = figures["macro_average"]
    rows.append(("macro average", "", "", "", *(_format(macro[n]) for n in names)))
    first = max(len(row[0]) for row in rows)
    return "\n".join(
        f"{row[0]:<{first}}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows
    )


def _format(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}"
