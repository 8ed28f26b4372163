"""A worker process: judge one pair after another within a CPU limit and a memory cap.

It is a fork of the zygote. An audit hook stops it from starting programs, writing files and
opening connections, in case an answer finds a way to run code. A pair that hits a limit ends
its worker, so that the next pair gets a fresh one.
"""

from __future__ import annotations

import ctypes
import json
import resource
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from gradebox.checkers.math.policy import Policy

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


class CpuLimitReached(BaseException):
    """One pair has used its CPU time. Not an Exception: SymPy must not catch it."""


def serve(connection: Connection, memory_bytes: int) -> None:
    """Answer requests until the connection ends or a limit is hit."""
    confine(memory_bytes)
    sys.setrecursionlimit(3000)
    for done in range(1, MAX_PAIRS + 1):
        try:
            request = json.loads(connection.recv_bytes(MAX_REQUEST_BYTES))
        except (EOFError, OSError):
            return
        reply, usable = answer(request)
        last = not usable or done == MAX_PAIRS
        connection.send_bytes(json.dumps({**reply, "last": last}).encode())
        if last:
            return
        if done % PAIRS_PER_CACHE == 0:
            clear_caches()


def answer(request: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """Return (reply, whether this worker may go on)."""
    try:
        start_clock(request["timeout"])
        try:
            equal, reason = work(request)
            readings = explain(request) if request.get("explain") else []
        finally:
            stop_clock()
    except CpuLimitReached:
        return {"equal": False, "reason": "time limit"}, False
    except MemoryError:
        return {"equal": False, "reason": "memory limit"}, False
    except RecursionError:
        return {"equal": False, "reason": "nested too deep"}, False
    except Exception as e:  # noqa: BLE001 - SymPy raises errors of any type; the pair is not equal
        return {"equal": False, "reason": f"error: {type(e).__name__}"}, True
    return {"equal": bool(equal), "reason": str(reason)[:300], "readings": readings}, True


def work(request: dict[str, Any]) -> tuple[bool, str]:
    """Return the judge's verdict on a pair; for a probe, whether the text can be read."""
    from gradebox.checkers.math.compare.judge import judge
    from gradebox.checkers.math.parse import sympy_objects

    if "probe" not in request:
        return judge(request["gold"], request["answer"], Policy(**request["policy"]))
    readers = {"matrix": sympy_objects.read_matrix, "interval": sympy_objects.read_interval}
    try:
        readers[request["probe"]](request["text"])
    except ValueError as e:
        return False, str(e)
    return True, "read"


def explain(request: dict[str, Any]) -> list[str]:
    """Return how the two answers of a request are read, or why they are not."""
    from gradebox.checkers.math.compare.judge import readings

    try:
        return [str(text)[:1000] for text in readings(request["gold"], request["answer"])]
    except ValueError as e:
        return [f"not read: {e}"[:1000]] * 2


def start_clock(cpu_s: float) -> None:
    signal.signal(signal.SIGPROF, _raise_limit)
    signal.setitimer(signal.ITIMER_PROF, cpu_s, REPEAT_SIGNAL_S)


def stop_clock() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _raise_limit(signum: int, frame: FrameType | None) -> NoReturn:
    raise CpuLimitReached


def clear_caches() -> None:
    from sympy.core.cache import clear_cache

    from gradebox.checkers.math.normalise.rewrite import normalise
    from gradebox.checkers.math.parse.expressions.latex import parse_expression

    clear_cache()
    normalise.cache_clear()
    parse_expression.cache_clear()


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
        raise PermissionError(f"{event} is forbidden in a math worker")
    if event == "open" and _writes(args):
        raise PermissionError("writing files is forbidden in a math worker")


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = (*args, None, None)[1:3]
    if isinstance(mode, str):
        return any(c in mode for c in "wax+")
    return isinstance(flags, int) and bool(flags & 0o3)
