"""Every included configuration from the request to the output files."""

import json
from pathlib import Path

import pytest

from gradebox.eval.cli.commands.run_benchmarks import main
from gradebox.eval.models.benchmarks.registry import read_configs
from tests.eval.models.benchmarks.answering import CONFIG_FILES, AnswerChoice, model, right
from tests.eval.models.fake_server import FakeServer


def run(config: Path, choose: AnswerChoice, tmp_path: Path) -> dict[str, float]:
    """Return the accuracy by benchmark of a model that gives the answers of `choose`."""
    with FakeServer(model(config, choose)) as server:
        arguments = ["--config", str(config), "--model", server.url, "--sandbox", "local"]
        assert main([*arguments, "--output-dir", str(tmp_path), "--concurrency", "4"]) == 0
    found = {}
    for path in sorted((tmp_path / "org" / "fake-7b").glob("*/samples/metrics.json")):
        metrics = json.loads(path.read_text())
        assert set(metrics) == {"n_samples", "accuracy"}
        found[path.parts[-3]] = metrics["accuracy"]
    return found


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIG_FILES, ids=lambda p: p.stem)
def test_right_answers_have_accuracy_1(config, tmp_path):
    found = run(config, right, tmp_path)
    assert found == dict.fromkeys(read_configs([config]), 1.0)
