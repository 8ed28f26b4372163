"""`gradebox COMMAND`: each word reaches its command, and a wrong one is told."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from eval import console

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", console.COMMANDS)
def test_every_command_has_a_module(name: str):
    assert importlib.util.find_spec(console.COMMANDS[name].module) is not None


@pytest.fixture(autouse=True)
def arguments_of_its_own(monkeypatch: pytest.MonkeyPatch):
    """A command is named in `sys.argv`, which the tests of a worker share."""
    monkeypatch.setattr(sys, "argv", ["gradebox"])


@pytest.mark.parametrize("name", console.COMMANDS)
def test_help_is_the_commands_own(name: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as end:
        console.main([name, "--help"])
    assert end.value.code == 0
    assert f"usage: gradebox {name} " in capsys.readouterr().out


def test_the_list_of_commands(capsys: pytest.CaptureFixture[str]):
    assert console.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"gradebox {name}" in out for name in console.COMMANDS)


@pytest.mark.parametrize("argv", [[], ["grde"], ["-x"]])
def test_a_wrong_word_is_usage(argv: list[str], capsys: pytest.CaptureFixture[str]):
    assert console.main(argv) == 2
    err = capsys.readouterr().err
    assert "gradebox: no command" in err
    assert ("did you mean grade?" in err) == (argv == ["grde"])


def test_status_and_message_of_the_command_come_through():
    found = subprocess.run(
        [sys.executable, "-m", "eval.console", "grade", "--solutions-path", "nowhere.jsonl"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert found.returncode == 2
    assert found.stderr.startswith("error: nowhere.jsonl does not exist")
