"""Every configuration that we hand out, whole: asked, read, judged, written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.benchmarks import registry
from eval.benchmarks.config import read_configs
from eval.run_benchmarks import main
from tests.eval.benchmarks.answering import CONFIGS, Chosen, model, right, wrong
from tests.eval.sampling.fake_server import FakeServer


def run(config: Path, choose: Chosen, tmp_path: Path) -> dict[str, float]:
    """Accuracy by benchmark of a model that answers as `choose` says."""
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
@pytest.mark.parametrize("config", CONFIGS, ids=lambda p: p.stem)
def test_a_model_that_knows_everything_gets_everything(config: Path, tmp_path: Path) -> None:
    found = run(config, right, tmp_path)
    assert found == dict.fromkeys(read_configs([config]), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGS, ids=lambda p: p.stem)
def test_a_model_that_knows_nothing_gets_nothing(config: Path, tmp_path: Path) -> None:
    found = run(config, wrong, tmp_path)
    assert found == dict.fromkeys(read_configs([config]), 0.0)


def test_every_function_and_prompt_is_used_by_a_configuration() -> None:
    registry.load()
    used: dict[str, set[str]] = {kind: set() for kind in registry.TABLES}
    for config in CONFIGS:
        for entry in json.loads(config.read_text()).values():
            for kind in used:
                used[kind].add(entry[kind])
    # Second names of a function that another name brings in, and prompts with another count.
    assert {k: set(registry.TABLES[k]) - v for k, v in used.items()} == {
        "process_fn": {"process_agieval_gaokao_mathqa"},
        "answer_extraction_fn": {"extract_math_answer", "extract_super_gpqa_few_shot_answer"},
        "eval_fn": set(),
        "few_shot_prompt": {
            "CoTCMATHPrompt4Shot",
            "CoTMGSMZHPrompt4Shot",
            "MEDMCQAPrompt3Shot",
            "MMLUHighSchoolBiology4Shot",
            "MMLUSTEMPrompt_Science",
            "SFTGSM0ShotPrompt",
            "SuperGPQAPromptLong",
        },
    }
