"""The comparisons of other data sets' graders, and where they pass what ours does not."""

from __future__ import annotations

import json

import pytest

from gradebox.checkers.compare import equal
from gradebox.checkers.values.codec import Side, pack
from gradebox.checkers.values.judging import JUDGES


@pytest.mark.parametrize(
    ("judge", "output", "expected", "accepted"),
    [
        ("apps-reference", " 1 \n2\n", "1\n2", True),
        ("apps-reference", "1\n\n2", "1\n2", True),
        ("apps-reference", "0.1000001\n", "0.1", True),
        ("apps-reference", "0.101", "0.1", False),
        ("apps-reference", "2 1 1\n", "1 2", True),  # order and repetition are lost
        ("apps-reference", "b\na\na", "a\nb", True),
        ("apps-reference", "1.0001 2", "1 2", True),  # rounded to three places
        ("apps-reference", "1 3", "1 2", False),
        ("apps-reference", "nan", "1", False),
        ("apps-reference", "nan", "inf", False),
        ("apps-reference", "", "1", False),
        ("apps-reference", "YES", "yes", False),
        ("tokens-reference", "Yes  1\n", "YES 1.000001", True),
        ("tokens-reference", str(10**17), str(10**17 + 1), True),  # whole numbers as doubles
        ("tokens-reference", "1.0001", "1", False),
        ("tokens-reference", "1_0", "10", False),
        ("tokens-reference", "1 2", "1", False),
        ("tokens-reference", "nan", "1", False),
        ("tokens-reference", "1e400", "-1e400", False),
        ("fusion-reference", "Yes \n 1.000001\n\n", "YES\n1\n", True),
        ("fusion-reference", "ÄÖ", "äö", True),
        ("fusion-reference", "1.0001", "1", False),
        ("fusion-reference", "1 2", "1  2", False),
        ("fusion-reference", "1.0 2", "1 2", False),
        ("fusion-reference", "1e999", "inf", False),
        ("fusion-reference", "nan", "1", False),
        ("fusion-reference", "1\n\n2", "1\n2", False),
        ("plain-reference", " 1 \n2\n", "1\n2", True),
        ("plain-reference", "1.0", "1", False),
        ("plain-reference", "1\n2", "1", False),
        ("lines-reference", "1.0", "1", True),
        ("numbers-reference", "0.1000001\n\n", "0.1", True),
        ("numbers-reference", "2 1 1\n", "1 2", False),
        ("stripped-reference", "\n1 2\n", "1 2", True),
        ("stripped-reference", "1 \n2", "1\n2", False),
        ("exec-eval-reference", "yes 1.0\n", "YES\n1", True),
        ("exec-eval-reference", "a", "A", False),
        ("exec-eval-reference", "1.00000000001", "1", False),
        ("exec-eval-reference", str(10**17), str(10**17 + 1), False),
        ("exec-eval-reference", "nan", "1", False),
    ],
)
def test_outputs(judge, output, expected, accepted):
    assert JUDGES[judge](output.encode(), expected.encode()).accepted is accepted


@pytest.mark.parametrize(
    ("output", "expected"), [("2 1 1\n", "1 2"), ("b\na\na", "a\nb"), (str(10**17), "1" * 18)]
)
def test_ours_refuses_what_they_pass(output, expected):
    assert not equal(output.encode(), expected.encode())


@pytest.mark.parametrize(
    ("judge", "result", "expected", "accepted"),
    [
        ("wrapped", 3, [3], True),
        ("wrapped", [3], [3], True),
        ("wrapped", None, [None], True),
        ("wrapped", 3, [3, 4], False),
        ("wrapped-reference", 3, [3, 4], True),  # the first element is enough
        ("wrapped", True, [1], False),
        ("wrapped-reference", True, [1], True),
        ("wrapped", {1: 2}, {"1": 2}, True),
        ("wrapped", {1: 2}, [{"1": 2}], True),
        ("wrapped", {1: 3}, {"1": 2}, False),
        ("wrapped-reference", [(1, 2)], [[[1, 2]]], True),
        ("wrapped-reference", "a", "abc", False),
        ("printed-reference", "3", 3, True),
        ("printed-reference", [1, 2], [1, 2], True),
        ("printed-reference", 3, [3], True),
        ("printed-reference", 4, [3], False),
        pytest.param("printed-reference", 10**5000, 1, False, id="a long number"),
    ],
)
def test_results(judge, result, expected, accepted):
    output = json.dumps(pack([result], Side(), shared=False)).encode()
    assert JUDGES[judge](output, json.dumps(expected).encode()).accepted is accepted
