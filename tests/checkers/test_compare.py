"""Comparing without a checker: a table of two outputs and whether they are equal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers import tokens
from gradebox.checkers.compare import JSON_BYTES, MODES, equal, first_difference
from testing.rows import rows

# output, expected, equal by open-r1, upstream, exact; bytes are written as Latin-1
ROWS: list[tuple[bytes, bytes, bool, bool, bool]] = [
    *((a.encode("latin-1"), b.encode("latin-1"), *same) for a, b, *same in rows(__file__, "rows")),
    (b"[" * 50 + b"1" + b"]" * 50, b"[" * 50 + b" 1" + b"]" * 50, False, True, False),
    (b"1" * 5000 + b" ", b"1" * 5000, True, True, False),
    (b"[" + b"1" * 5000 + b"]", b"[ " + b"1" * 5000 + b"]", False, True, False),
    (b"[" + b"1" * 5000 + b"]", b"[ " + b"1" * 4999 + b"2]", False, False, False),
    (b'["' + b"1" * 500 + b'"]', b"[" + b"1" * 500 + b"]", False, False, False),
]


@pytest.mark.parametrize(("output", "expected", "tokens_", "lines", "exact"), ROWS)
def test_equality_by_mode(output, expected, tokens_, lines, exact):
    assert [equal(output, expected, mode) for mode in MODES] == [tokens_, lines, exact]


@pytest.mark.parametrize("mode", MODES)
def test_a_difference_is_described_when_there_is_one(mode):
    for output, expected, *_ in ROWS:
        text = first_difference(output, expected, mode)
        assert (text == "") == equal(output, expected, mode), (output, expected)
        assert text.isprintable() and len(text) < 300


@pytest.mark.parametrize(
    ("output", "expected", "mode", "words"),
    [
        (b"1 2 3", b"1 2 4", "open-r1", "token 3: expected '4', found '3'"),
        (b"1", b"1 2", "open-r1", "token 2: expected '2', found the end"),
        (b"1 2", b"1", "open-r1", "token 2: expected the end, found '2'"),
        (b"a\n\nb", b"a\nc", "upstream", "non-empty line 2: expected 'c', found 'b'"),
        (b"a", b"a\nc", "upstream", "non-empty line 2: expected 'c', found the end"),
        (b"abc", b"abd", "exact", "byte 3: expected 'd', found 'c'"),
        (b"abc", b"abcd", "exact", "3 bytes, expected 4; the first 3 are equal"),
        (b"\x1b[2J", b"1", "open-r1", "token 1: expected '1', found '\\x1b[2J'"),
        (b"x" * 999, b"1", "open-r1", "token 1: expected '1', found 'xxxxxxxxxxxxxxxxxxxxxxxxxx…"),
    ],
)
def test_the_description_of_a_difference(output, expected, mode, words):
    assert first_difference(output, expected, mode).startswith(words)


def test_json_beyond_the_bounds_is_compared_as_lines():
    deep = b"[" * 200 + b"]" * 200
    assert not equal(deep, b" " + deep, "upstream")
    hidden = b'["' + b"]" * 200 + b'", ' + b"[" * 150 + b"]" * 150 + b"]"
    assert not equal(hidden, b" " + hidden, "upstream")
    long = b"[" + b" " * JSON_BYTES + b"1]"
    assert not equal(long, b"[1]", "upstream")
    quotes = b'"' + b'\\"' * 400_000
    assert not equal(quotes, b" " + quotes, "upstream")
    bomb = b"[" * 100_000
    assert not equal(bomb, b" " + bomb, "upstream")


def test_an_unknown_mode_is_reported():
    with pytest.raises(ValueError, match="unknown comparison 'fuzzy': choose one of open-r1"):
        equal(b"", b"", "fuzzy")  # type: ignore[arg-type]


PIECES = st.sampled_from([b"yes", b"YES", b"no", b"1", b"a", b" ", b"\n", b"\r\n", b"\t", b"\v"])
TEXTS = st.lists(PIECES, max_size=10).map(b"".join)


@given(TEXTS, TEXTS, st.integers(1, 5))
def test_open_r1_equals_a_simple_implementation(output, expected, size):
    def simple(data: bytes) -> list[bytes]:
        return [w.upper() if w.upper() in (b"YES", b"NO") else w for w in data.split()]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "WINDOW_BYTES", size)
        assert equal(output, expected, "open-r1") == (simple(output) == simple(expected))


@given(TEXTS, TEXTS, st.integers(1, 5))
def test_upstream_equals_a_simple_implementation(output, expected, size):
    def simple(data: bytes) -> list[bytes]:
        lines = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        return [kept for line in lines if (kept := line.rstrip())]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "WINDOW_BYTES", size)
        same = equal(output, expected, "upstream")
    assert same == (simple(output) == simple(expected)) or output.strip() == expected.strip() != b""
