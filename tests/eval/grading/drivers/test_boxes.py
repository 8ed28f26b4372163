"""With real boxes: programs and boxes of drivers end with the run, however it ends."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testing.submissions.hostile.host import children, wait_until_gone
from tests.eval.grading.drivers.small_work import ROOT
from tests.sandbox.backends import needs_box

pytestmark = pytest.mark.slow
MARK = 471_023  # seconds of a sleep that is looked for


@pytest.mark.parametrize(
    "signals", [(signal.SIGKILL,), (signal.SIGINT, signal.SIGINT)], ids=["killed", "at once"]
)
def test_programs_and_boxes_end_with_the_run(tmp_path, signals):
    needs_box()
    row = {"id": "1/A", "official_tests": [{"input": "1\n", "output": "1\n"}], "time_limit": 60.0}
    code = f"import time, sys\ntime.sleep({MARK})"
    (tmp_path / "problems.jsonl").write_text(json.dumps(row) + "\n")
    lines = [json.dumps({"id": "1/A", "code": f"{code}  # {n}"}) for n in range(2)]
    (tmp_path / "sols.jsonl").write_text("\n".join(lines) + "\n")
    command = [
        *(sys.executable, "eval/eval_with_piston_gentest_checker_stats.py", "--sandbox", "local"),
        *("--solutions-path", str(tmp_path / "sols.jsonl"), "--workers", "2", "--drivers", "2"),
        *("--dataset", str(tmp_path / "problems.jsonl"), "--results-dir", str(tmp_path / "out")),
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as run:
        deadline = time.monotonic() + 90
        while not (below := sleeping_below(run.pid)):
            assert run.poll() is None and time.monotonic() < deadline
            time.sleep(0.05)
        for number in signals[:-1]:
            run.send_signal(number)
            while "second signal stops at once" not in (line := run.stderr.readline()):
                assert line
        run.send_signal(signals[-1])
        run.communicate(timeout=150)
    wait_until_gone(below)


def sleeping_below(pid: int) -> set[int]:
    """Return all processes below one, once a program's wait for its sleep is among them."""
    below = children(pid)
    waits = 0
    for one in below:
        try:
            name = Path(f"/proc/{one}/wchan").read_text()
            waits += "nanosleep" in name and one != pid
        except OSError:
            continue
    return below if waits else set()
