"""POST /grade under load, by driver processes: what bounds a server with many cores.

    python benchmarks/server_grading.py [--cases 40000]

The sandbox is the stand-in: 64 programs at once that sleep 2 ms and need no core. CPU time is that
of the server's own process and of its drivers. The delay is that of GET /health meanwhile, which
shows how long something else holds the event loop. Requests have 8 solutions of a problem with 50
tests; small ones have one solution and 5 tests, large ones one solution and an input of 48 MB.
"""

from __future__ import annotations

import argparse
import asyncio
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)
sys.path.insert(1, f"{sys.path[0]}/src")

from benchmarks.server_load import footprint  # noqa: E402
from benchmarks.stand_in import StandIn  # noqa: E402

SLOTS, CLIENTS, SOLUTIONS, TESTS, LARGE_BYTES = 64, 16, 8, 50, 48 << 20


def serve(drivers: int) -> None:
    """Be a server whose programs need no core; print its port."""
    from benchmarks import stand_in_driver
    from gradebox.eval.api.service import open_service
    from gradebox.eval.grading.drivers import process
    from gradebox.sandbox.server.app import serve as serve_until_signal
    from gradebox.sandbox.server.settings import ServerSettings

    process.MAIN = stand_in_driver.MAIN
    settings = ServerSettings(port=0, slots=SLOTS, drivers=drivers)
    with StandIn(SLOTS) as sandbox:
        sandbox._cores.slots = SLOTS  # which a sandbox that needs no cores has
        service = open_service(sandbox, settings)
        ready = lambda port: print(port, flush=True)  # noqa: E731
        asyncio.run(serve_until_signal(sandbox, settings, None, grading=service, ready=ready))
        service.close()


@contextmanager
def server(drivers: int) -> Iterator[tuple[int, int]]:
    """Start a server; yield its process and its port."""
    command = [sys.executable, __file__, "--serve", str(drivers)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.pid, int(process.stdout.readline())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def request(number: int, count: int = SOLUTIONS, size: int = TESTS) -> bytes:
    """Return a body; solutions of all requests differ, the problem of every ten is the same."""
    tests = [
        {"input": f"{number // 10} {i}\n", "output": f"{number // 10} {i}\n"} for i in range(size)
    ]
    solutions = [{"language": "c", "code": f"// {number} {i}"} for i in range(count)]
    row = {"id": "1/A", "time_limit": 1.0, "official_tests": tests}
    return json.dumps({"problem": row, "solutions": solutions}).encode()


def large_request() -> bytes:
    """Return a body whose one input is large."""
    text = "12345 67890\n" * (LARGE_BYTES // 12)
    row = {"id": "1/A", "time_limit": 1.0, "official_tests": [{"input": text, "output": text}]}
    return json.dumps({"problem": row, "solutions": [{"language": "c", "code": "//"}]}).encode()


def post(port: int, body: bytes, accepted: int) -> None:
    """Send a body; raise AssertionError unless so many cases are accepted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    connection.request("POST", "/grade", body, {"Content-Type": "application/json"})
    answer = connection.getresponse()
    raw = answer.read()
    connection.close()
    assert answer.status == 200, raw[:300]
    assert raw.count(b'"passed_by_exact_match"') == accepted, raw[:300]


class Delays:
    """Seconds that GET /health takes, 20 times per second."""

    def __init__(self, port: int) -> None:
        self.seconds: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._ask, args=(port,))
        self._thread.start()

    def _ask(self, port: int) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        while not self._stop.wait(0.05):
            began = time.perf_counter()
            connection.request("GET", "/health")
            connection.getresponse().read()
            self.seconds.append(time.perf_counter() - began)
        connection.close()

    def stop(self) -> list[float]:
        """Return them in ascending order."""
        self._stop.set()
        self._thread.join()
        return sorted(self.seconds)


def children_cpu_s(pid: int) -> float:
    """Return the CPU time of a server's drivers."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    named = [int(child) for child in children if b"stand_in" in cmdline(int(child))]
    return sum(footprint(child).cpu_s for child in named)


def cmdline(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def measure(drivers: int, bodies: list[bytes], cases: int, most: int) -> None:
    """Print the figures of one server."""
    with server(drivers) as (pid, port), ThreadPoolExecutor(most) as pool:
        for _ in range(2 * max(1, drivers)):
            post(port, bodies[0], cases)
        own, of_drivers, began = footprint(pid).cpu_s, children_cpu_s(pid), time.perf_counter()
        delays = Delays(port)
        for done in [pool.submit(post, port, body, cases) for body in bodies]:
            done.result()
        took, total = time.perf_counter() - began, cases * len(bodies)
        found = delays.stop()
        own_us = (footprint(pid).cpu_s - own) / total * 1e6
        drivers_us = (children_cpu_s(pid) - of_drivers) / total * 1e6
    print(
        f"{drivers:7}  {total / took:8.0f}  {own_us:9.1f}  {drivers_us:9.1f}  "
        f"{found[len(found) // 2] * 1000:9.1f}  {found[-1] * 1000:9.1f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=40_000)
    parser.add_argument("--drivers", default="1,2,4")
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        serve(options.serve)
        return 0
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    a_request = SOLUTIONS * TESTS
    bodies = [request(number) for number in range(max(1, options.cases // a_request))]
    print("                   us of CPU a case: ms until /health answers:")
    print("drivers   cases/s     server    drivers     median    longest")
    for drivers in map(int, options.drivers.split(",")):
        measure(drivers, bodies, a_request, CLIENTS)
    print("small requests")
    small = [request(number, 1, 5) for number in range(max(1, options.cases // 40))]
    for drivers in map(int, options.drivers.split(",")):
        measure(drivers, small, 5, CLIENTS)
    print("large bodies")
    measure(1, [large_request()] * 4, 1, 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
