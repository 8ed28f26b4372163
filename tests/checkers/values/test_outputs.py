"""The comparisons of other data sets' graders, and where they pass what ours does not."""

import json

import pytest

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
    ("result", "expected", "accepted"),
    [
        ("3", 3, True),
        ([1, 2], [1, 2], True),
        (3, [3], True),
        (4, [3], False),
        pytest.param(10**5000, 1, False, id="a long number"),
    ],
)
def test_what_is_printed(result, expected, accepted):
    output = json.dumps(pack([result], Side(), shared=False)).encode()
    check = JUDGES["printed-reference"](output, json.dumps(expected).encode())
    assert check.accepted is accepted
