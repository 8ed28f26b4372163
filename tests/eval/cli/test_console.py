"""`gradebox COMMAND` runs the named command and reports unknown names."""

import argparse
import sys
import warnings

import pytest

from gradebox import __version__
from gradebox.eval.cli import console
from gradebox.eval.cli.command import run_command

WIDE = ("grade", "serve")  # a list of names without spaces; an epilog


@pytest.fixture(autouse=True)
def own_arguments(monkeypatch: pytest.MonkeyPatch):
    """Give each test its own `sys.argv`, which a command changes."""
    monkeypatch.setattr(sys, "argv", ["gradebox"])


@pytest.mark.parametrize("name", console.COMMANDS)
def test_help_is_that_of_the_command_and_fits_a_terminal(name, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as end:
        console.main([name, "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert f"usage: gradebox {name} " in out
    assert name in WIDE or all(len(line) <= 80 for line in out.splitlines())


def test_the_list_of_commands(capsys):
    assert console.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"  {name} " in out for name in console.COMMANDS)


@pytest.mark.parametrize("argv", [[], ["grde"], ["-x"]])
def test_an_unknown_command_is_bad_usage(argv, capsys):
    assert console.main(argv) == 2
    err = capsys.readouterr().err
    assert "gradebox: there is no command" in err
    assert ("did you mean grade?" in err) == (argv == ["grde"])


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_the_version_is_one_line(flag, capsys):
    assert console.main([flag]) == 0
    [line] = capsys.readouterr().out.splitlines()
    assert line.startswith(f"gradebox {__version__}, Python 3.")


def test_a_warning_is_one_line_without_its_place():
    def warn(arguments: argparse.Namespace) -> int:
        text = warnings.formatwarning("core 1 is\nlocked", RuntimeWarning, "cores.py", 9, "x")
        assert text == "warning: core 1 is locked\n"
        return 0

    before = warnings.formatwarning
    assert run_command(argparse.ArgumentParser, warn, []) == 0
    assert warnings.formatwarning is before


def test_the_syntax_of_python_in_rows_is_no_warning_of_a_command():
    def read(_: argparse.Namespace) -> int:
        warnings.warn("invalid escape sequence", SyntaxWarning, stacklevel=1)  # as ast.parse does
        return 0

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert run_command(argparse.ArgumentParser, read, []) == 0
    assert caught == []
