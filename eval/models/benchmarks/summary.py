"""Summarise every metrics.json under a folder as a table of models and benchmarks.

<dirname>/<model dirs>/<benchmark>/samples/metrics.json  {"n_samples", "accuracy"}
<summarize_dir>/summary.json · summary.csv · summary.png
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from gradebox.eval.common.errors import InputError

_DIGITS = re.compile(r"(\d+)")


class Accuracy(msgspec.Struct):
    """The accuracy of one model on one benchmark: a metrics.json."""

    n_samples: Annotated[int, msgspec.Meta(ge=1)]
    accuracy: Annotated[float, msgspec.Meta(ge=0, le=1)]


Figures = dict[str, Accuracy]  # of one model, by benchmark
Models = dict[str, Figures]


def number_sort_key(name: str) -> list[tuple[int, int | str]]:
    """Return a sort key that puts step-2 before step-10."""
    return [(0, int(p)) if p.isdecimal() else (1, p) for p in _DIGITS.split(name) if p]


def weighted(figures: Figures, names: Iterable[str]) -> float | None:
    """Return the accuracy over all samples of some benchmarks, None without any."""
    chosen = [figures[name] for name in names]
    total = sum(f.n_samples for f in chosen)
    return sum(f.accuracy * f.n_samples for f in chosen) / total if total else None


def read_figures(folder: Path) -> Models:
    """Return the models under a folder, sorted by the numbers in their names.

    Raises InputError for a folder without metrics, or metrics that are not valid.
    """
    if not folder.is_dir():
        raise InputError(f"--dirname {folder}: no such folder; give the --output-dir of the runs")
    models: Models = {}
    for path in folder.rglob("metrics.json"):
        benchmark = path.parent.parent if path.parent.name == "samples" else path.parent
        name = benchmark.parent.relative_to(folder).as_posix() if benchmark != folder else ""
        try:
            figure = msgspec.json.decode(path.read_bytes(), type=Accuracy)
        except (OSError, msgspec.DecodeError, RecursionError) as error:
            raise InputError(f"{path}: {error}; remove it or run its benchmark again") from None
        models.setdefault(name, {})[benchmark.name] = figure
    if not models:
        raise InputError(f"--dirname {folder}: no metrics.json under it; run benchmarks first")
    return {
        name: dict(sorted(models[name].items())) for name in sorted(models, key=number_sort_key)
    }


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
                "n_samples": sum(f.n_samples for f in figures.values()),
                "weighted_accuracy": weighted(figures, figures),
                "weighted_accuracy_on_common": weighted(figures, common),
                "benchmarks": msgspec.to_builtins(figures),
            }
            for model, figures in models.items()
        },
    }


def write_csv(models: Models, path: Path) -> None:
    """Write the table as comma-separated values; a benchmark that a model lacks is empty."""
    names = all_benchmarks(models)
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["model", "n_samples", "weighted_accuracy", *names])
        for model, facts in as_json(models)["models"].items():
            cells = [f"{f.accuracy:.4f}" if (f := models[model].get(n)) else "" for n in names]
            table.writerow([model, facts["n_samples"], f"{facts['weighted_accuracy']:.4f}", *cells])


def as_text(models: Models) -> str:
    """Return a block of lines for each model, which fits into 80 columns."""
    common, lines = common_benchmarks(models), []

    def line(name: str, accuracy: float | None, figures: Iterable[Accuracy]) -> str:
        shown = "" if accuracy is None else f"{accuracy:.4f}"
        return f"  {name:<46} {shown:>8} {sum(f.n_samples for f in figures):9d}"

    for model, figures in models.items():
        lines.append(model or ".")
        lines += [line(name, figure.accuracy, [figure]) for name, figure in figures.items()]
        lines.append(line("weighted by samples", weighted(figures, figures), figures.values()))
    if len(models) > 1 and common != all_benchmarks(models):
        lines.append(
            f"The models have different benchmarks. Over the {len(common)} that all of them have:"
        )
        for model, figures in models.items():
            shared = [figures[name] for name in common]
            lines.append(line(model, weighted(figures, common), shared))
    return "\n".join(lines)


def plot(models: Models, path: Path) -> None:
    """Write a picture: a line for each benchmark over the models, bars for a single model.

    Raises ImportError without Matplotlib.
    """
    from matplotlib.figure import Figure

    names, positions = all_benchmarks(models), range(len(models))
    figure = Figure(figsize=(max(7.0, 0.5 * max(len(models), len(names))), 6.0), dpi=120)
    axes: Any = figure.subplots()
    for name in names if len(models) > 1 else ():
        values = [f[name].accuracy if name in f else math.nan for f in models.values()]
        axes.plot(positions, values, marker=".", linewidth=1, alpha=0.6, label=name)
    common = common_benchmarks(models)
    over = [weighted(figures, common) for figures in models.values()]
    if len(models) == 1:
        ((title, figures),) = models.items()
        axes.bar(names, [figures[name].accuracy for name in names], color="#4477aa")
        axes.set_title(f"{title}: weighted {over[0]:.4f}")
        axes.tick_params("x", rotation=60)
    else:
        if common:
            axes.plot(positions, over, marker="o", linewidth=3, color="black", label="weighted")
        axes.set_xticks(positions, list(models), rotation=60, ha="right")
        axes.legend(fontsize="small", ncols=2)
    axes.set_ylim(0, 1)
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)
