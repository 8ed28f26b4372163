"""What a benchmark leaves behind, as documented by lm-open-science-evaluation.

outputs/<model dirs>/<benchmark>/samples/
    metrics.json       {"n_samples", "accuracy"}, and nothing else: others aggregate it
    predictions.json   a list of {"dataset", "id", "messages", "answer", "reference",
                       "prompt", "model_output", "prediction", "accuracy"}
    run.json           what the figures depend on, and what failed
    responses.jsonl    the server's answers: a second run asks only for those missing
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.answers.command import write_json
from eval.benchmarks.model import Sample
from eval.benchmarks.pal import ProgramResult
from eval.input_error import InputError


@dataclass(frozen=True)
class Prediction:
    """One answer of a model, judged."""

    sample: Sample
    benchmark: str
    prompt: str
    output: str
    prediction: list[str]
    right: bool
    finish_reason: str | None = None
    program: ProgramResult | None = None

    def as_json(self) -> dict[str, Any]:
        """The documented fields, then what explains them."""
        answers = list(self.sample.answers)
        line: dict[str, Any] = {
            "dataset": self.benchmark,
            "id": self.sample.id,
            "messages": [
                {"role": "user", "content": self.sample.question},
                {"role": "assistant", "content": ""},
            ],
            "answer": answers[0] if len(answers) == 1 else answers,
            "reference": self.sample.reference,
            "prompt": self.prompt,
            "model_output": self.output,
            "prediction": self.prediction,
            "accuracy": 1.0 if self.right else 0.0,
            "finish_reason": self.finish_reason,
        }
        if self.program is not None:
            line["program_error"] = self.program.error
        return line


@dataclass
class Counts:
    """Figures of one benchmark of one model.

    graded       answers that count
    unreadable   of those, answers without a prediction (they are wrong)
    truncated    of those, answers cut by the token limit
    failed       requests without an answer, and programs the machine failed: in no figure
    """

    graded: int = 0
    right: int = 0
    unreadable: int = 0
    truncated: int = 0
    failed: int = 0

    def add(self, prediction: Prediction) -> None:
        self.graded += 1
        self.right += prediction.right
        self.unreadable += not prediction.prediction
        self.truncated += prediction.finish_reason == "length"

    @property
    def accuracy(self) -> float | None:
        """None when nothing was graded: that is not 0."""
        return self.right / self.graded if self.graded else None


def write_predictions(path: Path, predictions: Iterable[Prediction], counts: Counts) -> None:
    """Writes the list one entry at a time, counting; the old file stays until this is whole."""
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="ascii") as file:
            separator = "[\n"
            for prediction in predictions:
                counts.add(prediction)
                file.write(separator + json.dumps(prediction.as_json()))
                separator = ",\n"
            file.write("[]\n" if separator == "[\n" else "\n]\n")
        part.replace(path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}; name another place") from None


def write_metrics(folder: Path, counts: Counts, facts: Mapping[str, Any]) -> None:
    """metrics.json when there is a figure, and run.json always."""
    metrics = folder / "metrics.json"
    if counts.accuracy is None:
        metrics.unlink(missing_ok=True)
    else:
        write_json(metrics, {"n_samples": counts.graded, "accuracy": counts.accuracy})
    write_json(
        folder / "run.json",
        {
            **facts,
            "graded": counts.graded,
            "right": counts.right,
            "unreadable": counts.unreadable,
            "truncated": counts.truncated,
            "failed": counts.failed,
        },
    )
