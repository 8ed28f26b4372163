"""Warm workers for the second tier, each pair with its own CPU limit.

    judge(pair) ─▶ an idle worker (or a new fork) ─▶ reply
                └▶ no reply in time ─▶ that worker is killed: "not equal", time limit

CPU time decides: a soft limit inside the worker ends what runs Python, a kill from outside
ends the rest. A pair that waits for a busy machine is not punished until 3 × limit + 2 s
of wall clock have passed.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from checkers.math import wire
from checkers.math.policy import Policy
from sandbox.closing import Closing
from sandbox.errors import SandboxError

MEMORY_BYTES = 512 << 20  # above what a fresh worker has
START_S = 120.0
GRACE_S = 0.15  # for the soft limit to be reported
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from checkers.math import zygote; zygote.main(int(sys.argv[2]), int(sys.argv[3]))"
)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Outcome:
    """equal, and why: text, value, choice, engine, time limit, memory limit, crashed, …"""

    equal: bool
    reason: str


class Worker:
    """One worker process, seen from the caller."""

    def __init__(self, pid: int, sock: socket.socket):
        self.pid = pid
        self.sock = sock

    def ask(self, request: dict[str, Any], timeout_s: float) -> tuple[Outcome | None, bool]:
        """(outcome, alive): None when the limit passed without a reply.

        Raises wire.Closed when the worker ended by itself.
        """
        before = cpu_seconds(self.pid)
        start = time.monotonic()
        wire.send(self.sock, request)
        wait = timeout_s + GRACE_S
        while not select.select([self.sock], [], [], wait)[0]:
            used = cpu_seconds(self.pid) - before
            waited = time.monotonic() - start
            if used >= timeout_s + GRACE_S / 2 or waited >= 3 * timeout_s + 2:
                return None, False
            wait = max(0.02, min(timeout_s + GRACE_S - used, 3 * timeout_s + 2 - waited))
        reply = wire.receive(self.sock, wire.LARGEST_REPLY)
        equal, reason = reply.get("equal"), reply.get("reason")
        if not isinstance(equal, bool) or not isinstance(reason, str):
            raise wire.Closed("a reply of another form")
        return Outcome(equal, reason), not reply.get("last")


def cpu_seconds(pid: int) -> float:
    """CPU seconds a process has used; 0 when that cannot be read."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


class Pool(Closing):
    """At most `workers` worker processes; every method may be called from any thread."""

    def __init__(self, workers: int | None = None, memory_bytes: int = MEMORY_BYTES):
        if workers is not None and workers < 1:
            raise ValueError(f"workers is {workers}: at least 1 is needed")
        self.size = workers or available_cores()
        self.memory_bytes = memory_bytes
        self._free = threading.BoundedSemaphore(self.size)
        self._lock = threading.Lock()
        self._idle: list[Worker] = []
        self._zygote: Zygote | None = None
        _pools.add(self)

    def judge(self, gold: str, answer: str, policy: Policy, timeout_s: float) -> Outcome:
        """The verdict on one pair of answers; SandboxError when no worker can be had."""
        pair = {"gold": gold, "answer": answer, "policy": policy.as_json()}
        return self._ask({**pair, "timeout": timeout_s}, timeout_s)

    def probe(self, kind: str, text: str, timeout_s: float) -> Outcome:
        """Whether a worker can read `text` as a "matrix" or an "interval"; reason: why not."""
        return self._ask({"probe": kind, "text": text, "timeout": timeout_s}, timeout_s)

    def _ask(self, request: dict[str, Any], timeout_s: float) -> Outcome:
        with self._free:
            for _ in range(2):
                worker = self._take()
                alive = False
                try:
                    outcome, alive = worker.ask(request, timeout_s)
                    return outcome or Outcome(False, "time limit")
                except (wire.Closed, OSError):
                    continue
                finally:
                    self._give_back(worker, alive)
        return Outcome(False, "crashed")

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._zygote is None:
                self._zygote = Zygote(self.memory_bytes)
            try:
                return self._zygote.fork()
            except (OSError, ValueError):
                self._zygote.close()
                self._zygote = Zygote(self.memory_bytes)
                return self._zygote.fork()

    def _give_back(self, worker: Worker, alive: bool) -> None:
        with self._lock:
            if alive:
                self._idle.append(worker)
            else:
                worker.sock.close()
                if self._zygote is not None:
                    self._zygote.kill(worker.pid)

    def pids(self) -> list[int]:
        """Process numbers of the workers that wait for a pair."""
        with self._lock:
            return [w.pid for w in self._idle]

    def forget(self) -> None:
        """In a forked child: the parent's workers are not ours."""
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self.size)
        for worker in self._idle:
            worker.sock.close()
        self._idle = []
        if self._zygote is not None:
            self._zygote.control.close()
        self._zygote = None

    def close(self) -> None:
        """Ends every process of it; a later call starts anew."""
        with self._lock:
            for worker in self._idle:
                worker.sock.close()
            self._idle = []
            if self._zygote is not None:
                self._zygote.close()
                self._zygote = None


class Zygote:
    """The process workers are forked from, seen from the caller."""

    def __init__(self, memory_bytes: int):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        args = [sys.executable, "-c", _BOOT, json.dumps(_search_path())]
        self.process = subprocess.Popen(
            [*args, str(theirs.fileno()), str(memory_bytes)],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self.errors,
            env=_environment(),
            start_new_session=True,
        )
        theirs.close()
        self.control.settimeout(START_S)
        try:
            self._receive()
        except (OSError, ValueError) as e:
            reason = self._last_error() or str(e)
            self.close()
            raise SandboxError(
                f"the math workers did not start: {reason}; "
                "they need sympy and math-verify (pip install math-verify)"
            ) from None

    def _receive(self) -> dict[str, Any]:
        data = self.control.recv(4096)
        if not data:
            raise ConnectionError("the zygote ended")
        message = json.loads(data)
        if not isinstance(message, dict):
            raise ValueError("no JSON object")
        return message

    def _last_error(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def fork(self) -> Worker:
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self.control, [b'{"op": "fork"}'], [theirs.fileno()])
            return Worker(int(self._receive()["pid"]), ours)
        except (OSError, ValueError):
            ours.close()
            raise
        finally:
            theirs.close()

    def kill(self, pid: int) -> None:
        try:
            self.control.send(json.dumps({"op": "kill", "pid": pid}).encode())
            self._receive()
        except (OSError, ValueError):
            self.process.kill()

    def close(self) -> None:
        self.control.close()
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.close()


def _search_path() -> list[str]:
    root = str(Path(__file__).resolve().parents[2])
    return [root, *(p for p in sys.path if p and Path(p).resolve() != Path(__file__).parent)]


def _environment() -> dict[str, str]:
    kept = ("PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "SYSTEMROOT")
    fixed = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**{k: os.environ[k] for k in kept if k in os.environ}, **fixed}


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_shared: Pool | None = None
_shared_lock = threading.Lock()


def shared() -> Pool:
    """The pool of this process, made at the first use."""
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Pool()
            atexit.register(_shared.close)
        return _shared


def _after_fork() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for pool in list(_pools):
        pool.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
