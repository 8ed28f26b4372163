"""The comparisons of other data sets' graders, and where they pass what ours does not."""

import json

import pytest

from gradebox.checkers.compare import equal
from gradebox.checkers.values.codec import Side, pack
from gradebox.checkers.values.judging import JUDGES
from testing.rows import rows


@pytest.mark.parametrize(
    ("judge", "output", "expected", "accepted"),
    rows(__file__, "outputs"),
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
