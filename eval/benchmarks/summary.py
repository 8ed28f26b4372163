"""Every metrics.json under a folder → one table: models × benchmarks, weighted by samples.

<dirname>/<model dirs>/<benchmark>/samples/metrics.json  {"n_samples", "accuracy"}
<summarize_dir>/summary.json · summary.csv · summary.png
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.benchmarks.models import in_order
from eval.input_error import InputError


@dataclass(frozen=True)
class Figure:
    """One benchmark of one model."""

    n_samples: int
    accuracy: float


@dataclass
class ModelFigures:
    """Everything known of one model, by benchmark."""

    name: str
    by_benchmark: dict[str, Figure] = field(default_factory=dict)

    def weighted(self, benchmarks: Sequence[str] | None = None) -> tuple[float | None, int]:
        """Accuracy over all samples, and how many there are; None without any."""
        chosen = self.by_benchmark if benchmarks is None else benchmarks
        figures = [self.by_benchmark[name] for name in chosen]
        total = sum(f.n_samples for f in figures)
        right = sum(f.accuracy * f.n_samples for f in figures)
        return (right / total if total else None), total


def collect(folder: Path) -> list[ModelFigures]:
    """Every model under a folder, in the order of the numbers in their names."""
    if not folder.is_dir():
        raise InputError(f"--dirname {folder}: no such folder; give the --output-dir of the runs")
    models: dict[str, ModelFigures] = {}
    for path in sorted(folder.rglob("metrics.json")):
        benchmark_dir = path.parent.parent if path.parent.name == "samples" else path.parent
        name = (
            benchmark_dir.parent.relative_to(folder).as_posix() if benchmark_dir != folder else ""
        )
        figures = models.setdefault(name, ModelFigures(name))
        figures.by_benchmark[benchmark_dir.name] = _figure(path)
    if not models:
        raise InputError(f"--dirname {folder}: no metrics.json under it; run benchmarks first")
    return sorted(models.values(), key=lambda m: in_order(m.name))


def _figure(path: Path) -> Figure:
    try:
        raw = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: {error}; remove it or run its benchmark again") from None
    count: Any = raw.get("n_samples") if isinstance(raw, dict) else None
    accuracy: Any = raw.get("accuracy") if isinstance(raw, dict) else None
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InputError(f"{path}: n_samples is {count!r}; a whole number of at least 1 is needed")
    numeric = isinstance(accuracy, (int, float)) and not isinstance(accuracy, bool)
    if not (numeric and math.isfinite(accuracy) and 0 <= accuracy <= 1):
        raise InputError(f"{path}: accuracy is {accuracy!r}; a number from 0 to 1 is needed")
    return Figure(count, float(accuracy))


def benchmarks_of(models: Sequence[ModelFigures]) -> list[str]:
    """Every benchmark any model has, sorted."""
    return sorted({name for model in models for name in model.by_benchmark})


def common_to(models: Sequence[ModelFigures]) -> list[str]:
    """The benchmarks that every model has: only over these can models be compared."""
    return [b for b in benchmarks_of(models) if all(b in m.by_benchmark for m in models)]


def as_json(models: Sequence[ModelFigures]) -> dict[str, Any]:
    """The summary; `common` holds what can be compared between models."""
    common = common_to(models)
    return {
        "common_benchmarks": common,
        "models": {
            model.name: {
                "n_samples": model.weighted()[1],
                "weighted_accuracy": model.weighted()[0],
                "weighted_accuracy_on_common": model.weighted(common)[0],
                "benchmarks": {
                    name: {"n_samples": f.n_samples, "accuracy": f.accuracy}
                    for name, f in sorted(model.by_benchmark.items())
                },
            }
            for model in models
        },
    }


def as_rows(models: Sequence[ModelFigures]) -> list[list[str]]:
    """The table with its heading; an empty cell is a benchmark the model lacks."""
    names = benchmarks_of(models)
    rows = [["model", "n_samples", "weighted_accuracy", *names]]
    for model in models:
        accuracy, count = model.weighted()
        rows.append([model.name, str(count), _shown(accuracy)])
        rows[-1] += [
            _shown(model.by_benchmark[n].accuracy if n in model.by_benchmark else None)
            for n in names
        ]
    return rows


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def as_csv(models: Sequence[ModelFigures]) -> str:
    """The table as comma separated values."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(as_rows(models))
    return out.getvalue()


def as_text(models: Sequence[ModelFigures]) -> str:
    """For people: a block a model, which fits 80 columns however many benchmarks there are."""
    common = common_to(models)
    lines = []
    for model in models:
        accuracy, count = model.weighted()
        lines.append(f"{model.name or '.'}")
        for name, figure in sorted(model.by_benchmark.items()):
            lines.append(f"  {name:<46} {figure.accuracy:8.4f} {figure.n_samples:9d}")
        lines.append(f"  {'weighted by samples':<46} {_shown(accuracy):>8} {count:9d}")
    if len(models) > 1 and common != benchmarks_of(models):
        lines.append(
            f"The models do not have the same benchmarks; over the {len(common)} that all have:"
        )
        for model in models:
            accuracy, count = model.weighted(common)
            lines.append(f"  {model.name:<46} {_shown(accuracy):>8} {count:9d}")
    return "\n".join(lines)


def plot(models: Sequence[ModelFigures], path: Path) -> None:
    """Bars of a single model's benchmarks, else a line a benchmark over the models.

    Raises ImportError without Matplotlib.
    """
    from matplotlib.figure import Figure as Canvas

    names = benchmarks_of(models)
    canvas = Canvas(figsize=(max(7.0, 0.5 * max(len(models), len(names))), 6.0), dpi=120)
    axes: Any = canvas.subplots()
    if len(models) == 1:
        _bars(axes, models[0], names)
    else:
        _lines(axes, models, names)
    axes.set_ylim(0, 1)
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", alpha=0.3)
    canvas.tight_layout()
    canvas.savefig(path)


def _bars(axes: Any, model: ModelFigures, names: Sequence[str]) -> None:
    axes.bar(range(len(names)), [model.by_benchmark[n].accuracy for n in names], color="#4477aa")
    average, count = model.weighted()
    axes.axhline(average, color="black", label=f"weighted, {count} samples")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_title(model.name)
    axes.legend()


def _lines(axes: Any, models: Sequence[ModelFigures], names: Sequence[str]) -> None:
    at = range(len(models))
    for name in names:
        values = [m.by_benchmark[name].accuracy if name in m.by_benchmark else None for m in models]
        shown = [math.nan if v is None else v for v in values]
        axes.plot(at, shown, marker=".", linewidth=1, alpha=0.6, label=name)
    common = common_to(models)
    if common:
        over = [m.weighted(common)[0] for m in models]
        axes.plot(at, over, marker="o", linewidth=3, color="black", label="weighted")
    axes.set_xticks(at, [m.name for m in models], rotation=60, ha="right")
    axes.legend(fontsize="small", ncols=2)
