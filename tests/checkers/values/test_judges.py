"""The judges of values: strict, and as LiveCodeBench's grader."""

import json

import pytest

from gradebox.checkers import open_checker
from gradebox.checkers.values.codec import Side, pack
from gradebox.checkers.values.judging import JUDGES, ValueJudge
from testing.rows import rows

NAN = float("nan")
# (result, expected, strict, reference)
VALUES = [
    (2, 2, True, True),
    (2, "2", False, False),
    ("2", 2, False, False),
    (1, True, False, True),
    (True, True, True, True),
    (1, 1.0, True, True),
    (0.1 + 0.2, 0.3, True, False),
    (0.3001, 0.3, False, False),
    (2**80, 2**80, True, True),
    (2**80 + 1, float(2**80), True, False),
    (10**17, 10**17 + 1, False, False),
    (NAN, NAN, True, False),
    ((1, 2), [1, 2], True, True),
    ([(1, 2)], [[1, 2]], True, False),
    ([1, 2], [1, 2, 3], False, False),
    ({"a": [1]}, {"a": [1]}, True, True),
    ({"a": 1}, {"b": 1}, False, False),
    ({1, 2}, [1, 2], False, False),
    (None, None, True, True),
    (None, [], False, False),
    ("abc", "abc", True, True),
]


@pytest.mark.parametrize(("found", "wanted", "strict", "reference"), VALUES)
def test_values(found, wanted, strict, reference):
    output = json.dumps(pack([found], Side(), shared=False)).encode()
    expected = json.dumps(wanted).encode()
    for name, accepted in (("value", strict), ("value-reference", reference)):
        check = ValueJudge(name).check(b"", output, expected)
        assert check.accepted is accepted, (name, check)
        assert check.message


@pytest.mark.parametrize(
    "output",
    [
        *(b"", b"2", b"{", b"[]", b"\xff", b"[" * 100_000),
        *(b'{"cells":[],"nodes":[]}', b'{"cannot":"a value of type X"}'),
        b'{"cells":[["i","' + b"f" * 100_000 + b'"]],"nodes":[]}',
    ],
    ids=lambda data: repr(data[:40]),
)
def test_an_output_without_the_value_is_rejected(output):
    for name in ("value", "value-reference"):
        assert ValueJudge(name).check(b"", output, b"3").outcome == "rejected"


@pytest.mark.parametrize(
    ("output", "expected", "accepted"),
    rows(__file__, "lines"),
)
def test_lines(output, expected, accepted):
    found = ValueJudge("lines-reference").check(b"", output.encode(), expected.encode())
    assert found.accepted is accepted


def test_they_are_checkers_by_name():
    checker = open_checker(None, source=None, name="value", programs=False)  # type: ignore[arg-type]
    assert isinstance(checker, ValueJudge)
    assert checker.digest != ValueJudge("value-reference").digest


@pytest.mark.parametrize(
    ("found", "wanted", "strict", "reference"),
    [
        ([], [5], False, False),
        ([], [5, 6], False, False),
        ((), [[1, 2]], False, False),
        ([], [], True, True),
        ([], [[]], True, True),
        (5, [5], True, True),
        (5, [5, 6], False, True),
        (None, [None], True, True),
        (True, [1], False, True),
        ({1: 3}, {"1": 2}, False, False),
        ([(1, 2)], [[[1, 2]]], True, True),
        ("a", "abc", False, False),
        ([], {}, False, False),
        ({}, [{}], True, True),
        ({1: 2}, {"1": 2}, True, True),
        ({1: 2}, [{"1": 2}], True, True),
        ([{1: 2}], [{"1": 2}], True, True),
        ({"1": 2}, {"1": 2}, True, False),
        ({"a": 2}, {"a": 2}, True, True),
        ({"a": 2}, [{"a": 2}], True, True),
    ],
)
def test_what_a_wrapped_value_stands_for(found, wanted, strict, reference):
    output = json.dumps(pack([found], Side(), shared=False)).encode()
    for name, accepted in (("wrapped", strict), ("wrapped-reference", reference)):
        check = JUDGES[name](output, json.dumps(wanted).encode())
        assert check.accepted == accepted, (name, check.message)
