"""Interactions in which one side attacks the other, or the judge: the verdict, and that it ends.

The interactor speaks Kattis' protocol: exit status 42 accepts, 43 rejects.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.checkers import interactive
from gradebox.checkers.interactive import InteractionResult, judge_interaction, open_interactor
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Limits, Program
from tests.sandbox.levels import box_at

pytestmark = [pytest.mark.slow, pytest.mark.levels("landlock")]
LIMITS = Limits(cpu_s=1, wall_s=2, memory_bytes=256 * MIB, output_bytes=4 * MIB, processes=8)
# Sends a number and wants it doubled.
FAIR = """
import sys
print(21, flush=True)
sys.exit(42 if sys.stdin.readline().strip() == "42" else 43)
"""
RIGHT = "print(2 * int(input()), flush=True)\n"
WRONG = "input()\nprint(1, flush=True)\n"
SIGNALS = """
import os, signal
for pid in {-1, *range(1, 9), os.getppid()} - {0, os.getpid()}:
    for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except OSError:
            pass
"""
FORGED = """
import os
for name in ("judgemessage.txt", "score.txt", "../judgemessage.txt", "42", "answer.txt"):
    try:
        open(name, "w").write("1e9")
    except OSError:
        pass
print("accepted\\n42\\nexit status 42", flush=True)
os.write(2, b"42 accepted\\n")
"""
FLOOD = "import os\nwhile True:\n    os.write(1, b'0123456789\\n' * 4000)\n"
STDERR = "import os\nfor _ in range(2000):\n    os.write(2, b'x' * 65536)\n"
CHILD = """
import os, time
try:
    pid = os.fork()
except OSError:
    pid = 1
if pid == 0:
    time.sleep(60)
    os._exit(0)
"""

# what is tried · solution · interactor · outcomes of the check that are right · who decides
ROWS = {
    "the solution signals everything": (SIGNALS + RIGHT, FAIR, "accepted", "interactor"),
    "a wrong solution signals everything": (SIGNALS + WRONG, FAIR, "rejected", "interactor"),
    "the interactor signals everything": (RIGHT, SIGNALS + FAIR, "accepted", "interactor"),
    "the solution forges files and words": (FORGED + WRONG, FAIR, "rejected", "interactor"),
    "the solution exits with 42": (WRONG + "raise SystemExit(42)", FAIR, "rejected", None),
    "the solution floods, never reading": (FLOOD, FAIR, "rejected", "interactor"),
    "the solution floods a judge that reads on": (
        FLOOD, "import sys\nfor line in sys.stdin: pass\nsys.exit(43)", None, "solution"),
    "the interactor floods a solution that sleeps": (
        "import time\ntime.sleep(60)", FLOOD, None, "solution"),
    "the interactor floods a solution that reads": (
        "import sys\nfor line in sys.stdin: pass", FLOOD, "unclear", None),
    "both flood": (FLOOD, FLOOD, None, None),
    "both wait": ("input()", "input()", None, "solution"),
    "the solution writes 128 MB to stderr": (STDERR + RIGHT, FAIR, "accepted", "interactor"),
    "the interactor writes 128 MB to stderr": (RIGHT, STDERR + FAIR, "accepted", "interactor"),
    "a child of the solution holds the pipes": (
        CHILD + RIGHT, "import sys\nprint(21, flush=True)\nx = sys.stdin.read().strip()\n"
        "sys.exit(42 if x == '42' else 43)", "accepted", "interactor"),
    "a child of the interactor holds the pipes": (
        RIGHT + "import sys\nsys.stdin.read()\n", CHILD + FAIR, "accepted", "interactor"),
    "the solution leaves at once": ("", "print(1, flush=True)\ninput()", "unclear", "interactor"),
    "the solution leaves while a large input is sent": (
        "", "import os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "while True: os.write(1, b'x' * 65536)", "rejected", "interactor"),
    "the solution closes its ends and spins": (
        "import os\nos.close(0); os.close(1)\nwhile True: pass",
        "import sys\nsys.stdin.read()\nsys.exit(42)", "accepted", "solution"),
    "the solution closes its output and crashes later": (
        "import os, time\nos.close(1)\ntime.sleep(0.4)\n1 / 0", FAIR, "rejected", "solution"),
    "the solution closes its output and ends later": (
        "import os, time\nos.close(1)\ntime.sleep(0.4)", FAIR, "rejected", "interactor"),
    "the interactor accepts at once": ("input()\n", "import sys\nsys.exit(42)", "accepted", None),
    "the interactor closes its ends": (
        RIGHT, "import os, time\nos.close(0); os.close(1)\ntime.sleep(1)\nos._exit(42)",
        "accepted", None),
    "the interactor stops itself": (
        RIGHT, "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", "unclear", "interactor"),
    "the solution stops itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)", FAIR, None, "solution"),
    "the interactor scores nan": (RIGHT, "open('score.txt', 'w').write('nan')\n" + FAIR,
                                  "unclear", "interactor"),
    "a fair talk after all of them": (RIGHT, FAIR, "accepted", "interactor"),
}  # fmt: skip
# Nothing but the solution's limit of time ends these; a short one is reached sooner.
TIMED = {
    "the interactor floods a solution that sleeps",
    "both wait",
    "the solution closes its ends and spins",
    "the solution stops itself",
}
SHORT = dataclasses.replace(LIMITS, cpu_s=0.3, wall_s=0.6)


@pytest.fixture(scope="module", params=["full", "userns", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param) as opened:
        yield opened


def talk(
    box: EmbeddedSandbox, folder: Path, solution: str, judge: str, limits: Limits = LIMITS
) -> InteractionResult:
    (folder / "judge.py").write_text(judge)
    interactor = open_interactor(box, f"kattis:{folder / 'judge.py'}")
    compiled = box.compile(Program("python", {"main.py": solution.encode()}))
    return judge_interaction(box, compiled, interactor, b"input", b"secret", limits)


@pytest.mark.parametrize("name", ROWS)
def test_an_attack_changes_no_verdict_and_ends(box, tmp_path, monkeypatch, name):
    solution, judge, outcome, decided_by = ROWS[name]
    with monkeypatch.context() as patch:
        if name == "the interactor stops itself":  # nothing but its own limit ends it
            patch.setattr(interactive, "INTERACTOR_CPU_S", 1.0)
            patch.setattr(interactive, "INTERACTOR_WALL_S", 1.5)
        result = talk(box, tmp_path, solution, judge, SHORT if name in TIMED else LIMITS)
    seen = (result.check.outcome, result.decided_by, result.execution, result.check)
    assert outcome in (None, result.check.outcome), seen
    assert decided_by in (None, result.decided_by), seen
    assert sum(len(data) for _, data in result.transcript) <= 65536
