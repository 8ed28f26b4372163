"""What all commands that ask models have in common."""

import argparse
import importlib
import sys
from pathlib import Path

import pytest

from gradebox.eval.cli.command import OUT_OF_MEMORY, CommandParser, run_command
from gradebox.eval.cli.commands.evaluate import extra_fields
from gradebox.eval.common.errors import InputError
from gradebox.eval.models import CallError
from gradebox.sandbox.errors import SandboxError

ROOT = Path(__file__).resolve().parents[4]
COMMANDS = ["evaluate", "run_smoke", "run_benchmarks", "summarize_results", "sample_solutions"]

PIP = f"{sys.executable} -m pip"


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_flag_exits_with_2(name, capsys):
    main = importlib.import_module(f"gradebox.eval.cli.commands.{name}").main
    assert main(["--no-such-flag"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (InputError("bad"), 2, "error: bad\n"),
        (CallError("ServerLost", "gone"), 3, "error: gone\n"),
        (SandboxError("no worker"), 3, "error: no worker\n"),
        (
            ModuleNotFoundError("No module named 'httpx'", name="httpx"),
            2,
            f"error: httpx is not installed; {PIP} install 'gradebox[sampling]'\n",
        ),
        (MemoryError(), 3, f"error: {OUT_OF_MEMORY}\n"),
        (KeyboardInterrupt(), 130, "interrupted; start the same command again to continue\n"),
    ],
)
def test_errors_are_one_line_and_a_status(error, status, message, capsys):
    def fails(arguments: argparse.Namespace) -> int:
        raise error

    assert run_command(CommandParser, fails, []) == status
    assert capsys.readouterr().err == message


PAGES = {
    "evaluate": "math-harness",
    "run_smoke": "equational-theories",
    "run_benchmarks": "benchmarks-by-configuration",
    "summarize_results": "benchmarks-by-configuration",
    "sample_solutions": "sample-solutions",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_is_documented(name):
    page = (ROOT / "docs" / f"{PAGES[name]}.md").read_text()
    parser = importlib.import_module(f"gradebox.eval.cli.commands.{name}").parser()
    first = [action.option_strings[0] for action in parser._actions if action.option_strings]
    assert [flag for flag in first if flag not in page and flag != "-h"] == []


@pytest.mark.parametrize("flag", ["--num-samples", "--concurrency", "--pass-k"])
@pytest.mark.parametrize("value", ["0", "-1", "x", "1.5", ""])
def test_counts_are_at_least_1(flag, value, capsys):
    from gradebox.eval.cli.commands.evaluate import main

    assert main(["--server-url", "http://h/", flag, value]) == 2
    assert f"{value!r}: give a whole number of at least 1" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["sample_solutions", "run_benchmarks"])
@pytest.mark.parametrize("flag", ["--temperature", "--top-p"])
@pytest.mark.parametrize("value", ["nan", "inf", "-1", "warm"])
def test_temperatures_are_finite_numbers(name, flag, value, capsys):
    main = importlib.import_module(f"gradebox.eval.cli.commands.{name}").main
    assert main([flag, value]) == 2
    assert "give a number of at least 0" in capsys.readouterr().err


def test_extra_fields():
    pairs = ["a=1", "b=x=y", "c=[1, 2]", 'd="1"', "e=", "f=true"]
    assert extra_fields(pairs) == {"a": 1, "b": "x=y", "c": [1, 2], "d": "1", "e": "", "f": True}
