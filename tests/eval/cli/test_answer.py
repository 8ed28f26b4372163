"""`gradebox answer GOLD RESPONSE`."""

import io

import pytest

from gradebox.eval.cli import console


@pytest.mark.slow
def test_the_verdict_and_how_it_came_about(capsys):
    assert console.main(["answer", r"\frac12", "So it is $\\boxed{0.5}$."]) == 0
    rows = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == [
        *("verdict", "outcome", "reason", "tier", "policy", "gold", "read", "answer", "read")
    ]
    assert [rows[i][1] for i in (0, 2, 4, 5, 7, 8)] == [
        *("equal", "value", "strict", r"\frac12", "0.5", "as  1/2")
    ]


@pytest.mark.slow
def test_status_1_and_the_side_that_is_not_read(monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO("The answer is n 2."))
    assert console.main(["answer", "5", "-"]) == 1
    shown = capsys.readouterr().out
    assert "not read (answer): a number directly after another factor" in shown


def test_a_bad_timeout_is_one_line(capsys):
    assert console.main(["answer", "5", "5", "--timeout", "-1"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
