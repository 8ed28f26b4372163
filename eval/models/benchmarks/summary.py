"""Summarise every metrics.json under a folder as a table of models and benchmarks.

<dirname>/<model dirs>/<benchmark>/samples/metrics.json  {"n_samples", "accuracy"}
<summarize_dir>/summary.json · summary.csv · summary.png
"""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.benchmarks.run import number_sort_key


class Figure(NamedTuple):
    """The accuracy of one model on one benchmark."""

    n_samples: int
    accuracy: float


Figures = dict[str, Figure]  # of one model, by benchmark
Models = dict[str, Figures]


def weighted(figures: Figures, names: Iterable[str] | None = None) -> tuple[float | None, int]:
    """Return the accuracy over all samples (None without any) and their number.

    names  the benchmarks that count; None: all
    """
    chosen = [figures[name] for name in (figures if names is None else names)]
    total = sum(f.n_samples for f in chosen)
    right = sum(f.accuracy * f.n_samples for f in chosen)
    return (right / total if total else None), total


def read_figures(folder: Path) -> Models:
    """Return the models under a folder, sorted by the numbers in their names.

    Raises InputError for a folder without metrics, or metrics that are not valid.
    """
    if not folder.is_dir():
        raise InputError(f"--dirname {folder}: no such folder; give the --output-dir of the runs")
    models: Models = {}
    for path in sorted(folder.rglob("metrics.json")):
        benchmark_dir = path.parent.parent if path.parent.name == "samples" else path.parent
        name = (
            benchmark_dir.parent.relative_to(folder).as_posix() if benchmark_dir != folder else ""
        )
        models.setdefault(name, {})[benchmark_dir.name] = _read_figure(path)
    if not models:
        raise InputError(f"--dirname {folder}: no metrics.json under it; run benchmarks first")
    return {name: models[name] for name in sorted(models, key=number_sort_key)}


def _read_figure(path: Path) -> Figure:
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
    return Figure(count, float(accuracy))


def all_benchmarks(models: Models) -> list[str]:
    """Return the benchmarks that at least one model has, sorted."""
    return sorted({name for figures in models.values() for name in figures})


def common_benchmarks(models: Models) -> list[str]:
    """Return the benchmarks that all models have; only over these can models be compared."""
    return [b for b in all_benchmarks(models) if all(b in f for f in models.values())]


def as_json(models: Models) -> dict[str, Any]:
    """Return the contents of summary.json."""
    common = common_benchmarks(models)
    return {
        "common_benchmarks": common,
        "models": {
            model: {
                "n_samples": weighted(figures)[1],
                "weighted_accuracy": weighted(figures)[0],
                "weighted_accuracy_on_common": weighted(figures, common)[0],
                "benchmarks": {name: f._asdict() for name, f in sorted(figures.items())},
            }
            for model, figures in models.items()
        },
    }


def as_csv(models: Models) -> str:
    """Return the table as comma-separated values; a benchmark that a model lacks is empty."""
    names = all_benchmarks(models)
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["model", "n_samples", "weighted_accuracy", *names])
    for model, figures in models.items():
        accuracy, count = weighted(figures)
        cells = [_format(figures[name].accuracy if name in figures else None) for name in names]
        table.writerow([model, count, _format(accuracy), *cells])
    return out.getvalue()


def _format(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def as_text(models: Models) -> str:
    """Return a block of lines for each model, which fits into 80 columns."""
    common = common_benchmarks(models)
    lines = []
    for model, figures in models.items():
        accuracy, count = weighted(figures)
        lines.append(model or ".")
        for name, figure in sorted(figures.items()):
            lines.append(f"  {name:<46} {figure.accuracy:8.4f} {figure.n_samples:9d}")
        lines.append(f"  {'weighted by samples':<46} {_format(accuracy):>8} {count:9d}")
    if len(models) > 1 and common != all_benchmarks(models):
        lines.append(
            f"The models have different benchmarks. Over the {len(common)} that all of them have:"
        )
        for model, figures in models.items():
            accuracy, count = weighted(figures, common)
            lines.append(f"  {model:<46} {_format(accuracy):>8} {count:9d}")
    return "\n".join(lines)


def plot(models: Models, path: Path) -> None:
    """Write a picture: bars for a single model, else a line for each benchmark over the models.

    Raises ImportError without Matplotlib.
    """
    from matplotlib.figure import Figure

    names = all_benchmarks(models)
    figure = Figure(figsize=(max(7.0, 0.5 * max(len(models), len(names))), 6.0), dpi=120)
    axes: Any = figure.subplots()
    if len(models) == 1:
        _bars(axes, *next(iter(models.items())))
    else:
        _lines(axes, models, names)
    axes.set_ylim(0, 1)
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def _bars(axes: Any, model: str, figures: Figures) -> None:
    names = sorted(figures)
    axes.bar(range(len(names)), [figures[name].accuracy for name in names], color="#4477aa")
    average, count = weighted(figures)
    axes.axhline(average, color="black", label=f"weighted, {count} samples")
    axes.set_xticks(range(len(names)), names, rotation=60, ha="right")
    axes.set_title(model)
    axes.legend()


def _lines(axes: Any, models: Models, names: Sequence[str]) -> None:
    positions = range(len(models))
    for name in names:
        values = [f[name].accuracy if name in f else math.nan for f in models.values()]
        axes.plot(positions, values, marker=".", linewidth=1, alpha=0.6, label=name)
    common = common_benchmarks(models)
    if common:
        over = [weighted(figures, common)[0] for figures in models.values()]
        axes.plot(positions, over, marker="o", linewidth=3, color="black", label="weighted")
    axes.set_xticks(positions, list(models), rotation=60, ha="right")
    axes.legend(fontsize="small", ncols=2)
