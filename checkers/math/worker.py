"""A worker: judges one pair after another within a CPU limit and a memory cap.

It is a fork of the zygote and has no way to start programs, write files or open
connections: an audit hook refuses them, below what the answers could reach anyway.
A pair that hits a limit ends its worker, so that the next pair meets a fresh one.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import ctypes
import resource
import signal
import socket
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from checkers.math import wire
from checkers.math.policy import Policy

PAIRS_EACH = 5000  # then it ends, and its memory with it
CLEAR_EVERY = 500  # pairs; SymPy's caches
REFIRE_S = 0.05  # the soft limit strikes again when SymPy caught it
_PR_SET_PDEATHSIG = 1

_FORBIDDEN = (
    "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "os.forkpty",
    "subprocess.Popen", "socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo",
    "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.chmod", "os.chown", "os.link",
    "os.symlink", "os.truncate", "os.putenv", "os.kill", "shutil.rmtree", "ctypes.dlopen",
    "pty.spawn",
)  # fmt: skip


class SoftLimit(BaseException):
    """The CPU limit of one pair is used up. No Exception: SymPy must not catch it."""


def serve(sock: socket.socket, memory_bytes: int) -> None:
    """Answers requests until the socket ends or a limit is hit."""
    confine(memory_bytes)

    sys.setrecursionlimit(3000)
    for done in range(1, PAIRS_EACH + 1):
        try:
            request = wire.receive(sock, wire.LARGEST_REQUEST)
        except wire.Closed:
            return
        reply, again = answer(request)
        last = not again or done == PAIRS_EACH
        wire.send(sock, {**reply, "last": last})
        if last:
            return
        if done % CLEAR_EVERY == 0:
            clear_caches()


def answer(request: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    """(reply, whether this worker may go on)."""
    try:
        start_clock(request["timeout"])
        try:
            equal, reason = work(request)
        finally:
            stop_clock()
    except SoftLimit:
        return {"equal": False, "reason": "time limit"}, False
    except MemoryError:
        return {"equal": False, "reason": "memory limit"}, False
    except RecursionError:
        return {"equal": False, "reason": "nested too deep"}, False
    except Exception as e:  # noqa: BLE001 - SymPy raises what it likes; the pair is not equal
        return {"equal": False, "reason": f"error: {type(e).__name__}"}, True
    return {"equal": bool(equal), "reason": str(reason)[:300]}, True


def work(request: dict[str, Any]) -> tuple[bool, str]:
    """The judge's verdict on a pair; for a probe, whether the text can be read."""
    from checkers.math import dart
    from checkers.math.judge import judge

    if "probe" not in request:
        return judge(request["gold"], request["answer"], Policy(**request["policy"]))
    reader = {"matrix": dart.read_matrix, "interval": dart.read_interval}[request["probe"]]
    try:
        reader(request["text"])
    except ValueError as e:
        return False, str(e)
    return True, "read"


def start_clock(cpu_s: float) -> None:
    signal.signal(signal.SIGPROF, _strike)
    signal.setitimer(signal.ITIMER_PROF, cpu_s, REFIRE_S)


def stop_clock() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    signal.setitimer(signal.ITIMER_PROF, 0)


def _strike(signum: int, frame: FrameType | None) -> NoReturn:
    raise SoftLimit


def clear_caches() -> None:
    from sympy.core.cache import clear_cache

    from checkers.math import clean, compare

    clear_cache()
    clean.clean.cache_clear()
    compare.expression.cache_clear()


def confine(memory_bytes: int) -> None:
    """Memory cap, no core files, no writing, death with the zygote, no side effects."""
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
    sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if event in _FORBIDDEN:
        raise PermissionError(f"{event} is forbidden in a math worker")
    if event == "open" and _writes(args):
        raise PermissionError("writing files is forbidden in a math worker")


def _writes(args: tuple[Any, ...]) -> bool:
    mode, flags = (*args, None, None)[1:3]
    if isinstance(mode, str):
        return any(c in mode for c in "wax+")
    return isinstance(flags, int) and bool(flags & 0o3)
