"""The display of a run's progress."""

import io
import sys
import types

from gradebox.eval.cli import progress
from gradebox.eval.cli.progress import Progress
from gradebox.eval.common.progress import in_notebook
from gradebox.eval.grading.planner import ProgressCounts


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def filled() -> ProgressCounts:
    tally = ProgressCounts()
    for status, verdict in (
        ("failed", "WA"),
        ("passed", "AC"),
        ("failed", None),
        ("invalid", None),
        ("passed", "AC"),
    ):
        tally.add_solution(status, verdict)
    tally.add_case("AC")
    tally.left.add(2.0)
    tally.left.finish(2.0)
    return tally


def test_faults_come_first_where_a_narrow_terminal_shows_them():
    tally = filled()
    for verdict in ("RE", "CU", "ER", "TLE", "MLE", "OLE", "CE"):
        for _ in range(1000):
            tally.add_solution("failed", verdict)
    assert tally.text().startswith("ER 1000 CU 1000 AC 2 WA 1 TLE 1000")
    stream = Terminal()
    shown = Progress(tally, 7100, lambda: None, stream)
    shown.tick()
    shown.close()
    last = stream.getvalue().strip("\r\n").split("\r")[-1]
    assert last.index("ER 1000 CU 1000") + len("ER 1000 CU 1000") < 80


def test_lines_are_printed_without_a_terminal(monkeypatch):
    monkeypatch.setattr(progress, "LINE_EVERY_S", 0.0)
    stream = io.StringIO()
    shown = Progress(filled(), 10, lambda: ("1/A", 12.0), stream)
    shown.tick()
    line = stream.getvalue()
    assert line.startswith("5/10 solutions, 1 cases, about ")
    assert "left, running 1/A for 12 s: AC 2 WA 1" in line
    assert line.endswith("\n")
    assert "\r" not in line


def test_a_bar_is_drawn_on_a_terminal():
    stream = Terminal()
    shown = Progress(filled(), 10, lambda: ("1/A", 5.0), stream)
    shown.tick()
    shown.close()
    assert "50%" in stream.getvalue()
    assert "5/10" in stream.getvalue()
    assert "AC 2 WA 1" in stream.getvalue()


def test_a_long_call_in_a_notebook_has_a_bar(monkeypatch, capsys):
    kernel = types.SimpleNamespace(config={"IPKernelApp": {}})
    fake = types.SimpleNamespace(get_ipython=lambda: kernel)
    monkeypatch.setitem(sys.modules, "IPython", fake)
    monkeypatch.setitem(sys.modules, "ipywidgets", None)  # not installed
    short = Progress(filled(), 10)
    short.tick()
    short.close()
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("gradebox.eval.common.progress.IN_NOTEBOOK_AFTER_S", 0.0)
    long = Progress(filled(), 10)
    long.tick()
    long.close()
    shown = capsys.readouterr().err
    assert "| 5/10 [" in shown and "AC 2 WA 1" in shown
    assert shown.split("\r")[-2].strip() == ""  # it is gone
    monkeypatch.setitem(sys.modules, "tqdm", None)  # not installed
    Progress(filled(), 10).tick()
    assert capsys.readouterr().err.startswith("5/10 solutions, 1 cases")
    kernel.config.clear()  # IPython in a terminal
    assert not in_notebook()


def test_lines_are_printed_only_every_few_seconds():
    stream = io.StringIO()
    shown = Progress(filled(), 10, stream=stream)
    for _ in range(100):
        shown.tick()
    assert stream.getvalue() == ""
    shown.close()
    assert stream.getvalue().count("\n") == 1
