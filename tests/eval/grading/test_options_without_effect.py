"""Which flags are reported to have no effect."""

import pytest

from gradebox.eval.grading.options import Options
from testing.rows import rows


@pytest.mark.parametrize(
    ("given", "messages"),
    rows(__file__, "flags"),
)
def test_flags_without_effect_are_reported(tmp_path, given, messages):
    file = tmp_path / "problems.jsonl"
    file.write_text("{}")
    options = Options(solutions_path="s.jsonl", dataset=str(file), **given)
    assert options.unused(boxed=True) == messages


def test_flags_with_an_effect_are_not_reported():
    options = Options(
        solutions_path="s.jsonl",
        dataset_split="train",
        dataset_subsets=("a",),
        endpoint_concurrency=3,
        piston_package="codeforces",
    )
    assert options.unused(boxed=False) == []
