"""What is shown while a run goes on."""

from __future__ import annotations

import io

from eval import progress
from eval.progress import Progress, Tally


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def filled() -> Tally:
    tally = Tally()
    for status, verdict in (
        ("failed", "WA"),
        ("passed", "AC"),
        ("failed", None),
        ("invalid", None),
        ("passed", "AC"),
    ):
        tally.solution(status, verdict, "ran")
    tally.case("AC")
    return tally


def test_verdicts_come_in_a_fixed_order():
    assert filled().counts() == "AC 2 WA 1 no code 1 uncounted 1"


def test_plain_lines_without_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_EVERY_S", 0.0)
    stream = io.StringIO()
    shown = Progress(filled(), 10, lambda: ("1/A", 12.0), stream)
    shown.tick()
    line = stream.getvalue()
    assert line.startswith("5/10 solutions, 1 cases, about ")
    assert "left, at work on 1/A for 12 s: AC 2 WA 1" in line
    assert line.endswith("\n")
    assert "\r" not in line


def test_lines_are_rare():
    stream = io.StringIO()
    shown = Progress(filled(), 10, stream=stream)
    for _ in range(100):
        shown.tick()
    assert stream.getvalue() == ""
    shown.close()
    assert stream.getvalue().count("\n") == 1


def test_nothing_is_said_when_nothing_was_done():
    tally = Tally()
    tally.solution("passed", "AC", "before")
    stream = io.StringIO()
    Progress(tally, 1, stream=stream).close()
    assert stream.getvalue() == ""


def test_a_bar_on_a_terminal():
    stream = Terminal()
    shown = Progress(filled(), 10, lambda: ("1/A", 5.0), stream)
    shown.tick()
    shown.close()
    assert "50%" in stream.getvalue()
    assert "5/10" in stream.getvalue()
    assert "AC 2 WA 1" in stream.getvalue()
