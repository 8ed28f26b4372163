"""Laws for every text: window sizes don't matter, nothing raises, equal texts are accepted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers import builtin, tokens
from gradebox.checkers.builtins import TABLE

PIECES = [
    *(b" ", b"\n", b"\r\n", b"\r", b"\t", b"\v", b"\0", b"\xff", b"\xef\xbb\xbf"),
    *(b"0", b"-0", b"01", b"1", b"-5", b"+1", b"12345678901234567890", b"1.5", b"1e400", b"nan"),
    *(b"YES", b"no", b"Case", b"1:", b"2:", b"a", b"A", b"-", b".", b"e"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map(b"".join)
CHECKERS = st.sampled_from([*TABLE, "kattis space_change_sensitive", "kattis float_tolerance 1e-6"])


@given(CHECKERS, TEXTS, TEXTS, st.integers(1, 7))
def test_the_window_size_does_not_change_a_verdict(name, output, answer, size):
    with pytest.MonkeyPatch.context() as patch:
        large = builtin(name)(b"", output, answer)
        patch.setattr(tokens, "WINDOW_BYTES", size)
        small = builtin(name)(b"", output, answer)
    assert (small.outcome, small.verdict, small.score) == (
        large.outcome,
        large.verdict,
        large.score,
    )


@given(CHECKERS, st.binary(max_size=60), st.binary(max_size=60))
def test_any_bytes_get_a_verdict(name, output, answer):
    check = builtin(name)(b"", output, answer)
    assert check.message.isprintable()
    assert len(check.message) < 500
    assert (check.outcome == "unclear") == (check.score is None)


@given(CHECKERS, TEXTS)
def test_equal_texts_are_never_wrong(name, text):
    """They may be malformed, which is the answer's fault first. Only outputs may have a BOM.

    Tokens behind those that a checker reads are looked for in the output only, as by testlib.
    """
    if not text.startswith(b"\xef\xbb\xbf"):
        check = builtin(name)(b"", text, text)
        assert check.outcome != "rejected" or check.message == "extra tokens in the output"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wcmp", "ncmp", "uncmp", "lcmp", "rcmp6", "kattis"])
def test_many_tokens(name):
    answer = b"".join(b"%d\n" % i for i in range(200_000))
    assert builtin(name)(b"", answer.replace(b"\n", b"\r\n"), answer).accepted
    assert not builtin(name)(b"", answer[:-2] + b"8\n", answer).accepted
    assert not builtin(name)(b"", answer + b"1\n", answer).accepted
    assert not builtin(name)(b"", answer[: -len(b"199999\n")], answer).accepted


@pytest.mark.parametrize("name", ["rcmp6", "icmp", "hcmp", "kattis float_tolerance 1e-6"])
@pytest.mark.parametrize("end", [b"", b"x", b".", b"e-999999", b"e", b"." + b"5" * 1000 + b"x"])
def test_a_number_of_many_digits_takes_no_quadratic_time(name, end):
    """Careless patterns take time quadratic in the length of such text."""
    output = b"1" * 400_000 + end
    check = builtin(name)(b"", output, b"1")
    assert (check.outcome, len(check.message) < 300) == ("rejected", True)
