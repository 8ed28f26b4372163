"""DMOJ's checkers of numbers, which run in boxes as a program of their own."""

from __future__ import annotations

import pytest

from gradebox.eval.problems.packages.dmoj_checkers import floats


@pytest.mark.parametrize(
    ("output", "answer", "mode", "same"),
    [
        (b"0.0000001", b"0", "default", True),
        (b"1", b"0", "default", False),  # of no expected value is a share taken
        (b"1000000.5", b"1000000", "default", True),
        (b"1000000.5", b"1000000", "absolute", False),
        (b"0.0000001", b"0", "relative", False),
    ],
)
def test_numbers_near_another(output: bytes, answer: bytes, mode: str, same: bool) -> None:
    assert floats(output, answer, error_mode=mode) is same
