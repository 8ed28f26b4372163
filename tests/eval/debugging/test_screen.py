"""Untrusted text on a terminal: nothing but plain characters and our own colours comes out."""

from __future__ import annotations

import io
import os
import re
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.debugging.screen import (
    STYLES,
    Screen,
    Span,
    clean,
    cut,
    decoded,
    folded,
    open_screen,
    padded,
    paint,
    row,
    width_of,
    wrapped,
)

HOSTILE = [
    ("\x1b[31m", "\\x1b[31m"),
    ("\x9b31m", "\\x9b31m"),
    ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
    ("a\rb", "a\\rb"),
    ("a\bb", "a\\x08b"),
    ("\u202egnp", "\\u202egnp"),
    ("\u2066x\u2069", "\\u2066x\\u2069"),
    ("\u200b", "\\u200b"),
    ("e\u0301", "e\\u0301"),
    ("\U000e0041", "\\U000e0041"),
    ("\ufeff", "\\ufeff"),
    ("a\u2028b", "a\\u2028b"),
    ("\t", "\\t"),
    ("\0", "\\0"),
    ("\ud800", "\\ud800"),
    ("\xa0", "\\xa0"),
    ("日本 é", "日本 é"),
    ("plain", "plain"),
]
ANY_TEXT = st.text(st.characters(), max_size=60)
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_what_does_not_print_plainly_is_an_escape(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(ANY_TEXT)
def test_cleaned_text_prints_plainly_and_stays_clean(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable()
    assert not any(unicodedata.category(c).startswith("M") for c in shown)
    assert clean(shown) == shown


@given(st.binary(max_size=60))
def test_bytes_are_text_whatever_they_are(data: bytes) -> None:
    assert clean(decoded(data)).isprintable()


@given(st.lists(st.tuples(ANY_TEXT, st.sampled_from(sorted(STYLES))), max_size=5))
def test_a_painted_line_holds_no_control_sequence_but_ours(spans: list[tuple[str, str]]) -> None:
    line = tuple(Span(*span) for span in spans)
    painted = paint(line, colour=True)
    assert set(SGR.findall(painted)) <= {f"\x1b[{c}m" for c in (*STYLES.values(), "0")}
    assert SGR.sub("", painted).isprintable()
    assert paint(line, colour=False).isprintable()


@given(ANY_TEXT, st.integers(0, 30))
def test_texts_keep_to_their_width(text: str, width: int) -> None:
    assert width_of(cut(text, width)) <= width
    assert width_of(padded(text, width)) == width
    for line in (*wrapped(text, width + 2), *folded(text, width + 2)):
        assert width_of(line) <= width + 2


@given(ANY_TEXT)
def test_wrapping_loses_nothing(text: str) -> None:
    assert "".join(wrapped(text, 7)) == clean(text)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "terminal", "colour"),
    [
        ({}, True, True),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"TERM": "dumb"}, True, False),
        ({}, False, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], terminal: bool, colour: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert open_screen(out=Terminal() if terminal else io.StringIO()).colour is colour


def test_a_pipe_is_80_columns_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert open_screen(out=io.StringIO()).width == 80
    monkeypatch.setenv("COLUMNS", "200")
    assert open_screen(out=io.StringIO()).width == 200


def test_a_small_output_is_written_as_it_is() -> None:
    out = io.StringIO()
    Screen(out, paged=True, height=5).show([row("a", Span("b", "bad")), row("c")])
    assert out.getvalue() == "ab\nc\n"


def test_more_than_a_screenful_goes_to_the_pager(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    target = tmp_path / "paged"
    monkeypatch.setenv("PAGER", f"sh -c 'cat > {target}'")
    out = io.StringIO()
    Screen(out, paged=True, height=5).show(row(str(i)) for i in range(1000))
    assert target.read_text() == "".join(f"{i}\n" for i in range(1000))
    assert out.getvalue() == ""


def test_a_pager_left_early_ends_the_output_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "true")
    taken = []

    def lines():
        for i in range(200_000):
            taken.append(i)
            yield row("x" * 70)

    Screen(io.StringIO(), paged=True, height=5).show(lines())
    assert len(taken) < 200_000


@pytest.mark.parametrize("pager", ["no-such-program-here", "cat", " "])
def test_without_a_pager_all_is_written(monkeypatch: pytest.MonkeyPatch, pager: str) -> None:
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setenv("PATH", "" if pager == " " else os.environ["PATH"])
    out = io.StringIO()
    Screen(out, paged=True, height=5).show(row(str(i)) for i in range(9))
    assert out.getvalue().count("\n") == 9
