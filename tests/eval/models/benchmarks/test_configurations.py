"""Every included configuration from the request to the output files."""

import json
from pathlib import Path

import pytest

from gradebox.eval.cli.commands.run_benchmarks import main
from gradebox.eval.models.benchmarks import registry
from gradebox.eval.models.benchmarks.registry import read_configs
from tests.eval.models.benchmarks.answering import CONFIG_FILES, AnswerChoice, model, right, wrong
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
def test_right_answers_have_accuracy_1(config: Path, tmp_path: Path) -> None:
    found = run(config, right, tmp_path)
    assert found == dict.fromkeys(read_configs([config]), 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIG_FILES, ids=lambda p: p.stem)
def test_wrong_answers_have_accuracy_0(config: Path, tmp_path: Path) -> None:
    found = run(config, wrong, tmp_path)
    assert found == dict.fromkeys(read_configs([config]), 0.0)


@pytest.mark.parametrize(
    ("name", "start", "count"),
    [
        ("GPQAPrompt", "Problem:", 5),
        ("MMLUSTEMPrompt", "Problem:", 4),
        ("MEDMCQAPrompt3Shot", "Problem:", 3),
        ("CoTCMATHPrompt", "问题：", 6),
        ("CoTCMATHPrompt4Shot", "问题：", 4),
        ("SFTMMLUPrompt", "Question:", 0),
    ],
)
def test_the_number_of_examples_of_a_prompt(name: str, start: str, count: int) -> None:
    assert registry.find("few_shot_prompt", name).shots.count(start) == count


def test_every_function_and_prompt_is_used_by_a_configuration() -> None:
    used: dict[str, set[str]] = {kind: set() for kind in registry.TABLES}
    for config in CONFIG_FILES:
        for entry in json.loads(config.read_text()).values():
            for kind in used:
                used[kind].add(entry[kind])
    # Other names of functions that are used, and prompts with another number of examples.
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
