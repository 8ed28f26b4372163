"""A pool of warm worker processes for the second tier, with a CPU limit for each pair.

    judge(pair) ─▶ an idle worker, or a new fork ─▶ reply
                └▶ no reply in time ─▶ the worker is killed: not equal, "time limit"

The limit is CPU time. A signal inside the worker stops Python code, a kill from outside stops
the rest. A pair that gets no CPU on a busy machine ends after 3 × limit + 2 s of wall time.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

from gradebox.checkers.math.policy import Policy
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.common.socket_pair import blocking_pair
from gradebox.sandbox.errors import SandboxError

MEMORY_BYTES = 512 << 20  # above what a fresh worker uses
MAX_REPLY_BYTES = 64 * 1024
START_S = 120.0
GRACE_S = 0.15  # for the worker to report its own limit
_BOOT = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from gradebox.checkers.math.workers import zygote; "
    "zygote.main(int(sys.argv[2]), int(sys.argv[3]))"
)
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Outcome:
    """A verdict, its reason (text, value, choice, time limit, crashed, …), two readings."""

    equal: bool
    reason: str
    readings: tuple[str, ...] = ()


class Worker:
    """One worker process, seen from the caller.

    Messages are JSON, never pickles: a worker has read hostile text, so that its reply must
    not be able to do more than give a boolean and a short text.
    """

    def __init__(self, pid: int, sock: socket.socket):
        self.pid = pid
        self.connection = Connection(sock.detach())

    def ask(self, request: dict[str, Any], timeout_s: float) -> tuple[Outcome | None, bool]:
        """Return (outcome, alive); the outcome is None when the limit passed without a reply.

        Raises EOFError, OSError or ValueError when the worker ended or its reply is invalid.
        """
        cpu_before = cpu_seconds(self.pid)
        start = time.monotonic()
        self.connection.send_bytes(json.dumps(request).encode())
        wait = timeout_s + GRACE_S
        while not self.connection.poll(wait):
            used = cpu_seconds(self.pid) - cpu_before
            waited = time.monotonic() - start
            if used >= timeout_s + GRACE_S / 2 or waited >= 3 * timeout_s + 2:
                return None, False
            wait = max(0.02, min(timeout_s + GRACE_S - used, 3 * timeout_s + 2 - waited))
        reply = json.loads(self.connection.recv_bytes(MAX_REPLY_BYTES))
        if not (
            isinstance(reply, dict)
            and isinstance(reply.get("equal"), bool)
            and isinstance(reply.get("reason"), str)
            and isinstance(readings := reply.get("readings", []), list)
        ):
            raise ValueError("a worker's reply has another form")
        found = Outcome(reply["equal"], reply["reason"], tuple(map(str, readings)))
        return found, not reply.get("last")


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process; 0 when /proc does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


_pools: weakref.WeakSet[Pool] = weakref.WeakSet()


class Pool(Closeable):
    """At most `workers` worker processes. Every method may be called from any thread."""

    def __init__(self, workers: int | None = None, memory_bytes: int = MEMORY_BYTES):
        if workers is not None and workers < 1:
            raise ValueError(f"workers is {workers}: at least 1 is needed")
        self.size = workers or usable_cores()
        self.memory_bytes = memory_bytes
        self._zygote: ZygoteClient | None = None
        self._idle: list[Worker] = []
        self._make_locks()
        _pools.add(self)

    def _make_locks(self) -> None:
        self._lock = threading.Lock()
        self._free = threading.BoundedSemaphore(self.size)

    def judge(
        self, gold: str, answer: str, policy: Policy, timeout_s: float, explain: bool = False
    ) -> Outcome:
        """Return the verdict on one pair, with `explain` how both are read.

        Raises SandboxError when no worker can be started.
        """
        request = {"gold": gold, "answer": answer, "policy": asdict(policy), "explain": explain}
        return self._ask(request, timeout_s)

    def probe(self, kind: str, text: str, timeout_s: float) -> Outcome:
        """Return whether a worker can read `text` as a "matrix" or an "interval"."""
        return self._ask({"probe": kind, "text": text}, timeout_s)

    def _ask(self, request: dict[str, Any], timeout_s: float) -> Outcome:
        with self._free:
            for _ in range(2):
                worker = self._take()
                alive = False
                try:
                    outcome, alive = worker.ask({**request, "timeout": timeout_s}, timeout_s)
                    return outcome or Outcome(False, "time limit")
                except (EOFError, OSError, ValueError, RecursionError):
                    continue
                finally:
                    self._give_back(worker, alive)
        return Outcome(False, "crashed")

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._zygote is None:
                self._zygote = ZygoteClient(self.memory_bytes)
            try:
                return self._zygote.fork()
            except (OSError, ValueError):
                self._zygote.close()
                self._zygote = ZygoteClient(self.memory_bytes)
                return self._zygote.fork()

    def _give_back(self, worker: Worker, alive: bool) -> None:
        with self._lock:
            if alive:
                self._idle.append(worker)
            else:
                worker.connection.close()
                if self._zygote is not None:
                    self._zygote.kill(worker.pid)

    def pids(self) -> list[int]:
        """Return the process ids of the idle workers."""
        with self._lock:
            return [w.pid for w in self._idle]

    def after_fork(self) -> None:
        """Drop the parent's workers in a forked child."""
        self._make_locks()
        zygote, self._zygote = self._zygote, None
        self._close_idle()
        if zygote is not None:
            zygote.control.close()

    def close(self) -> None:
        """End every process of the pool; a later call starts new ones."""
        with self._lock:
            self._close_idle()
            if self._zygote is not None:
                self._zygote.close()
                self._zygote = None

    def _close_idle(self) -> None:
        for worker in self._idle:
            worker.connection.close()
        self._idle = []


class ZygoteClient:
    """The process that workers are forked from (zygote.py), seen from the caller."""

    def __init__(self, memory_bytes: int):
        self.control, theirs = blocking_pair(socket.SOCK_SEQPACKET)
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
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
                "they need sympy (pip install gradebox[math])"
            ) from None

    def _receive(self) -> dict[str, Any]:
        data = self.control.recv(4096)
        if not data:
            raise ConnectionError("the zygote ended")
        message: dict[str, Any] = json.loads(data)
        return message

    def _last_error(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read()[-4000:].decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def fork(self) -> Worker:
        ours, theirs = blocking_pair()
        with ours, theirs:
            socket.send_fds(self.control, [b'{"op": "fork"}'], [theirs.fileno()])
            return Worker(int(self._receive()["pid"]), ours)

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
    root = str(Path(str(sys.modules["gradebox"].__file__)).resolve().parents[1])
    return [root, *(p for p in sys.path if p)]


def _environment() -> dict[str, str]:
    kept = ("PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
    fixed = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**{k: os.environ[k] for k in kept if k in os.environ}, **fixed}


_shared: Pool | None = None
_shared_lock = threading.Lock()


def shared_pool() -> Pool:
    """Return this process's pool; the first call makes it."""
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
        pool.after_fork()


os.register_at_fork(after_in_child=_after_fork)
