"""Run a framework's own code in its environment, against a server of ours."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.frameworks.environments import ENVIRONMENTS, ROOT, python_of, why_missing

CLIENTS = Path(__file__).parent / "clients"
NO_PROXY = {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}


class Server:
    """A server of ours in a process of its own."""

    def __init__(self, port: int = 0, *words: str) -> None:
        command = [sys.executable, "-m", "gradebox.sandbox.server", "--port", str(port), *words]
        self.process = subprocess.Popen(
            command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
        )
        assert self.process.stderr is not None
        heard = ""
        for line in self.process.stderr:
            heard += line
            if line.startswith("listening at"):
                self.url = line.split()[2].rstrip(",")
                break
        else:
            raise AssertionError(f"the server did not start: {heard}")
        self.port = int(self.url.rpartition(":")[2])

    def present(self) -> int:
        """Return the number of requests in it."""
        answer = requests.get(f"{self.url}/health", timeout=30).json()
        return int(answer["present"])

    def wait_for_requests(self, count: int = 1) -> None:
        """Wait until so many requests are in it."""
        deadline = time.monotonic() + 100
        while self.present() < count:
            assert time.monotonic() < deadline, f"no {count} requests came"
            time.sleep(0.1)

    def kill(self) -> None:
        """End it at once, in the middle of what it does."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)

    def close(self) -> None:
        """End it as its users do."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(30)
            self.process.kill()
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture
def start_server() -> Iterator[Callable[..., Server]]:
    """Return a function that starts servers, which end with the test."""
    started: list[Server] = []

    def start(port: int = 0, *words: str) -> Server:
        started.append(Server(port, *words))
        return started[-1]

    yield start
    for server in started:
        server.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One server for the tests of a file."""
    found = Server()
    yield found
    found.close()


class Client:
    """A program of clients/ in the environment of a framework.

    name  of the environment, and of the program unless `program` is given
    """

    def __init__(self, name: str, program: str | None = None) -> None:
        self._command = [str(python_of(name)), str(CLIENTS / f"{program or name}_client.py")]
        path = f"{ROOT}:{ROOT}/src" if ENVIRONMENTS[name].grades else ""
        self._environment = {**os.environ, **NO_PROXY, "PYTHONPATH": path}

    def start(self, what: str, url: str, **arguments: Any) -> subprocess.Popen[str]:
        """Start one of its functions; `read` returns what it answers."""
        given = json.dumps({"what": what, "url": url, **arguments})
        process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment,
        )
        assert process.stdin is not None
        process.stdin.write(given)
        process.stdin.close()
        process.stdin = None
        return process

    @staticmethod
    def read(process: subprocess.Popen[str], timeout_s: float = 150) -> Any:
        """Wait for a started function and return its JSON values."""
        out, err = process.communicate(timeout=timeout_s)
        assert process.returncode == 0, err[-3000:]
        return json.loads(out.splitlines()[-1])

    def call(self, what: str, url: str, **arguments: Any) -> Any:
        """Run one of its functions and return its JSON values."""
        return self.read(self.start(what, url, **arguments))


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest) -> Client:
    """The client of the file's ENVIRONMENT, or its CLIENT; skips where that could not be made."""
    name = request.module.ENVIRONMENT
    why = why_missing(name)
    if why is not None:
        pytest.skip(f"{name}: {why}")
    return Client(name, getattr(request.module, "CLIENT", None))
