"""Ctrl-C and SIGTERM while a command is being loaded: one line and the status 130."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from testing.commands import ROOT, run_command

SCRIPTS = sorted(path.name for path in (ROOT / "eval").glob("[!_]*.py"))
# Loaded by Python at its start: sends the signal when our n-th module is about to be imported.
SENDER = """
import os, sys
class Sender:
    seen = 0
    def find_spec(self, name, path, target=None):
        if name.startswith("gradebox.") and "gradebox._early_signals" in sys.modules:
            Sender.seen += 1
            if Sender.seen == int(os.environ["SEND_AT"]):
                os.kill(os.getpid(), int(os.environ["SEND"]))
sys.meta_path.insert(0, Sender())
"""


def interrupted(folder: Path, argv: list[str], at: int, number: int = signal.SIGINT) -> str:
    """Run a command that gets a signal at an import; return its only line on stderr."""
    (folder / "sitecustomize.py").write_text(SENDER)
    path = os.pathsep.join((str(folder), str(ROOT / "src")))
    environ = {**os.environ, "PYTHONPATH": path, "SEND_AT": str(at), "SEND": str(int(number))}
    done = run_command([sys.executable, *argv], env=environ, timeout=150)
    assert done.returncode == 130, done.stderr
    [line] = done.stderr.splitlines()
    return line


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("name", ["grade", "serve"])  # all by one function
def test_a_command_of_the_console_script(tmp_path, name):
    script = ["-c", "import sys; from gradebox._early_signals import main; sys.exit(main())"]
    for at in (1, 9) if name == "grade" else (9,):
        line = interrupted(tmp_path, [*script, name, "--help"], at)
        assert line == "interrupted; start the same command again to continue"


@pytest.mark.slow(seconds=1)
@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_by_its_path(tmp_path, script):
    line = interrupted(tmp_path, [f"eval/{script}", "--help"], 4, signal.SIGTERM)
    assert line.startswith("interrupted; start the same command again")


@pytest.mark.slow(seconds=4)
@pytest.mark.parametrize("at", [2, 100])
def test_a_run_at_any_import(tmp_path, at):
    flags = ["--solutions-path", "examples/solutions.jsonl", "--dataset", "examples/problems.jsonl"]
    argv = ["-m", "gradebox", "grade", *flags, "--results-dir", str(tmp_path), "--sandbox", "local"]
    assert interrupted(tmp_path, argv, at).startswith("interrupted; start the same command again")


def test_the_library_leaves_signals_alone():
    code = (
        "import signal, gradebox, gradebox.eval.cli.console, gradebox._early_signals\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=150)


def test_the_console_script_is_the_one_that_handles_signals():
    assert 'gradebox = "gradebox._early_signals:main"' in (ROOT / "pyproject.toml").read_text()
