"""Interrupted runs: the next start continues, and the result is that of an undisturbed run."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradebox.eval.results.records import read_records
from testing.commands import ROOT, run_command

RESULTS = "results/sols/piston_eval_results.jsonl"
METRICS = "results/sols/piston_eval_metrics.json"
# Fields that differ between equal runs.
TIMES = ("timestamp", "run", "calibration", "problems")


def write_work(folder: Path, solutions: int, tests: int = 3) -> None:
    with (folder / "problems.jsonl").open("w") as file:
        for number in range(3):
            cases = [{"input": f"{i}\n", "output": f"{i}\n"} for i in range(tests)]
            file.write(json.dumps({"id": f"{number}/A", "official_tests": cases}) + "\n")
    with (folder / "sols.jsonl").open("w") as file:
        for number in range(solutions):
            code = f"{'wrong' if number % 4 == 0 else 'right'} {number // 2}"
            file.write(json.dumps({"id": f"{number % 3}/A", "code": code}) + "\n")


def command(folder: Path, pause_s: float) -> list[str]:
    return [sys.executable, "-m", "testing.fakes.fake_drivers", str(folder), str(pause_s), "1"]


def finish(folder: Path, pause_s: float = 0.0) -> str:
    """Run to the end; return its output."""
    done = run_command(command(folder, pause_s), timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def outcome(folder: Path) -> tuple[list[dict], dict]:
    """Return records and metrics without the fields that differ between equal runs."""
    metrics = json.loads((folder / METRICS).read_text())
    kept = {k: v for k, v in metrics.items() if k not in TIMES}
    for name in ("--solutions-path", "--dataset", "--results-dir"):
        del kept["flags"][name]
    return list(read_records(folder / RESULTS)), kept


def wait_for(path: Path, size: int) -> None:
    while not (path.exists() and path.stat().st_size >= size):
        time.sleep(0.002)


@pytest.mark.slow
def test_a_run_killed_at_three_points_gives_the_same_result(tmp_path):
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    for folder in (calm, rough):
        folder.mkdir()
        write_work(folder, solutions=60)
    finish(calm)
    size = (calm / RESULTS).stat().st_size
    chance = random.Random(6)
    points = sorted(chance.randrange(1, size) for _ in range(3))
    for point in points:
        with subprocess.Popen(command(rough, 0.002), cwd=ROOT, stdout=subprocess.DEVNULL) as run:
            done = (rough / RESULTS).stat().st_size if (rough / RESULTS).exists() else 0
            if done < size:
                wait_for(rough / RESULTS, min(point, done + 1))
            time.sleep(chance.random() * 0.005)
            run.send_signal(signal.SIGKILL)
        with (rough / RESULTS).open("ab") as file:
            file.write(b'{"cut": "lin'[: chance.randrange(12)])
    finish(rough)
    assert outcome(rough) == outcome(calm)
    assert "Nothing left to do" in finish(rough)


@pytest.mark.slow
def test_a_signal_ends_the_run_after_the_running_cases(tmp_path):
    write_work(tmp_path, solutions=200)
    with subprocess.Popen(
        command(tmp_path, 0.01), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        wait_for(tmp_path / RESULTS, 100)
        run.send_signal(signal.SIGTERM)
        _, errors = run.communicate(timeout=150)
    assert run.returncode == 130
    assert "stopping after the running cases" in errors
    assert not (tmp_path / METRICS).exists()
    before = len(list(read_records(tmp_path / RESULTS)))
    assert 0 < before < 200
    finish(tmp_path)
    assert [r["line"] for r in read_records(tmp_path / RESULTS)] == list(range(1, 201))
    assert json.loads((tmp_path / METRICS).read_text())["run"]["from_before"] >= before


def test_a_second_signal_stops_at_once(tmp_path):
    write_work(tmp_path, solutions=3)
    with subprocess.Popen(
        command(tmp_path, 600.0),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as run:
        wait_for(tmp_path / RESULTS, 0)
        run.send_signal(signal.SIGINT)
        said = run.stderr.readline() + run.stderr.readline()
        assert "second signal stops at once" in said
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=150)
    assert run.returncode == 130
    assert "start the same command again" in errors


# The main command with another body in place of the grading.
MAIN = """
import os, signal, sys
from gradebox.eval.cli import grade as command
from gradebox.eval.common.signals import Stopper
def grade(options):
    {body}
command._grade = grade
sys.exit(command.main(["--solutions-path", "x"]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "body"),
    [
        ("SIGINT", "os.kill(os.getpid(), signal.{0})"),
        ("SIGTERM", "os.kill(os.getpid(), signal.{0})"),
        ("SIGTERM", "with Stopper(): os.kill(os.getpid(), signal.{0})"),
        ("SIGINT", "import atexit; atexit.register(os.kill, os.getpid(), signal.{0}); return 130"),
    ],
    ids=["while it starts", "so by SIGTERM", "while the sandbox is opened", "while it ends"],
)
def test_a_signal_before_or_after_the_run_ends_with_the_same_status(body, number):
    code = MAIN.format(body=body.format(number))
    done = run_command([sys.executable, "-c", code])
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
