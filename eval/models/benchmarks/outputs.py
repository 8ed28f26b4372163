"""The output files of a benchmark, in the format of lm-open-science-evaluation.

outputs/<model dirs>/<benchmark>/samples/
    metrics.json       {"n_samples", "accuracy"} only, because other tools aggregate it
    predictions.json   a list of {"dataset", "id", "messages", "answer", "reference",
                       "prompt", "model_output", "prediction", "accuracy", "outcome"}
    run.json           settings that the figures depend on, and counts of failures
    responses.jsonl    the server's answers, from which an interrupted run continues
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from gradebox.checkers.math.outcome import OUTCOMES, GradeOutcome
from gradebox.eval.common.files import replacing, write_json
from gradebox.eval.models.benchmarks.pal import ProgramResult
from gradebox.eval.models.benchmarks.sample import Sample


@dataclass(frozen=True)
class Prediction:
    """A judged answer of a model; `compared` has the outcomes of its comparisons as math."""

    sample: Sample
    benchmark: str
    prompt: str
    output: str
    prediction: list[str]
    right: bool
    compared: Sequence[GradeOutcome] = ()
    finish_reason: str | None = None
    program: ProgramResult | None = None

    @property
    def outcome(self) -> GradeOutcome:
        """Return what came of it; a reject is not read when one comparison gave no verdict."""
        if self.right:
            return "equal"
        if not any(text.strip() for text in self.prediction):
            return "cut" if self.finish_reason == "length" else "no answer"
        limits = (o for o in self.compared if o in ("not read", "timed out"))
        return next(limits, "different")

    def as_json(self) -> dict[str, Any]:
        """Return the entry in predictions.json."""
        answers = list(self.sample.answers)
        entry: dict[str, Any] = {
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
            "outcome": self.outcome,
            "finish_reason": self.finish_reason,
        }
        if self.program is not None:
            entry["program_error"] = self.program.error
        return entry


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

    def add(self, prediction: Prediction) -> None:
        """Count a judged answer."""
        self.graded += 1
        self.right += prediction.right
        self.unreadable += not prediction.prediction
        self.outcomes[prediction.outcome] += 1
        self.truncated += prediction.finish_reason == "length"

    @property
    def accuracy(self) -> float | None:
        """Return the share of right answers; None, not 0, when nothing was judged."""
        return self.right / self.graded if self.graded else None


def write_predictions(
    path: Path, predictions: Iterable[Prediction], counts: PredictionCounts
) -> None:
    """Write and count the predictions one at a time; the file is replaced when it is complete."""
    with replacing(path) as file:
        separator = b"[\n"
        for prediction in predictions:
            counts.add(prediction)
            file.write(separator + json.dumps(prediction.as_json()).encode("ascii"))
            separator = b",\n"
        file.write(b"[]\n" if separator == b"[\n" else b"\n]\n")


def write_metrics(folder: Path, counts: PredictionCounts, facts: Mapping[str, Any]) -> None:
    """Write run.json and metrics.json; remove metrics.json when nothing was judged."""
    metrics = folder / "metrics.json"
    if counts.accuracy is None:
        metrics.unlink(missing_ok=True)
    else:
        write_json(metrics, {"n_samples": counts.graded, "accuracy": counts.accuracy})
    write_json(folder / "run.json", {**facts, **asdict(counts)})
