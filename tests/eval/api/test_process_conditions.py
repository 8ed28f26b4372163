"""The library grades in processes of unusual states: notebooks, daemons, trainers' workers."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from gradebox.checkers.math.policy import POLICIES
from gradebox.checkers.math.workers.answers import Pool
from testing.commands import run_command
from tests.sandbox.backends import needs_box

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]

GRADE = """
import gradebox, signal
row = {"id": "1/A", "official_tests": [{"input": "2\\n", "output": "4\\n"}]}
for drivers in (1, 2):
    right = {"code": f"print({drivers} * int(input()) * 2 // {drivers})"}
    wrong = {"code": f"int main{drivers}( {{", "language": "cpp"}
    records = gradebox.grade([right, wrong], row, sandbox="local", workers=2, drivers=drivers)
    verdicts = [r["verdict"] for r in records]
    assert verdicts == ["AC", "CE"], (drivers, verdicts)
signal.setitimer(signal.ITIMER_REAL, 0)  # at its end Python no longer catches the signal
"""

# Conditions that do not hide each other are tried in one process.
CONDITIONS = {
    "a default time-out of sockets, a removed working folder, a closed mask, blocked signals": (
        "import os, signal, socket, tempfile; socket.setdefaulttimeout(0.2)\n"
        "d = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d); os.umask(0o777)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())"
    ),
    "no standard streams, ignored children, a debugger": (
        "import os, signal, sys; [os.close(n) for n in range(3)]\n"
        "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
        "trace = lambda *a: trace; sys.settrace(trace)"
    ),
    "streams of None, warnings as errors, an empty environment, an interrupting timer": (
        "import os, signal, sys, warnings; warnings.simplefilter('error'); os.environ.clear()\n"
        "sys.stdin = sys.stdout = sys.stderr = None\n"
        "signal.signal(signal.SIGALRM, lambda *a: None)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)"
    ),
}


@pytest.mark.parametrize("condition", CONDITIONS)
def test_the_library_grades_under(condition, tmp_path):
    needs_box()
    done = subprocess.run(
        [sys.executable, "-c", f"{CONDITIONS[condition]}\n{GRADE}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()


INTERRUPTED = """
import glob, gradebox, os, signal, threading, time
from pathlib import Path

def below(pid):
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        try:
            children = Path(path).read_text().split()
        except OSError:  # it has ended
            continue
        for child in children:
            yield from (child, *below(child))

def interrupt():
    while True:  # until a program runs; another one may wait for a core
        for pid in below(os.getpid()):
            try:
                name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition(") ")
            except OSError:  # it has ended
                continue
            if "python" in name and int(rest.split()[11]) > 50:
                return os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)

row = {"id": "1/A", "time_limit": 600, "official_tests": [{"input": "", "output": "4"}]}
options = {"sandbox": "local", "workers": 2, "drivers": DRIVERS}
threading.Thread(target=interrupt, daemon=True).start()
try:
    gradebox.grade([{"code": "while True: pass"}] * 3, row, **options)
except KeyboardInterrupt:
    print("interrupted", *below(os.getpid()))
print([record["verdict"] for record in gradebox.grade([{"code": "print(4)"}], row, **options)])
"""


@pytest.mark.parametrize("drivers", [1, 2])
def test_ctrl_c_ends_a_call_and_its_programs_at_once(drivers, tmp_path):
    """As in a notebook, where the process goes on. The programs have ten minutes."""
    needs_box()
    done = run_command(
        [sys.executable, "-c", INTERRUPTED.replace("DRIVERS", str(drivers))],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )
    assert (done.stdout, done.stderr) == ("interrupted\n['AC']\n", "")


def test_math_workers_judge_under_a_default_time_out():
    pytest.importorskip("sympy", reason="SymPy is not installed")
    default = socket.getdefaulttimeout()
    socket.setdefaulttimeout(0.2)
    try:
        with Pool(1) as pool:
            outcome = pool.judge("x**2 + 2*x + 1", "(x + 1)**2", POLICIES["dart"], 10)
    finally:
        socket.setdefaulttimeout(default)
    assert outcome.equal, outcome
