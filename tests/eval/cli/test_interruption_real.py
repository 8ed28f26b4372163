"""The main command, killed repeatedly with the real sandbox, gives the undisturbed result.

GRADEBOX_KILL_POINTS=30 kills it more often than the suite has time for.
"""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.grade import main
from gradebox.eval.results.records import read_records
from tests.eval.cli.test_interruption import METRICS, RESULTS, ROOT, TIMES, wait_for

POINTS = int(os.environ.get("GRADEBOX_KILL_POINTS", "2"))
MEASURED = {"cpu_s", "wall_s", "memory_bytes", "contended"}
PYTHON = "print({answer})\n# {number}\n"
C = '#include <stdio.h>\nint main(void) {{ puts("{answer}"); return {status}; }} // {number}\n'
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def write_work(folder: Path) -> None:
    """Write right, wrong and crashing programs in two languages, some of them twice."""
    folder.mkdir()
    chance = random.Random(3)
    with (folder / "problems.jsonl").open("w") as file:
        for number in range(4):
            cases = [{"input": f"{i}\n", "output": "7\n"} for i in range(4)]
            file.write(json.dumps({"id": f"{number}/A", "official_tests": cases}) + "\n")
    with (folder / "sols.jsonl").open("w") as file:
        for number in range(16):
            answer, status = chance.choice([(7, 0), (7, 0), (8, 0), (7, 3)])
            text, language = (C, "c") if number % 4 == 0 else (PYTHON, "python")
            code = text.format(answer=answer, status=status, number=number // 2)
            row = {"id": f"{number % 4}/A", "code": code, "language": language}
            file.write(json.dumps(row) + "\n")


def words(folder: Path) -> list[str]:
    return [
        *("--solutions-path", str(folder / "sols.jsonl")),
        *("--dataset", str(folder / "problems.jsonl"), "--results-dir", str(folder / "results")),
    ]


def finish(folder: Path) -> None:
    assert main(words(folder)) == 0


def without_measures(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_measures(v) for k, v in value.items() if k not in MEASURED}
    return [without_measures(one) for one in value] if isinstance(value, list) else value


def verdicts(folder: Path) -> tuple[Any, dict[str, Any]]:
    metrics = json.loads((folder / METRICS).read_text())
    counted = {k: v for k, v in metrics.items() if k not in TIMES and k != "flags"}
    return without_measures(list(read_records(folder / RESULTS))), without_measures(counted)


def test_a_repeatedly_killed_run_gives_the_same_result(tmp_path: Path) -> None:
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    for folder in (calm, rough):
        write_work(folder)
    finish(calm)
    size = (calm / RESULTS).stat().st_size
    chance = random.Random(8)
    killed = 0
    for point in sorted(chance.randrange(1, size) for _ in range(POINTS)):
        done = (rough / RESULTS).stat().st_size if (rough / RESULTS).exists() else 0
        command = [sys.executable, "eval/eval_with_piston_gentest_checker_stats.py"]
        with subprocess.Popen(
            [*command, *words(rough)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as run:
            if done < size * 0.97:
                wait_for(rough / RESULTS, min(point, done + 1))
            time.sleep(chance.random() * 0.05)
            killed += run.poll() is None
            run.send_signal(signal.SIGKILL)
    assert killed >= POINTS // 2
    finish(rough)
    assert verdicts(rough) == verdicts(calm)
