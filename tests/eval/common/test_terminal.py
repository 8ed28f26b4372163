"""Untrusted text on a terminal: only printable characters and our own colours are written."""

import io
import os
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.common.terminal import (
    STYLES,
    Span,
    Terminal,
    cut,
    display_width,
    escape,
    open_terminal,
    pad,
    render,
    row,
    wrap_anywhere,
    wrap_words,
)
from testing.rows import rows

HOSTILE = rows(__file__, "hostile")
ANY_TEXT = st.text(st.characters(), max_size=60)
SGR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize(("text", "shown"), HOSTILE)
def test_unprintable_characters_become_escapes(text, shown):
    assert escape(text) == shown


@given(ANY_TEXT)
def test_escaped_text_is_printable_and_escaping_again_changes_nothing(text):
    shown = escape(text)
    assert shown.isprintable()
    assert not any(unicodedata.category(c).startswith("M") for c in shown)
    assert escape(shown) == shown


@given(st.lists(st.tuples(ANY_TEXT, st.sampled_from(sorted(STYLES))), max_size=5))
def test_a_rendered_line_has_only_our_control_sequences(spans):
    line = tuple(Span(*span) for span in spans)
    rendered = render(line, colour=True)
    assert set(SGR.findall(rendered)) <= {f"\x1b[{c}m" for c in (*STYLES.values(), "0")}
    assert SGR.sub("", rendered).isprintable()
    assert render(line, colour=False).isprintable()


class TerminalOutput(io.StringIO):
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
def test_colours_depend_on_the_terminal_and_the_environment(
    monkeypatch, environment, terminal, colour
):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert open_terminal(out=TerminalOutput() if terminal else io.StringIO()).colour is colour


def test_a_pipe_has_80_columns_unless_columns_is_set(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert open_terminal(out=io.StringIO()).width == 80
    monkeypatch.setenv("COLUMNS", "200")
    assert open_terminal(out=io.StringIO()).width == 200


def test_output_of_one_screen_is_written_without_a_pager():
    out = io.StringIO()
    Terminal(out, paged=True, height=5).show([row("a", Span("b", "bad")), row("c")])
    assert out.getvalue() == "ab\nc\n"


def test_longer_output_goes_to_the_pager(monkeypatch, tmp_path):
    target = tmp_path / "paged"
    monkeypatch.setenv("PAGER", f"sh -c 'cat > {target}'")
    out = io.StringIO()
    Terminal(out, paged=True, height=5).show(row(str(i)) for i in range(1000))
    assert target.read_text() == "".join(f"{i}\n" for i in range(1000))
    assert out.getvalue() == ""


@pytest.mark.parametrize("pager", ["no-such-program-here", "cat", " "])
def test_everything_is_written_when_there_is_no_pager(monkeypatch, pager):
    monkeypatch.setenv("PAGER", pager)
    monkeypatch.setenv("PATH", "" if pager == " " else os.environ["PATH"])
    out = io.StringIO()
    Terminal(out, paged=True, height=5).show(row(str(i)) for i in range(9))
    assert out.getvalue().count("\n") == 9


@given(ANY_TEXT, st.integers(0, 30))
def test_cut_and_wrapped_text_fits_its_width(text, width):
    assert display_width(cut(text, width)) <= width
    assert display_width(pad(text, width)) == width
    for line in (*wrap_anywhere(text, width + 2), *wrap_words(text, width + 2)):
        assert display_width(line) <= width + 2


@given(ANY_TEXT)
def test_wrapping_keeps_every_character(text):
    assert "".join(wrap_anywhere(text, 7)) == escape(text)
