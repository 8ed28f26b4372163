"""Literals of five languages are values; results are compared as the tests of a language do."""

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.checkers.values.judging import ValueJudge
from gradebox.checkers.values.literals import RESULTS, read_literal
from gradebox.sandbox.source_tokens import Style
from testing.rows import rows
from tests.sandbox.test_source_tokens import STYLES, UNITS, calls_of


@pytest.mark.parametrize(
    ("style", "text", "value"),
    rows(__file__, "literals"),
)  # fmt: skip
def test_a_literal_is_a_value(style, text, value):
    assert json.dumps(read_literal(text, style)) == json.dumps(value)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "1 + 1", "1, 2", "1 2", "(1, x)", "[1, f(2)]", "f(2)", "(1", "1)", "(1]", "-x"),
        *("- 1", "NaN", "inf", "0x10", "1_0", "1e", "1e99999f", "9e38f", '"a', "'a", "`a`", "[,]"),
        *("[1,,2]", "(x, 1)", "[x]", "1e999"),
        *("/* 1 */ 1", "a.b(1)", "[" * 200 + "]" * 200, "9" * 500, '"\\u{110000}"', "{1: 2, 3}"),
    ],
)  # fmt: skip
def test_what_is_no_literal_is_not_read(style, text):
    if style == "c++" and text.startswith("{1:"):
        text = "map[1, 2, 3]"
    if style in ("java", "go") and text.startswith("{1:"):
        text = "map[string]int{1: 2, 3}" if style == "go" else "Map.of(1, 2, 3)"
    with pytest.raises(ValueError):
        read_literal(text, style)


@given(st.text(st.sampled_from("()[]{}<>,:.-!\"'\\0123aefmnuxil \n")), st.sampled_from(STYLES))
def test_any_text_is_a_value_or_unreadable(text, style):
    try:
        value = read_literal(text, style)
    except ValueError:
        return
    json.dumps(value, allow_nan=False)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9).map(float)
    | st.text(st.sampled_from(string.printable + "é😀")),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)  # fmt: skip


@given(VALUES)
def test_json_is_read_as_javascript_writes_it(value):
    assert read_literal(json.dumps(value), "javascript") == value


@pytest.mark.parametrize(
    ("style", "results", "expected", "accepted"),
    rows(__file__, "results"),
)
def test_results_are_compared(style, results, expected, accepted):
    wanted = "".join(json.dumps(value) + "\n" for value in expected).encode()
    judge = ValueJudge(f"results-{style}")
    for printed in ("", f"x{RESULTS}[]\n", "y" * 20_000):
        check = judge.check(b"", f"{printed}{RESULTS}{results}".encode(), wanted)
        assert check.accepted is accepted, check
    assert not judge.check(b"", results.encode(), wanted).accepted


def test_without_expected_results_nothing_is_judged():
    for output in (b"", RESULTS.encode(), b"x"):
        assert ValueJudge("results-go").check(b"", output, b"").outcome == "unclear"


def _read(text: str, style: Style) -> None:
    try:
        read_literal(text, style)
    except ValueError:
        return


@pytest.mark.slow(2)
@pytest.mark.parametrize("style", STYLES)
def test_the_work_of_reading_is_linear(style):
    for unit in [*UNITS[::4], "1,", '"\\n",', "-1,", "a.", "x<", "[]", "map["]:
        for before in ("", "[", "[[1],"):
            short, long = (
                calls_of(lambda text: _read(text, style), before + unit * (size // len(unit)))
                for size in (1 << 7, 1 << 11)
            )
            assert long <= 17 * short + 400, repr(unit)
