"""The summary over models."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.commands.summarize_results import main
from testing.rows import rows


def put(folder: Path, model: str, benchmark: str, metrics: Any) -> None:
    path = folder / model / benchmark / "samples" / "metrics.json"
    path.parent.mkdir(parents=True)
    path.write_text(metrics if isinstance(metrics, str) else json.dumps(metrics))


@pytest.mark.slow
def test_the_mean_is_weighted_by_samples(tmp_path, capsys):
    out, to = tmp_path / "outputs", tmp_path / "summary"
    for step, gain in (("step-2", 0.0), ("step-10", 0.2)):
        put(out, f"org/{step}", "gsm", {"n_samples": 100, "accuracy": 0.5 + gain})
        put(out, f"org/{step}", "amc", {"n_samples": 10, "accuracy": 0.1})
    put(out, "org/step-10", "math", {"n_samples": 40, "accuracy": 1.0})
    assert main(["--dirname", str(out), "--summarize_dir", str(to)]) == 0
    whole = json.loads((to / "summary.json").read_text())
    assert whole["common_benchmarks"] == ["amc", "gsm"]
    assert list(whole["models"]) == ["org/step-2", "org/step-10"]
    first, last = whole["models"].values()
    assert first["weighted_accuracy"] == pytest.approx(51 / 110)
    assert last["weighted_accuracy"] == pytest.approx(111 / 150)
    assert last["weighted_accuracy_on_common"] == pytest.approx(71 / 110)
    rows = list(csv.reader((to / "summary.csv").open()))
    assert rows[0] == ["model", "n_samples", "weighted_accuracy", "amc", "gsm", "math"]
    assert rows[1] == ["org/step-2", "110", "0.4636", "0.1000", "0.5000", ""]
    assert (to / "summary.png").read_bytes().startswith(b"\x89PNG")
    shown = capsys.readouterr().out
    assert "Over the 2 that all of them have" in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


@pytest.mark.parametrize(
    ("metrics", "words"),
    rows(__file__, "bad_metrics"),
)
def test_bad_metrics(metrics, words, tmp_path, capsys):
    put(tmp_path, "m", "gsm", metrics)
    assert main(["--dirname", str(tmp_path), "--summarize_dir", str(tmp_path / "s")]) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_no_metrics_is_an_input_error(tmp_path, capsys):
    assert main(["--dirname", str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err
    assert main(["--dirname", str(tmp_path)]) == 2
    assert "no metrics.json under it" in capsys.readouterr().err
