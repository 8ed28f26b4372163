"""With four times more load than cores, waiting for a core does not count against a program."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import Compiled, Limits, Program
from testing.submissions.hostile import host
from tests.sandbox.levels import box_at, built

PROGRAM = Path(__file__).parent / "programs" / "uses.cpp"
pytestmark = pytest.mark.slow
LOAD = 4


@pytest.fixture
def load() -> Iterator[None]:
    """Load all cores, for no longer than a test: other tests run beside it."""
    count = LOAD * len(os.sched_getaffinity(0))
    spinners = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(count)]
    yield
    for spinner in spinners:
        spinner.kill()
        spinner.wait()


@pytest.fixture(scope="module", params=["full", "landlock"])
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def uses(box: EmbeddedSandbox) -> Compiled:
    return built(box, PROGRAM.read_bytes())


@pytest.mark.parametrize(("way", "ms"), [("cpu", 120), ("cpu_threads", 40), ("cpu_children", 40)])
def test_a_starved_program_is_not_stopped_by_the_wall_clock(box, uses, load, way, ms):
    if way == "cpu_children" and box.describe().level != "full":
        pytest.skip("without a group a run is one process")
    limits = Limits(cpu_s=0.4, wall_s=0.5)
    result = box.run(uses, limits, args=(way, str(ms)))
    assert (result.killed_for, result.exit_code is None) == (None, False)


@pytest.mark.parametrize("share", [0.8, 1.25])
def test_the_outcome_is_the_same_every_time(box, uses, load, share):
    limits = Limits(cpu_s=0.06, wall_s=3 * 0.06 + 2)
    ends = {box.run(uses, limits, args=("cpu", str(60 * share))).killed_for for _ in range(3)}
    assert ends == ({None} if share < 1 else {"cpu"})


def test_a_sleeping_program_is_still_stopped(box, load):
    source = b"import time\nwhile True: time.sleep(0.003)"
    nap = box.compile(Program("python", {"main.py": source}))
    result = box.run(nap, Limits(cpu_s=20, wall_s=0.5))
    assert result.killed_for == "wall"
    assert result.cpu_s < 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may stop the programs of a box")
def test_time_in_which_a_whole_box_was_stopped_does_not_count(box):
    limits = Limits(cpu_s=20, wall_s=0.5)
    source = b"import time\nend = time.process_time() + .3\nwhile time.process_time() < end: pass\n"
    spin = box.compile(Program("python", {"main.py": source}))
    box.run(spin, limits)
    over = threading.Event()

    def stop() -> None:
        while not over.wait(0.2):
            pids = host.children(os.getpid())
            for what in (signal.SIGSTOP, signal.SIGCONT):
                for pid in pids:
                    with contextlib.suppress(ProcessLookupError):  # of a run before, which ends
                        os.kill(pid, what)
                time.sleep(0 if what == signal.SIGCONT else 2 * limits.wall_s)

    stopper = threading.Thread(target=stop)
    stopper.start()
    try:
        result = box.run(spin, limits)
    finally:
        over.set()
        stopper.join()
    assert (result.killed_for, result.exit_code) == (None, 0)
    assert result.wall_s > limits.wall_s
