"""Summarise every metrics.json under a folder as a table of models and benchmarks.

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

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.benchmarks.run import number_sort_key


@dataclass(frozen=True)
class BenchmarkFigure:
    """The accuracy of one model on one benchmark."""

    n_samples: int
    accuracy: float


@dataclass
class ModelFigures:
    """The figures of one model by benchmark."""

    name: str
    by_benchmark: dict[str, BenchmarkFigure] = field(default_factory=dict)

    def weighted_accuracy(
        self, benchmarks: Sequence[str] | None = None
    ) -> tuple[float | None, int]:
        """Return the accuracy over all samples (None without any) and their number."""
        names = self.by_benchmark if benchmarks is None else benchmarks
        figures = [self.by_benchmark[name] for name in names]
        total = sum(f.n_samples for f in figures)
        right = sum(f.accuracy * f.n_samples for f in figures)
        return (right / total if total else None), total


def read_figures(folder: Path) -> list[ModelFigures]:
    """Return the models under a folder, sorted by the numbers in their names.

    Raises InputError for a folder without metrics, or metrics that are not valid.
    """
    if not folder.is_dir():
        raise InputError(f"--dirname {folder}: no such folder; give the --output-dir of the runs")
    models: dict[str, ModelFigures] = {}
    for path in sorted(folder.rglob("metrics.json")):
        benchmark_dir = path.parent.parent if path.parent.name == "samples" else path.parent
        name = (
            benchmark_dir.parent.relative_to(folder).as_posix() if benchmark_dir != folder else ""
        )
        figures = models.setdefault(name, ModelFigures(name))
        figures.by_benchmark[benchmark_dir.name] = _read_figure(path)
    if not models:
        raise InputError(f"--dirname {folder}: no metrics.json under it; run benchmarks first")
    return sorted(models.values(), key=lambda m: number_sort_key(m.name))


def _read_figure(path: Path) -> BenchmarkFigure:
    try:
        raw = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: {error}; remove it or run its benchmark again") from None
    count: Any = raw.get("n_samples") if isinstance(raw, dict) else None
    accuracy: Any = raw.get("accuracy") if isinstance(raw, dict) else None
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InputError(f"{path}: n_samples is {count!r}; it must be at least 1")
    numeric = isinstance(accuracy, (int, float)) and not isinstance(accuracy, bool)
    if not (numeric and math.isfinite(accuracy) and 0 <= accuracy <= 1):
        raise InputError(f"{path}: accuracy is {accuracy!r}; it must be a number from 0 to 1")
    return BenchmarkFigure(count, float(accuracy))


def all_benchmarks(models: Sequence[ModelFigures]) -> list[str]:
    """Return the benchmarks that at least one model has, sorted."""
    return sorted({name for model in models for name in model.by_benchmark})


def common_benchmarks(models: Sequence[ModelFigures]) -> list[str]:
    """Return the benchmarks that all models have; only over these can models be compared."""
    return [b for b in all_benchmarks(models) if all(b in m.by_benchmark for m in models)]


def as_json(models: Sequence[ModelFigures]) -> dict[str, Any]:
    """Return the contents of summary.json."""
    common = common_benchmarks(models)
    return {
        "common_benchmarks": common,
        "models": {
            model.name: {
                "n_samples": model.weighted_accuracy()[1],
                "weighted_accuracy": model.weighted_accuracy()[0],
                "weighted_accuracy_on_common": model.weighted_accuracy(common)[0],
                "benchmarks": {
                    name: {"n_samples": f.n_samples, "accuracy": f.accuracy}
                    for name, f in sorted(model.by_benchmark.items())
                },
            }
            for model in models
        },
    }


def as_csv(models: Sequence[ModelFigures]) -> str:
    """Return the table as comma-separated values; a benchmark that a model lacks is empty."""
    names = all_benchmarks(models)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["model", "n_samples", "weighted_accuracy", *names])
    for model in models:
        accuracy, count = model.weighted_accuracy()
        figures = [model.by_benchmark.get(name) for name in names]
        cells = [_format(figure.accuracy if figure else None) for figure in figures]
        table.writerow([model.name, count, _format(accuracy), *cells])
    return out.getvalue()


def _format(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def as_text(models: Sequence[ModelFigures]) -> str:
    """Return a block of lines for each model, which fits into 80 columns."""
    common = common_benchmarks(models)
    lines = []
    for model in models:
        accuracy, count = model.weighted_accuracy()
        lines.append(model.name or ".")
        for name, figure in sorted(model.by_benchmark.items()):
            lines.append(f"  {name:<46} {figure.accuracy:8.4f} {figure.n_samples:9d}")
        lines.append(f"  {'weighted by samples':<46} {_format(accuracy):>8} {count:9d}")
    if len(models) > 1 and common != all_benchmarks(models):
        lines.append(
            f"The models have different benchmarks. Over the {len(common)} that all of them have:"
        )
        for model in models:
            accuracy, count = model.weighted_accuracy(common)
            lines.append(f"  {model.name:<46} {_format(accuracy):>8} {count:9d}")
    return "\n".join(lines)


def plot(models: Sequence[ModelFigures], path: Path) -> None:
    """Write a picture: bars for a single model, else a line for each benchmark over the models.

    Raises ImportError without Matplotlib.
    """
    from matplotlib.figure import Figure

    names = all_benchmarks(models)
    figure = Figure(figsize=(max(7.0, 0.5 * max(len(models), len(names))), 6.0), dpi=120)
    axes: Any = figure.subplots()
    if len(models) == 1:
        _bars(axes, models[0], names)
    else:
        _lines(axes, models, names)
    axes.set_ylim(0, 1)
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def _bars(axes: Any, model: ModelFigures, names: Sequence[str]) -> None:
    axes.bar(range(len(names)), [model.by_benchmark[n].accuracy for n in names], color="#4477aa")
    average, count = model.weighted_accuracy()
    axes.axhline(average, color="black", label=f"weighted, {count} samples")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_title(model.name)
    axes.legend()


def _lines(axes: Any, models: Sequence[ModelFigures], names: Sequence[str]) -> None:
    positions = range(len(models))
    for name in names:
        figures = [m.by_benchmark.get(name) for m in models]
        values = [math.nan if f is None else f.accuracy for f in figures]
        axes.plot(positions, values, marker=".", linewidth=1, alpha=0.6, label=name)
    common = common_benchmarks(models)
    if common:
        over = [m.weighted_accuracy(common)[0] for m in models]
        axes.plot(positions, over, marker="o", linewidth=3, color="black", label="weighted")
    axes.set_xticks(positions, [m.name for m in models], rotation=60, ha="right")
    axes.legend(fontsize="small", ncols=2)
