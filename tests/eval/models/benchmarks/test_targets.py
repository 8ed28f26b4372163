"""The names of models, as folders and in the order of checkpoints."""

import pytest

from gradebox.eval.models.benchmarks.run import safe_dirs
from gradebox.eval.models.benchmarks.summary import number_sort_key


@pytest.mark.parametrize(
    ("parts", "dirs"),
    [
        (["Qwen", "Qwen2.5-7B"], ("Qwen", "Qwen2.5-7B")),
        (["..", "..", "etc"], ("_", "_", "etc")),
        (["", "a b/c\0"], ("a_b_c_",)),
        ([""], ("model",)),
    ],
)
def test_folders_of_model_names_are_safe(parts, dirs):
    assert safe_dirs(parts) == dirs


def test_checkpoints_are_sorted_by_number():
    names = ["step-10", "step-2", "final", "step-100"]
    assert sorted(names, key=number_sort_key) == ["final", "step-2", "step-10", "step-100"]
