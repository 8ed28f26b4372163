"""The rules of the math harness for equal answers."""

import sys

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.equality import exact, find_judge, harness, last_boxed
from testing.rows import rows


@pytest.mark.parametrize(
    ("text", "inside"),
    rows(__file__, "last_boxed"),
)
def test_last_boxed(text, inside):
    assert last_boxed(text) == inside


def test_many_unclosed_boxes_take_linear_time():
    assert last_boxed("\\boxed{" * 100_000 + "5") is None


@pytest.mark.parametrize(
    ("reference", "response"),
    rows(__file__, "harness_equal"),
)
def test_harness_equal(reference, response):
    assert harness(reference, response)


@pytest.mark.parametrize(
    ("reference", "response"),
    rows(__file__, "harness_unequal"),
)
def test_harness_unequal(reference, response):
    assert not harness(reference, response)


def test_exact_ignores_only_surrounding_white_space():
    assert exact("5", " 5\n")
    assert not exact("5", r"\boxed{5}")
    assert not exact("", " ")


@pytest.mark.slow
def test_math_policies_are_rules():
    half = r"so \boxed{\frac{1}{2}}"
    assert not find_judge("harness")("0.5", half)
    for policy in ("strict", "dart", "lm-open-science"):
        assert find_judge(policy)("0.5", half), policy
        assert not find_judge(policy)("0.6", half), policy


def test_a_users_function_is_a_rule(tmp_path, monkeypatch):
    (tmp_path / "my_rules.py").write_text("def same_length(a, b):\n    return len(a) == len(b)\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    judge = find_judge("my_rules:same_length")
    assert judge("12", "34") and not judge("12", "3")


@pytest.mark.parametrize("text", ["def f(:", "1 / 0 if x else 0", "raise ValueError('no')"])
def test_an_error_in_the_users_module_is_one_line(text, tmp_path, monkeypatch):
    (tmp_path / "slips.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    with pytest.raises(InputError, match=r"--normalisation 'slips:f': \w+Error: "):
        find_judge("slips:f")


@pytest.mark.parametrize(
    "name", ["nothing", "no_such_module:f", "json:no_such", "json:__doc__", ":"]
)
def test_unknown_rules(name):
    with pytest.raises(InputError) as caught:
        find_judge(name)
    assert repr(name) in str(caught.value)
