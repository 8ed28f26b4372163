"""Long outputs are judged by workers as short ones are here."""

import pytest

from gradebox.checkers import builtin, compare, long_outputs
from gradebox.checkers.builtins import TABLE
from gradebox.checkers.long_outputs import (
    SHORT_BYTES,
    first_difference,
    output_judge,
)
from gradebox.checkers.workers.pool import TIME_LIMIT, Outcome, shared_pool
from testing.calls import calls_of
from testing.hostile_texts import SHAPES, text_of

# Functions that are called for 256 KB, those in C included: a window has up to 32,768 tokens.
MOST_CALLS = 40_000
PAIRS = [
    (b"1 2\n" * 20_000, b"1 2 \n" * 20_000),
    (b"1 2\n" * 20_000, b"1 2\n" * 19_999 + b"1 3\n"),
    (b"1 2\n" * 20_000, b"1 2\n" * 19_999),
    (b"YES\n" * 20_000, b"no\n" * 20_000),
    (b"x\r\n" * 20_000, b"x\r" * 20_000),
    (b"[1, 2.0" + b" " * SHORT_BYTES + b"]", b"[1.0,2]" + b"\n" * SHORT_BYTES),
]


@pytest.mark.parametrize("name", [*TABLE, "kattis float_tolerance 1e-6"])
def test_a_worker_gives_the_check_of_the_built_in(name):
    for output, expected in PAIRS:
        assert output_judge(name).check(b"", output, expected) == builtin(name).check(
            b"", output, expected
        )


@pytest.mark.parametrize("mode", compare.MODES)
def test_a_worker_finds_the_same_difference(mode):
    for output, expected in PAIRS:
        assert first_difference(output, expected, mode) == compare.first_difference(
            output, expected, mode
        )


def test_the_digest_of_a_built_in_stays():
    name = "kattis float_tolerance 1e-6"
    assert output_judge(name).digest == builtin(name).digest


def test_an_output_that_takes_too_long_is_rejected(monkeypatch):
    pool = shared_pool(long_outputs.OutputPool)
    monkeypatch.setattr(pool, "ask", lambda *_: Outcome(False, TIME_LIMIT))
    found = output_judge("ncmp").check(b"", b"1 " * SHORT_BYTES, b"1")
    assert found.outcome == "rejected"
    assert "CPU time" in found.message


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("name", [*TABLE, *compare.MODES])
def test_a_long_output_takes_few_calls_here(name):
    too_many = {}
    for shape in list(SHAPES)[::3]:
        expected = text_of(shape, 1 << 18).encode()
        for output in (expected[:-1] + b"~", expected.replace(b"\n", b" \n")):
            if name in TABLE:
                calls = calls_of(output_judge(name).check, b"", output, expected)
            else:
                calls = calls_of(first_difference, output, expected, name)
            if calls > MOST_CALLS:
                too_many[shape] = calls
    assert too_many == {}
