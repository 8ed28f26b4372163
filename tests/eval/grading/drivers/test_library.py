"""A `Grader` with driver processes, and what a driver must not take from its environment."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.grading.drivers import pool as pool_module
from gradebox.eval.grading.drivers import process as process_module
from testing.fakes.fake_drivers import PAUSE, fake_drivers
from testing.submissions.hostile.host import is_running, wait_until_gone
from tests.eval.grading.drivers.small_work import ROOT
from tests.eval.grading.drivers.test_deaths import driver_pids, pools

pytestmark = pytest.mark.slow
CASES = [{"input": f"{n}\n", "output": f"{n}\n"} for n in range(5)]
PROBLEM = {"id": "1/A", "official_tests": CASES}
LARGE = {"id": "2/A", "official_tests": [{"input": "x" * 500_000, "output": "x"}]}
ROWS = [{"problem_id": "1/A", "code": f"{'wrong' if n % 2 else 'right'} {n}"} for n in range(12)]


@pytest.fixture(autouse=True)
def fake() -> Iterator[None]:
    with fake_drivers():
        yield


def grader(drivers: int = 2, **flags: object) -> Grader:
    return Grader([PROBLEM, LARGE], sandbox="local", workers=4, drivers=drivers, **flags)


def wait_until_given() -> None:
    """Wait until a driver has solutions."""
    while not any(driver.sent for pool in pools() for driver in list(pool.drivers)):
        time.sleep(0.01)


def test_a_batch_has_the_records_of_one_process():
    rows = [*ROWS, ROWS[0], {"problem_id": "2/A", "code": "x"}, {"problem_id": "3/A", "code": "x"}]
    with grader(1) as one, grader(2) as two:
        assert two.grade(rows) == one.grade(rows)
        assert len(driver_pids()) == 2
    assert driver_pids() == []


def test_batches_of_several_threads_share_the_drivers():
    with grader(3) as shared, ThreadPoolExecutor(6) as threads:
        found = list(threads.map(shared.grade, [ROWS] * 12))
        assert len(driver_pids()) == 3
    assert [[r["verdict"] for r in records] for records in found] == [["AC", "WA"] * 6] * 12


def test_problems_that_follow_each_other_endlessly_are_forgotten():
    with Grader(sandbox="local", workers=2, drivers=2) as shared:
        for number in range(80):
            tests = [{"input": f"{number}\n", "output": f"{number}\n"}]
            row = {"id": f"{number}/A", "official_tests": tests}
            assert shared.grade([{"code": "right"}], row)[0]["verdict"] == "AC"
        known = [len(d._known) for d in shared._session._parts["own drivers"].drivers]
    assert 0 < max(known) <= process_module.MOST_KNOWN


def test_closing_ends_a_running_batch(monkeypatch):
    monkeypatch.setenv(PAUSE, "0.1")
    shared = grader()
    rows = [{"problem_id": "1/A", "code": f"right {n}"} for n in range(200)]
    found: list[list[dict]] = []
    batch = threading.Thread(target=lambda: found.append(shared.grade(rows)))
    batch.start()
    wait_until_given()
    shared.close()
    batch.join(150)
    assert {r["error"] for r in found[0] if r["status"] == "error"} == {"the grader was closed"}
    assert driver_pids() == []


def test_closing_does_not_wait_for_the_rest_of_a_message(monkeypatch):
    monkeypatch.setattr(process_module, "MAIN", "testing.fakes.fake_drivers:send_half")
    monkeypatch.setattr(pool_module, "CLOSE_S", 0.3)
    shared = grader()
    batch = threading.Thread(target=lambda: shared.grade(ROWS), daemon=True)
    batch.start()
    while not driver_pids():
        time.sleep(0.01)
    time.sleep(0.5)
    closing = threading.Thread(target=shared.close, daemon=True)
    closing.start()
    closing.join(150)
    batch.join(150)
    assert not closing.is_alive()
    assert not batch.is_alive()
    assert driver_pids() == []


def test_a_killed_driver_between_two_batches_is_replaced():
    with grader() as shared:
        shared.grade(ROWS)
        killed = driver_pids()[0]
        os.kill(killed, signal.SIGKILL)
        assert [r["verdict"] for r in shared.grade(ROWS)] == ["AC", "WA"] * 6
        while killed in driver_pids() or len(driver_pids()) < 2:
            time.sleep(0.01)


FORKED = """
import os, sys, time
sys.path.append(os.getcwd())
from testing.fakes.fake_drivers import fake_drivers
from gradebox.eval.api.grader import Grader
from tests.eval.grading.drivers.test_library import PROBLEM, ROWS
from tests.eval.grading.drivers.test_deaths import driver_pids
with fake_drivers():
    grader = Grader([PROBLEM], sandbox="local", workers=2, drivers=2)
    grader.grade(ROWS)
    print(*driver_pids(), flush=True)
    if not os.fork():
        assert [r["verdict"] for r in grader.grade(ROWS)] == ["AC", "WA"] * 6
        grader.close()
        print("child", flush=True)
        os.close(1)
        time.sleep(60)
    time.sleep(60)
"""


def test_a_forked_child_has_drivers_of_its_own_and_keeps_none_alive():
    with subprocess.Popen(
        [sys.executable, "-c", FORKED], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        assert len(pids) == 2
        assert parent.stdout.readline() == "child\n"
        assert all(map(is_running, pids))
        parent.kill()
        parent.wait()
        wait_until_gone(pids)
