"""Which flags are told to change nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval.idle_flags import idle_flags
from eval.options import Options

NO_GENERATED = (
    "changes nothing: no generated test is taken; "
    "--generated-tests-dir DIR with --max-generated-tests -1 takes all"
)
IN_BOX = "changes nothing: programs run in the embedded box, not on Piston"
A_FILE = "changes nothing: a file has neither splits nor subsets"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, []),
        ({"generated_tests_sample": 0.5}, [f"--generated-tests-sample 0.5 {NO_GENERATED}"]),
        (
            {"sort_generated_tests": "small_first"},
            [f"--sort-generated-tests small_first {NO_GENERATED}"],
        ),
        (
            {
                "generated_tests_sample": 0.5,
                "generated_tests_dir": "g",
                "max_generated_tests": -1,
            },
            [],
        ),
        (
            {"endpoint_concurrency": 3, "piston_package": "codeforces"},
            [f"--endpoint-concurrency 3 {IN_BOX}", f"--piston-package codeforces {IN_BOX}"],
        ),
        ({"dataset_split": "train"}, [f"--dataset-split train {A_FILE}"]),
        ({"dataset_subsets": ["a", "b"]}, [f"--dataset-subsets a,b {A_FILE}"]),
        ({"dataset_subsets": ["verifiable", "default"]}, []),
    ],
)
def test_flags_without_effect_are_told(tmp_path: Path, given: dict, told: list[str]) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_text("{}")
    options = Options(solutions_path="s.jsonl", dataset=str(file), **given)
    assert idle_flags(options, boxed=True) == told


def test_what_has_an_effect_is_not_told() -> None:
    options = Options(
        solutions_path="s.jsonl",
        dataset_split="train",
        dataset_subsets=("a",),
        endpoint_concurrency=3,
        piston_package="codeforces",
    )
    assert idle_flags(options, boxed=False) == []
