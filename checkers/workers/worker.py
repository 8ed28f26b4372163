"""A worker process: answer one request after another within a CPU limit and a memory cap.

It is a fork of the zygote. An audit hook stops it from starting programs, writing files and
opening connections, in case an answer finds a way to run code. A request that hits a limit
ends its worker, so that the next one gets a fresh one. What a request asks is up to a module:

    work(request, blobs)    → (equal, reason, readings): texts, and bytes, which are sent as such
    preload()               once, in the zygote; it may be missing
    clear_caches()          now and then; it may be missing

    caller ──channel──▶ zygote ──fork──▶ worker ◀──its own channel── caller

Requests and replies are JSON objects. The zygote first sends "ready". It answers "fork", sent with
a socket for the worker, with the worker's pid; it answers a pid by killing this worker and sending
the same pid. Only the zygote kills workers: they are its children, so no reused pid is hit. When
the caller ends, the channel ends, and the zygote kills its workers.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from gradebox.sandbox.children.channel import Channel

TIME_LIMIT, MEMORY_LIMIT = "time limit", "memory limit"
MAX_PAIRS = 5000  # then the worker ends, which frees its memory
PAIRS_PER_CACHE = 500  # then the caches are cleared
MAX_REQUEST_BYTES = 16 * 1024 * 1024
REPEAT_SIGNAL_S = 0.05  # because SymPy may have caught the first one
_PR_SET_PDEATHSIG = 1

_FORBIDDEN = (
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
    "subprocess.Popen", "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo",
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link",
    "os.symlink", "os.truncate", "os.putenv", "os.kill", "shutil.rmtree", "ctypes.dlopen",
    "pty.spawn",
)  # fmt: skip


def serve(channel: Channel, memory_bytes: int, tasks: Any) -> None:
    """Answer requests until the channel ends or a limit is hit."""
    confine(memory_bytes)
    sys.setrecursionlimit(3000)
    for done in range(1, MAX_PAIRS + 1):
        try:
            request = json.loads(channel.receive(MAX_REQUEST_BYTES))
            blobs = [channel.receive() for _ in range(request["blobs"])]
        except (EOFError, OSError):
            return
        reply, usable = answer(request, blobs, tasks)
        last = not usable or done == MAX_PAIRS
        readings = reply.pop("readings", [])
        blobs = [reading for reading in readings if isinstance(reading, bytes)]
        texts = [str(reading) for reading in readings if not isinstance(reading, bytes)]
        reply |= {"readings": texts, "blobs": len(blobs), "last": last}
        channel.send(json.dumps(reply).encode())
        for blob in blobs:
            channel.send(blob)
        if last:
            return
        if done % PAIRS_PER_CACHE == 0:
            _do(tasks, "clear_caches")


def answer(request: dict[str, Any], blobs: list[bytes], tasks: Any) -> tuple[dict[str, Any], bool]:
    """Return (reply, whether this worker may go on)."""
    try:
        start_clock(request["timeout"])
        try:
            equal, reason, readings = tasks.work(request, blobs)
        finally:
            stop_clock()
    except KeyboardInterrupt:
        return {"equal": False, "reason": TIME_LIMIT}, False
    except MemoryError:
        return {"equal": False, "reason": MEMORY_LIMIT}, False
    except RecursionError:
        return {"equal": False, "reason": "nested too deep"}, False
    except Exception as e:  # noqa: BLE001 - SymPy raises errors of any type
        return {"equal": False, "reason": f"error: {type(e).__name__}"}, True
    return {"equal": bool(equal), "reason": str(reason)[:300], "readings": readings}, True


def start_clock(cpu_s: float) -> None:
    signal.signal(signal.SIGPROF, _raise_limit)
    signal.setitimer(signal.ITIMER_PROF, cpu_s, REPEAT_SIGNAL_S)


def stop_clock() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _raise_limit(signum: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt  # not an Exception: SymPy must not catch it


def confine(memory_bytes: int) -> None:
    """Cap memory, forbid core files, writing and side effects, and end with the zygote."""
    try:
        libc = ctypes.CDLL(None)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (OSError, AttributeError):
        pages = (1 << 30) // resource.getpagesize()
    cap = pages * resource.getpagesize() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (cap, cap))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.addaudithook(_refuse_side_effects)


def _refuse_side_effects(event: str, args: tuple[Any, ...]) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(f"{event} is forbidden in a worker")
    if event == "open" and _writes(args):
        raise PermissionError("writing files is forbidden in a worker")


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = (*args, None, None)[1:3]
    if isinstance(mode, str):
        return any(c in mode for c in "wax+")
    return isinstance(flags, int) and bool(flags & 0o3)


# ---- the zygote: workers are forked from it, with their modules loaded ----


def main(channel: Channel, module: str, memory_bytes: int) -> None:
    """Fork workers until the channel ends; they run `module` (worker.py)."""
    tasks = importlib.import_module(module)
    _do(tasks, "preload")
    gc.collect()
    gc.freeze()
    channel.send(b"ready")
    workers: set[int] = set()
    try:
        while True:
            message = channel.receive()
            if message == b"fork":
                pid = fork(channel, memory_bytes, tasks)
                workers.add(pid)
            elif (pid := int(message)) in workers:
                workers.remove(pid)
                kill(pid)
            channel.send(b"%d" % pid)
    except (EOFError, OSError):
        for pid in workers:
            kill(pid)


def _do(tasks: Any, name: str) -> None:
    if hasattr(tasks, name):
        getattr(tasks, name)()


def fork(channel: Channel, memory_bytes: int, tasks: Any) -> int:
    """Start a worker on the socket that came with the request; return its process id."""
    with socket.socket(fileno=channel.receive_fd()) as sock:
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            channel.close()
            serve(Channel(sock), memory_bytes, tasks)
            status = 0
        finally:
            os._exit(status)


def kill(pid: int) -> None:
    """End a worker, which may have ended by itself, and wait for it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
