"""The printed commands run: with a script, without one, from a checkout."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradebox.sandbox.common import own_command

ROOT = Path(__file__).resolve().parents[3]
SAY = (
    "from gradebox.sandbox.common.own_command import command; import sys; print(command('answer'))"
)


@pytest.mark.slow
def test_the_printed_command_runs_from_a_checkout_in_any_folder(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    said = subprocess.check_output([sys.executable, "-c", SAY], cwd=tmp_path, env=env, text=True)
    line = said.strip() + r" '\frac12' '\boxed{0.5}'"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        line, shell=True, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (line, done.stderr)


def test_the_script_beside_the_interpreter_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    assert own_command.command("debug") == f"{tmp_path}/python3 {own_command.PACKAGE} debug"
    script = tmp_path / "gradebox"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    assert own_command.command("debug") == f"{script} debug"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert own_command.command("debug") == "gradebox debug"
