"""A pool of warm worker processes, with a CPU limit for each request.

    ask(request) ─▶ an idle worker, or a new fork ─▶ reply
                └▶ no reply in time ─▶ the worker is killed: not equal, TIME_LIMIT

The limit is CPU time. A signal inside the worker stops Python code, a kill from outside stops
the rest. A request that gets no CPU on a busy machine ends after some multiple of it in wall time.
"""

from __future__ import annotations

import atexit
import json
import os
import threading
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from gradebox.sandbox.children.channel import Channel, blocking_pair
from gradebox.sandbox.children.child import Child
from gradebox.sandbox.common.cleanup import Closeable
from gradebox.sandbox.common.cpus import usable_cores
from gradebox.sandbox.errors import SandboxError

MEMORY_BYTES = 512 << 20  # above what a fresh worker uses
MAX_REPLY_BYTES = 4 << 20  # three texts of 100,000 characters, escaped
START_S = 120.0
CLOSE_S = 5.0  # for the zygote to end its workers
GRACE_S = 0.15  # for the worker to report its own limit
MAIN = "gradebox.checkers.workers.worker:main"
KEPT_VARIABLES = ("PATH", "HOME", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
FIXED_VARIABLES = {"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
TIME_LIMIT, CRASHED = "time limit", "crashed"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Outcome:
    """A verdict, its reason (text, value, choice, time limit, crashed, …), what was read."""

    equal: bool
    reason: str
    readings: tuple[str, ...] = ()
    blobs: tuple[bytes, ...] = ()


class Worker:
    """One worker process, seen from the caller.

    Messages are JSON, never pickles: a worker has read hostile text, so that its reply must
    not be able to do more than give a boolean and a short text.
    """

    def __init__(self, pid: int, channel: Channel, max_reply_bytes: int):
        self.pid = pid
        self.channel = channel
        self._max_reply_bytes = max_reply_bytes

    def ask(
        self, request: dict[str, Any], blobs: Sequence[bytes], timeout_s: float, wall_s: float
    ) -> tuple[Outcome | None, bool]:
        """Return (outcome, alive); the outcome is None when a limit passed without a reply.

        Raises EOFError, OSError or ValueError when the worker ended or its reply is invalid.
        """
        cpu_before = cpu_seconds(self.pid)
        start = time.monotonic()
        self.channel.send(json.dumps({**request, "blobs": len(blobs)}).encode())
        for blob in blobs:
            self.channel.send(blob)
        wait = timeout_s + GRACE_S
        while not self.channel.poll(wait):
            used = cpu_seconds(self.pid) - cpu_before
            waited = time.monotonic() - start
            if used >= timeout_s + GRACE_S / 2 or waited >= wall_s:
                return None, False
            wait = max(0.02, min(timeout_s + GRACE_S - used, wall_s - waited))
        reply = json.loads(self.channel.receive(self._max_reply_bytes))
        if not (
            isinstance(reply, dict)
            and isinstance(reply.get("equal"), bool)
            and isinstance(reply.get("reason"), str)
            and isinstance(readings := reply.get("readings"), list)
            and reply.get("blobs") in (0, 1)
        ):
            raise ValueError("a worker's reply has another form")
        received = (self.channel.receive(self._max_reply_bytes) for _ in range(reply["blobs"]))
        found = Outcome(reply["equal"], reply["reason"], tuple(map(str, readings)), (*received,))
        return found, not reply.get("last")


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process; 0 when /proc does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS
    except (OSError, IndexError, ValueError):
        return 0.0


_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


class WorkerPool(Closeable):
    """At most `workers` worker processes. Every method may be called from any thread.

    module   what they load and run: `gradebox.checkers.…` with work() (worker.py)
    needs    said when they do not start
    most_waiting  how many times its CPU limit a request may take of wall time, and 2 s
    """

    module: str
    needs = ""
    most_waiting = 3
    max_reply_bytes = MAX_REPLY_BYTES

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

    def ask(
        self, request: dict[str, Any], timeout_s: float, blobs: Sequence[bytes] = ()
    ) -> Outcome:
        """Return the answer to a request: not equal at a limit or a crash.

        Raises SandboxError when no worker can be started.
        """
        with self._free:
            for _ in range(2):
                worker = self._take()
                alive = False
                try:
                    request = {**request, "timeout": timeout_s}
                    wall_s = self.most_waiting * timeout_s + 2
                    outcome, alive = worker.ask(request, blobs, timeout_s, wall_s)
                    return outcome or Outcome(False, TIME_LIMIT)
                except (EOFError, OSError, ValueError, RecursionError):
                    continue
                finally:
                    self._give_back(worker, alive)
        return Outcome(False, CRASHED)

    def _take(self) -> Worker:
        with self._lock:
            if self._idle:
                return self._idle.pop()
            if self._zygote is None:
                self._zygote = ZygoteClient(self)
            try:
                return self._zygote.fork()
            except (OSError, EOFError):
                self._zygote.child.close()
                self._zygote = ZygoteClient(self)
                return self._zygote.fork()

    def _give_back(self, worker: Worker, alive: bool) -> None:
        with self._lock:
            if alive:
                self._idle.append(worker)
            else:
                worker.channel.close()
                if self._zygote is not None:
                    self._zygote.kill(worker.pid)

    def pids(self) -> list[int]:
        """Return the process ids of the idle workers."""
        with self._lock:
            return [w.pid for w in self._idle]

    def after_fork(self) -> None:
        """Drop the parent's workers in a forked child."""
        self._make_locks()
        self._zygote = None
        self._close_idle()

    def close(self) -> None:
        """End every process of the pool; a later call starts new ones."""
        with self._lock:
            self._close_idle()
            if self._zygote is not None:
                self._zygote.child.end(CLOSE_S)
                self._zygote = None

    def _close_idle(self) -> None:
        for worker in self._idle:
            worker.channel.close()
        self._idle = []


class ZygoteClient:
    """The process that workers are forked from (zygote.py), seen from the caller."""

    def __init__(self, pool: WorkerPool):
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        environment = {**kept, **FIXED_VARIABLES}
        self._max_reply_bytes = pool.max_reply_bytes
        failed = f"the workers of {pool.module.split('.')[2]} did not start"
        try:
            self.child = Child(MAIN, pool.module, pool.memory_bytes, environment=environment)
        except OSError as error:
            raise SandboxError(f"{failed}: {error}") from None
        try:
            self._reply()
        except (OSError, EOFError) as error:
            how = self.child.end()
            why = str(error) if isinstance(error, TimeoutError) else how
            raise SandboxError(f"{failed}: {why}{pool.needs}") from None

    def _reply(self) -> bytes:
        if not self.child.channel.poll(START_S):
            raise TimeoutError(f"no reply within {START_S:g} s")
        return self.child.channel.receive()

    def fork(self) -> Worker:
        ours, theirs = blocking_pair()
        with theirs:
            self.child.channel.send(b"fork", theirs.fileno())
        channel = Channel(ours)
        try:
            return Worker(int(self._reply()), channel, self._max_reply_bytes)
        except BaseException:
            channel.close()
            raise

    def kill(self, pid: int) -> None:
        try:
            self.child.channel.send(b"%d" % pid)
            self._reply()
        except (OSError, EOFError):
            self.child.kill()


_shared: dict[type[WorkerPool], WorkerPool] = {}
_shared_lock = threading.Lock()
_P = TypeVar("_P", bound=WorkerPool)


def shared_pool(kind: type[_P]) -> _P:
    """Return this process's pool of a class; the first call makes it."""
    with _shared_lock:
        found = _shared.get(kind)
        if not isinstance(found, kind):
            found = _shared[kind] = kind()
            atexit.register(found.close)
        return found


def _after_fork() -> None:
    global _shared_lock
    _shared_lock = threading.Lock()
    for pool in list(_pools):
        pool.after_fork()


os.register_at_fork(after_in_child=_after_fork)
