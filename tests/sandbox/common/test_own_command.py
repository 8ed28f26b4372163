"""The printed commands run: with a script, without one, from a checkout."""

from __future__ import annotations

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
def test_the_printed_command_runs_from_a_checkout_in_any_folder(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    said = subprocess.check_output([sys.executable, "-c", SAY], cwd=tmp_path, env=env, text=True)
    line = said.strip() + r" '\frac12' '\boxed{0.5}'"
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        line, shell=True, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (line, done.stderr)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation of its own: bin/, and packages that no scheme knows."""
    monkeypatch.setattr(own_command, "PACKAGE", tmp_path / "packages" / "gradebox")
    monkeypatch.setattr(sys, "orig_argv", ["python3", "-c", "pass"])
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python3"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    return tmp_path


def script(folder: Path) -> Path:
    made = folder / "gradebox"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    return made


def test_without_a_script_the_interpreter_in_use_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_command.command("debug") == "bin/python3 packages/gradebox debug"
    (place / "bin" / "python3").write_text("")
    (place / "bin" / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", str(place / "bin"))
    assert own_command.command("debug") == "python3 packages/gradebox debug"
    monkeypatch.chdir("/usr")
    assert own_command.command("debug") == f"python3 {place}/packages/gradebox debug"
    monkeypatch.chdir(place / "bin")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert own_command.command("debug") == f"./python3 {place}/packages/gradebox debug"


def test_the_script_that_was_started_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = script(place / "bin")
    monkeypatch.setattr(sys, "orig_argv", ["python3", str(made), "grade"])
    assert own_command.command("debug") == "bin/gradebox debug"
    monkeypatch.setenv("PATH", str(place / "bin"))
    assert own_command.command("debug") == "gradebox debug"
    made.unlink()
    assert "bin/gradebox" not in own_command.command("debug")


def test_the_script_of_another_installation_is_not_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(place / "bin")
    monkeypatch.setenv("PATH", str(place / "bin"))
    assert own_command.command("debug") == "bin/python3 packages/gradebox debug"
    monkeypatch.setattr(
        own_command.sysconfig,
        "get_path",
        lambda kind, scheme="": str(place / {"scripts": "bin", "purelib": "packages"}[kind]),
    )
    assert own_command.command("debug") == "gradebox debug"
