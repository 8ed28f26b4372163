"""Which flags are reported to have no effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from gradebox.eval.grading.options import Options
from gradebox.eval.grading.unused_options import unused_options

NO_GENERATED = (
    "has no effect: no generated test is chosen; "
    "--generated-tests-dir DIR with --max-generated-tests -1 chooses all"
)
IN_BOX = "has no effect: programs run in the embedded sandbox, not on Piston servers"
A_FILE = "has no effect: a dataset that is a file has neither splits nor subsets"


@pytest.mark.parametrize(
    ("given", "messages"),
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
def test_flags_without_effect_are_reported(
    tmp_path: Path, given: dict, messages: list[str]
) -> None:
    file = tmp_path / "problems.jsonl"
    file.write_text("{}")
    options = Options(solutions_path="s.jsonl", dataset=str(file), **given)
    assert unused_options(options, boxed=True) == messages


def test_flags_with_an_effect_are_not_reported() -> None:
    options = Options(
        solutions_path="s.jsonl",
        dataset_split="train",
        dataset_subsets=("a",),
        endpoint_concurrency=3,
        piston_package="codeforces",
    )
    assert unused_options(options, boxed=False) == []
