"""The cost of the server: 10,000 executes from 32 clients, and the same runs without HTTP.

    python benchmarks/server_load.py [--runs 10000] [--clients 32] [--route execute]
    python benchmarks/server_load.py --route run_code --clients 128 --url http://127.0.0.1:8080
    python benchmarks/server_load.py --route judge0 jobe open_r1 --clients 128 --seconds 60

Prints the wrong results (must be 0), the CPU time per run of the serving process with and without
HTTP (without that of the programs), latencies, and the growth of the server's memory, descriptors
and threads between the first tenth of the runs and the end. Exit status 1 on a wrong result or a
leak. `--url` drives a server that runs already, such as SandboxFusion's own, and prints results
and latencies only. Several routes take turns. `--seconds` makes requests for so long, whatever
`--runs` says, and prints how many programs a second `subprocess.run` starts without a server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)
sys.path.insert(1, f"{sys.path[0]}/src")

from gradebox.sandbox.model import Limits, Program  # noqa: E402
from gradebox.sandbox.opening import open_sandbox  # noqa: E402

SOURCE = '#include <cstdio>\nint main(){long n;if(scanf("%ld",&n)==1)printf("%ld\\n",n*n);}\n'
SUBMITTED_TESTS = 10
TICKS = os.sysconf("SC_CLK_TCK")
IDLE_S = 5.0
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


@dataclass(frozen=True)
class Route:
    """A route of the server: the body of request n, and whether an answer is right."""

    path: str
    body: Callable[[int], dict[str, Any]]
    right: Callable[[int, Any], bool]


def _execute(n: int) -> dict[str, Any]:
    files = [{"content": SOURCE}]
    return {"language": "c++", "version": "*", "files": files, "stdin": str(n)}


def _run_code(n: int) -> dict[str, Any]:
    return {"language": "cpp", "code": SOURCE, "stdin": str(n)}


def _run_python(n: int) -> dict[str, Any]:
    return {"language": "python", "code": PYTHON, "stdin": str(n)}


def _submit(n: int) -> dict[str, Any]:
    tests = [
        {"input": {"stdin": str(m)}, "output": {"stdout": f"{m * m}\n"}}
        for m in range(n, n + SUBMITTED_TESTS)
    ]
    row = {"id": n, "content": "Square.", "labels": "{}", "test": json.dumps(tests)}
    config = {"dataset_type": "CommonOJDataset", "language": "cpp", "provided_data": row}
    completion = f"```cpp\n{SOURCE}```"
    return {"dataset": "squares", "id": n, "completion": completion, "config": config}


PYTHON = "print(int(input()) ** 2)"


def _judge0(n: int) -> dict[str, Any]:
    row = {"source_code": PYTHON, "language_id": 71, "stdin": str(n)}
    return {**row, "expected_output": str(n * n)}


def _jobe(n: int) -> dict[str, Any]:
    return {"run_spec": {"language_id": "python3", "sourcecode": PYTHON, "input": str(n)}}


def _open_r1(n: int) -> dict[str, Any]:
    script = f"import math\nmath.prod([{n % 1000}, {n % 1000}])"
    return {"scripts": [script], "languages": ["python"], "timeout": 10, "request_timeout": 10}


def _ran(n: int, answer: Any) -> bool:
    run = answer.get("run_result") or {}
    return bool(answer["status"] == "Success" and run.get("stdout") == f"{n * n}\n")


ROUTES = {
    "execute": Route(
        "/api/v2/execute", _execute, lambda n, a: bool(a["run"]["stdout"] == f"{n * n}\n")
    ),
    "run_code": Route("/run_code", _run_code, _ran),
    "run_code_python": Route("/run_code", _run_python, _ran),
    "judge0": Route("/submissions?wait=true", _judge0, lambda n, a: bool(a["status"]["id"] == 3)),
    "jobe": Route(
        "/jobe/index.php/restapi/runs", _jobe, lambda n, a: bool(a["stdout"] == f"{n * n}\n")
    ),
    "open_r1": Route(
        "/execute_batch", _open_r1, lambda n, a: bool(a[0]["text"] == str((n % 1000) ** 2))
    ),
    "submit": Route(
        "/submit", _submit, lambda n, a: a["accepted"] and len(a["tests"]) == SUBMITTED_TESTS
    ),
}


async def request_all(
    routes: Sequence[Route],
    url: str,
    runs: int,
    clients: int,
    at_tenth: Callable[[], None] = lambda: None,
    end_s: float = math.inf,
) -> tuple[Counter[str], list[float]]:
    """Return how often each thing went wrong, and the seconds of each request.

    end_s  no request begins later, on the clock of time.monotonic
    """
    import aiohttp

    numbers = iter(range(runs))
    wrong: Counter[str] = Counter()
    seconds: list[float] = []

    async def client(session: aiohttp.ClientSession) -> None:
        for n in numbers:
            if time.monotonic() > end_s:
                return
            route = routes[n % len(routes)]
            began = time.perf_counter()
            try:
                async with session.post(url + route.path, json=route.body(n)) as response:
                    answer = await response.json()
                    if response.status not in (200, 201):
                        wrong[f"status {response.status}"] += 1
                    elif not route.right(n, answer):
                        wrong["wrong answer"] += 1
            except (aiohttp.ClientError, asyncio.TimeoutError) as error:
                wrong[type(error).__name__] += 1
            seconds.append(time.perf_counter() - began)
            if len(seconds) == max(1, runs // 10):
                at_tenth()

    connector = aiohttp.TCPConnector(limit=clients)
    timeout = aiohttp.ClientTimeout(total=600)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:
        await asyncio.gather(*(client(session) for _ in range(clients)))
    return wrong, seconds


def drive(routes: Sequence[Route], url: str, runs: int, clients: int) -> int:
    """Load a server that runs already and print what it did."""
    asyncio.run(request_all(routes, url, min(runs, 8), 2))  # compile, warm up
    began = time.perf_counter()
    wrong, seconds = asyncio.run(request_all(routes, url, runs, clients))
    took = time.perf_counter() - began
    print(f"{runs} requests to {paths(routes)} from {clients} clients in {took:.1f} s")
    print(f"wrong results            {wrong.total()} {dict(wrong) or ''}")
    print_times(seconds)
    return int(bool(wrong))


def for_seconds(routes: Sequence[Route], seconds: float, clients: int) -> int:
    """Load a server of our own for some time and print what it did and what it kept."""
    process, url = start_server()
    try:
        asyncio.run(request_all(routes, url, 2 * clients, clients))  # warm up
        first = footprint(process.pid)
        end_s = time.monotonic() + seconds
        wrong, times = asyncio.run(request_all(routes, url, 1 << 40, clients, end_s=end_s))
        time.sleep(IDLE_S)
        last = footprint(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(90)
    bare = bare_programs(min(seconds, 10.0))
    print(f"{len(times)} requests to {paths(routes)} from {clients} clients in {seconds:.0f} s")
    print(f"wrong results            {wrong.total()} {dict(wrong) or ''}")
    print(f"programs a second        {len(times) / seconds:.0f}; subprocess.run alone {bare:.0f}")
    print_times(times)
    kept = (last.resident_bytes - first.resident_bytes) / 2**20
    print(f"kept after {IDLE_S:g} s idle     {kept:.1f} MiB more than after the warm-up")
    return int(bool(wrong))


def bare_programs(seconds: float) -> float:
    """Return how many runs of the Python program a second `subprocess.run` does on all cores."""
    end_s = time.monotonic() + seconds

    def one_after_another(_: int) -> int:
        done = 0
        while time.monotonic() < end_s:
            subprocess.run([sys.executable, "-c", PYTHON], input=b"7", check=True, stdout=-3)
            done += 1
        return done

    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as pool:
        return sum(pool.map(one_after_another, range(cores))) / seconds


def paths(routes: Sequence[Route]) -> str:
    return ", ".join(route.path for route in routes)


def print_times(seconds: list[float]) -> None:
    seconds.sort()
    at = {part: seconds[int(len(seconds) * part)] * 1000 for part in (0.5, 0.95, 0.99)}
    shown = ", ".join(f"{ms:.1f} ms p{part * 100:g}" for part, ms in at.items())
    print(f"time of a request        {shown}, {seconds[-1] * 1000:.1f} ms longest")


def over_http(
    routes: Sequence[Route], runs: int, clients: int
) -> tuple[Counter[str], list[float], Footprint, Footprint, Footprint]:
    process, url = start_server()
    try:
        asyncio.run(request_all(routes, url, clients, clients))  # compile, warm up
        first = footprint(process.pid)
        tenth: list[Footprint] = []
        wrong, seconds = asyncio.run(
            request_all(routes, url, runs, clients, lambda: tenth.append(footprint(process.pid)))
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
            return box.run(compiled, Limits(), stdin=b"%d" % n).stdout == b"%d\n" % (n * n)

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
    parser.add_argument("--route", choices=ROUTES, nargs="+", default=["execute"])
    parser.add_argument("--seconds", type=float, help="how long, instead of --runs")
    parser.add_argument("--url", help="a server that runs already")
    options = parser.parse_args(argv)
    if options.runs < 10 or options.clients < 1:
        parser.error("--runs must be at least 10, --clients at least 1")
    routes = [ROUTES[name] for name in options.route]
    if options.seconds:
        return for_seconds(routes, options.seconds, options.clients)
    if options.url:
        return drive(routes, options.url.rstrip("/"), options.runs, options.clients)
    began = time.perf_counter()
    wrong, seconds, first, tenth, last = over_http(routes, options.runs, options.clients)
    took = time.perf_counter() - began
    wrong_directly, cpu_directly = without_http(options.runs)
    with_ms = (last.cpu_s - first.cpu_s) / options.runs * 1000
    without_ms = cpu_directly / options.runs * 1000
    gained = (
        last.resident_bytes - tenth.resident_bytes,
        last.descriptors - tenth.descriptors,
        last.threads - tenth.threads,
    )
    leaks = gained[0] > LEAK_BYTES or gained[1] > LEAK_DESCRIPTORS or gained[2] > LEAK_THREADS
    print(
        f"{options.runs} requests to {paths(routes)} from {options.clients} clients in {took:.1f} s"
    )
    print(f"wrong results            {wrong.total()} {dict(wrong) or ''}, {wrong_directly} without")
    print(f"server CPU per request   {with_ms:.2f} ms; one run without HTTP {without_ms:.2f} ms")
    if options.route != ["submit"]:
        print(f"cost of HTTP per run     {with_ms - without_ms:.2f} ms of CPU")
    print_times(seconds)
    print(
        f"growth since a tenth     {gained[0] / 2**20:.1f} MiB, {gained[1]} descriptors, "
        f"{gained[2]} threads"
    )
    return int(bool(wrong or wrong_directly or leaks))


if __name__ == "__main__":
    sys.exit(main())
