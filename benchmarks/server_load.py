"""The cost of the server: 10,000 executes from 32 clients, and the same runs without HTTP.

    python benchmarks/server_load.py [--runs 10000] [--clients 32]

Prints the wrong results (must be 0), the CPU time per run of the serving process with and without
HTTP (without that of the programs), latencies, and the growth of the server's memory, descriptors
and threads between the first tenth of the runs and the end. Exit status 1 on a wrong result or a
leak.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from gradebox.sandbox.model import Limits, Program  # noqa: E402
from gradebox.sandbox.opening import open_sandbox  # noqa: E402

SOURCE = '#include <cstdio>\nint main(){long n;if(scanf("%ld",&n)==1)printf("%ld\\n",n*n);}\n'
TICKS = os.sysconf("SC_CLK_TCK")
LEAK_BYTES, LEAK_DESCRIPTORS, LEAK_THREADS = 32 << 20, 8, 4


@dataclass(frozen=True)
class Footprint:
    """The resources of a process."""

    cpu_s: float
    resident_bytes: int
    descriptors: int
    threads: int


def footprint(pid: int) -> Footprint:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return Footprint(
        cpu_s=(int(fields[11]) + int(fields[12])) / TICKS,
        resident_bytes=pages * os.sysconf("SC_PAGE_SIZE"),
        descriptors=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        threads=int(fields[17]),
    )


def start_server() -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "gradebox.sandbox.server", "--port", "0"]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    output = ""
    for line in process.stderr:
        output += line
        if line.startswith("listening at"):
            return process, line.split()[2].rstrip(",")
    raise SystemExit(f"the server did not start: {output}")


async def execute_all(
    url: str, runs: int, clients: int, at_tenth: Callable[[], None]
) -> tuple[int, list[float]]:
    """Return the number of wrong results, and the seconds of each request."""
    import aiohttp

    numbers = iter(range(runs))
    wrong = 0
    seconds: list[float] = []

    async def client(session: aiohttp.ClientSession) -> None:
        nonlocal wrong
        for n in numbers:
            body: dict[str, Any] = {
                "language": "c++",
                "version": "*",
                "files": [{"content": SOURCE}],
                "stdin": str(n),
            }
            began = time.perf_counter()
            async with session.post(f"{url}/api/v2/execute", json=body) as response:
                answer = await response.json()
            seconds.append(time.perf_counter() - began)
            right = response.status == 200 and answer["run"]["stdout"] == f"{n * n}\n"
            wrong += not right
            if len(seconds) == runs // 10:
                at_tenth()

    connector = aiohttp.TCPConnector(limit=clients)
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        await asyncio.gather(*(client(session) for _ in range(clients)))
    return wrong, seconds


def over_http(runs: int, clients: int) -> tuple[int, list[float], Footprint, Footprint, Footprint]:
    process, url = start_server()
    try:
        asyncio.run(execute_all(url, clients, clients, lambda: None))  # compile, warm up
        first = footprint(process.pid)
        tenth: list[Footprint] = []
        wrong, seconds = asyncio.run(
            execute_all(url, runs, clients, lambda: tenth.append(footprint(process.pid)))
        )
        last = footprint(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)
    return wrong, seconds, first, tenth[0], last


def without_http(runs: int) -> tuple[int, float]:
    """Do the same runs in the box. Return wrong results and CPU seconds of this process."""
    with open_sandbox("local") as box:

        def one(n: int) -> bool:
            compiled = box.compile(Program("c++17", {"main.cpp": SOURCE.encode()}))
            try:
                return box.run(compiled, Limits(), stdin=b"%d" % n).stdout == b"%d\n" % (n * n)
            finally:
                compiled.close()

        one(0)
        with ThreadPoolExecutor(box.slots) as pool:
            began = footprint(os.getpid()).cpu_s
            right = sum(pool.map(one, range(runs)))
            return runs - right, footprint(os.getpid()).cpu_s - began


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args(argv)
    if options.runs < 100 or options.clients < 1:
        parser.error("--runs must be at least 100, --clients at least 1")
    began = time.perf_counter()
    wrong, seconds, first, tenth, last = over_http(options.runs, options.clients)
    took = time.perf_counter() - began
    wrong_directly, cpu_directly = without_http(options.runs)
    with_ms = (last.cpu_s - first.cpu_s) / options.runs * 1000
    without_ms = cpu_directly / options.runs * 1000
    seconds.sort()
    gained = (
        last.resident_bytes - tenth.resident_bytes,
        last.descriptors - tenth.descriptors,
        last.threads - tenth.threads,
    )
    leaks = gained[0] > LEAK_BYTES or gained[1] > LEAK_DESCRIPTORS or gained[2] > LEAK_THREADS
    print(f"{options.runs} executes from {options.clients} clients in {took:.1f} s")
    print(f"wrong results            {wrong} over HTTP, {wrong_directly} without")
    print(f"server CPU per run       {with_ms:.2f} ms; without HTTP {without_ms:.2f} ms")
    print(f"cost of HTTP per run     {with_ms - without_ms:.2f} ms of CPU")
    print(
        f"time of a request        {seconds[len(seconds) // 2] * 1000:.1f} ms median, "
        f"{seconds[int(len(seconds) * 0.99)] * 1000:.1f} ms 99th percentile"
    )
    print(
        f"growth since a tenth     {gained[0] / 2**20:.1f} MiB, {gained[1]} descriptors, "
        f"{gained[2]} threads"
    )
    return int(bool(wrong or wrong_directly or leaks))


if __name__ == "__main__":
    sys.exit(main())
