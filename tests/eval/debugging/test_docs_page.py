"""The commands of docs/debugging.md run as written and print what the page shows."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gradebox.eval.cli.commands.debug import make_parser
from testing.commands import ROOT, run_command

PAGE = (ROOT / "docs" / "debugging.md").read_text()
BLOCKS = re.findall(r"^```\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [b for b in BLOCKS if b.startswith("gradebox ")]
pytestmark = [pytest.mark.slow(5), pytest.mark.xdist_group("debugging page")]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return results of `make grade` for two of the problems."""
    folder = tmp_path_factory.mktemp("results")
    flags = "--solutions-path examples/solutions.jsonl --dataset examples/problems.jsonl"
    only = "--sandbox local --problems 9001/B,9001/J"
    done = run(f"gradebox grade {flags} {only}", folder)
    assert done.returncode == 0, done.stderr
    return folder


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the page with another results folder."""
    words = shlex.split(command)[1:]
    if "--results-dir" not in words and words[0] == "grade":
        words += ["--results-dir", str(folder)]
    return run_command([sys.executable, "-m", "gradebox.eval.cli.console", *words], timeout=150)


def of_page(command: str, folder: Path) -> str:
    text = command.split("\npython3 ")[0]
    text = text.replace("results/solutions", shlex.quote(str(folder / "solutions")))
    text = text.replace("results/checked", shlex.quote(str(folder / "checked")))
    return text.replace("--export case", f"--export {shlex.quote(str(folder / 'case'))}")


def test_every_command_is_tested():
    kinds = ["--list", "3", "--checker", "case", "ncmp", "examples/solutions.jsonl"]
    assert len(COMMANDS) == len(kinds)
    for command, kind in zip(COMMANDS, kinds, strict=True):
        assert kind in shlex.split(command)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_the_three_commands_print_what_the_page_shows(results, number):
    place = BLOCKS.index(COMMANDS[number])
    done = run(of_page(COMMANDS[number], results), results)
    assert done.returncode == 0, done.stderr
    printed = [" ".join(line.split()) for line in done.stdout.splitlines()]
    for line in BLOCKS[place + 1].splitlines():
        assert " ".join(line.split()) in printed, done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines() if str(results) not in line)


def test_the_export_runs(results):
    done = run(of_page(COMMANDS[3], results), results)
    assert done.returncode == 0, done.stderr
    script = [sys.executable, str(results / "case" / "run.py")]
    printed = run_command(script, cwd="/", timeout=100).stdout
    assert "verdict: WA failed_checker: score 0" in printed


def test_cases_are_rejudged(results):
    done = run(of_page(COMMANDS[4], results), results)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 solutions graded again" in done.stdout
    metrics = json.loads((results / "solutions" / "piston_eval_metrics.json").read_text())
    assert metrics["run"]["rejudged"][0]["checker"] == "ncmp"


def test_the_self_check_passes(results):
    done = run(of_page(COMMANDS[5], results).replace("\\\n", " "), results)
    assert done.returncode == 0, done.stderr
    assert re.search(r"self-check: 2 checkers asked \d+ times, 4 right and 4 wrong", done.stdout)


def test_every_flag_is_documented():
    flags = {word for action in make_parser()._actions for word in action.option_strings}
    for flag in flags - {"-h", "--help", "--workers"}:
        assert f"`{flag}" in PAGE or f" {flag}" in PAGE, flag
