"""POST /grade of a server with driver processes."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests

from gradebox.eval.api.service import GradeService
from gradebox.eval.grading.drivers.pool import DriverPool
from gradebox.eval.results.records import fields_of
from gradebox.sandbox.server.settings import ServerSettings
from testing.fakes.fake_drivers import PAUSE, fake_drivers, fake_sandbox
from testing.submissions.hostile.host import wait_until_gone
from tests.eval.api.test_service import serving, unmeasured
from tests.eval.grading.drivers.test_deaths import driver_pids, pools

pytestmark = pytest.mark.slow
CASES = [{"input": f"{n}\n", "output": f"{n}\n"} for n in range(5)]
ROW = {"id": "1/A", "official_tests": CASES}
SOLUTIONS = [{"code": f"{'wrong' if n % 2 else 'right'} {n}"} for n in range(12)]


@pytest.fixture(autouse=True)
def fake() -> Iterator[None]:
    with fake_drivers():
        yield


def box() -> Any:
    sandbox = fake_sandbox()
    sandbox.slots = 4
    return sandbox


def open_pools() -> list[DriverPool]:
    return [pool for pool in pools() if pool.drivers]


def post(url: str, solutions: Any = SOLUTIONS, **more: Any) -> requests.Response:
    body = {"solutions": solutions, "problem": ROW, **more}
    return requests.post(f"{url}/grade", json=body, timeout=150)


def verdicts(answer: requests.Response) -> list[str]:
    return [record["verdict"] for record in answer.json()["records"]]


def test_requests_with_any_flags_are_answered_by_the_same_drivers():
    flags = [{}, *({"max_stored_output": n} for n in range(10)), {"stop_on_first_failure": True}]
    with serving(box(), drivers=1) as url:
        alone = [post(url, flags=given).json()["records"] for given in flags]
    with serving(box(), drivers=2) as url, ThreadPoolExecutor(4) as threads:
        pids = driver_pids()
        found = list(threads.map(lambda given: post(url, flags=given).json()["records"], flags * 2))
        assert driver_pids() == pids
        assert len(pids) == 2
    assert [unmeasured(records) for records in found] == [unmeasured(r) for r in alone * 2]
    wait_until_gone(pids)


def test_the_work_of_a_client_that_disconnects_ends(monkeypatch):
    monkeypatch.setenv(PAUSE, "0.1")
    solutions = [{"code": f"right {n}"} for n in range(2000)]  # 250 s for four workers
    body = json.dumps({"solutions": solutions, "problem": ROW})
    with serving(box(), drivers=2, slots=1) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            client.sendall(f"POST /grade HTTP/1.1\r\nHost: {host}\r\n{head}{body}".encode())
            (pool,) = open_pools()
            while not any(driver.sent for driver in pool.drivers):
                time.sleep(0.01)
        assert verdicts(post(url, SOLUTIONS[:4])) == ["AC", "WA"] * 2  # its only slot is free


def test_closing_ends_running_calls_and_drivers(monkeypatch):
    monkeypatch.setenv(PAUSE, "0.1")
    calls = GradeService(box(), ServerSettings(drivers=2))
    pids, found = driver_pids(), []
    rows = [{"code": f"right {n}"} for n in range(200)]
    call = threading.Thread(target=lambda: found.append(calls.grade(rows, [ROW])))
    call.start()
    (pool,) = open_pools()
    while not any(driver.sent for driver in pool.drivers):
        time.sleep(0.01)
    calls.close()
    call.join(150)
    records = [fields_of(record) for record in found[0]]  # the first may have been graded
    errors = {record["error"] for record in records if record["status"] == "error"}
    assert errors == {"the grader was closed"}
    wait_until_gone(pids)
