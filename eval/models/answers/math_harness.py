"""The math harness: ask a server of the local contract, compute accuracy and pass@k.

eval/models/data/math/<name>.jsonl ─▶ POST {dataset, prompt, sample_id, …} ─▶ answer ─▶ judged
results/<run>/<name>.jsonl          the responses, from which an interrupted run continues
results/<run>/<name>.graded.jsonl   each response with its judgement
results/<run>/metrics.json          the printed figures
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class HarnessRun:
    """How the datasets of a run are asked and judged.

    ks  the k of pass@k, of which none is larger than `num_samples`
    """

    options: SamplerOptions
    judge: Judge
    folder: Path
    num_samples: int
    ks: Sequence[int]

    def responses_path(self, dataset: MathDataset) -> Path:
        """Return the file of a dataset's responses."""
        return self.folder / f"{dataset.name}.jsonl"

    def figures_of(self, dataset: MathDataset, server: LocalContract) -> dict[str, Any]:
        """Ask for the missing responses, judge all, return the dataset's entry in metrics.json.

        Raises CallError when the server has gone. Failed requests count neither as right nor wrong.
        """
        requests = (
            Request(item=item, sample=sample, prompt=problem)
            for item, problem in dataset.problems.items()
            for sample in range(self.num_samples)
        )
        counts = {item: [0, 0] for item in dataset.problems}  # answers, and correct ones
        graded = self.folder / f"{dataset.name}.graded.jsonl"
        with ResponseFile(self.responses_path(dataset), parameters=server.parameters) as file:
            name = dataset.name
            progress = file.ask_missing(requests, server, self.options, name, dataset=name)
            # Only the requested samples: the file may hold those of an earlier, larger run.
            keys = ((item, n) for item in dataset.answers for n in range(self.num_samples))
            with graded.open("w", encoding="ascii") as out:
                for record in file.records(keys):
                    item, response = str(record["problem_id"]), str(record["response"])
                    correct = bool(self.judge(dataset.answers[item], response))
                    counts[item][0] += 1
                    counts[item][1] += correct
                    line = {
                        "problem_id": item,
                        "sample_id": int(record["sample_id"]),
                        "correct": correct,
                        "expected": dataset.answers[item],
                        "response": response,
                    }
                    out.write(json.dumps(line) + "\n")
        answered, right = (sum(count[i] for count in counts.values()) for i in (0, 1))
        return {
            "problems": len(dataset.problems),
            "answered": answered,
            "failed_requests": progress.failed,
            "accuracy": right / answered if answered else None,
            **{
                f"pass@{k}": mean_pass_at_k(((n, c) for n, c in counts.values()), k)
                for k in self.ks
            },
        }

    def metrics(self, datasets: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Return the figures of each dataset and their unweighted means.

        A mean is None when one of its values is undefined: the rest would be another quantity.
        """
        means: dict[str, float | None] = {}
        for name in self._names():
            values = [figures[name] for figures in datasets.values()]
            means[name] = None if None in values else sum(values) / len(values)
        return {"datasets": dict(datasets), "macro_average": means}

    def _names(self) -> list[str]:
        return ["accuracy", *(f"pass@{k}" for k in self.ks)]

    def table(self, metrics: Mapping[str, Any]) -> str:
        """Return the metrics as a table."""
        names, counts = self._names(), ("problems", "answered", "failed_requests")
        rows = [("dataset", "problems", "answers", "failed", *names)]
        for name, d in [*metrics["datasets"].items(), ("macro average", metrics["macro_average"])]:
            values = (f"{d[n]:.4f}" if d[n] is not None else "undefined" for n in names)
            rows.append((name, *(str(d.get(n, "")) for n in counts), *values))
        first = max(len(row[0]) for row in rows)
        return "\n".join(
            f"{row[0]:<{first}}" + "".join(f"{cell:>10}" for cell in row[1:]) for row in rows
        )
