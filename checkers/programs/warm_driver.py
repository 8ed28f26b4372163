"""Runs one Python checker many times from one warm start. Runs inside the box, by itself:

    python3 warm_driver.py CHECKER.py FOLDER [CLEAN_FOLDER…]

    host ──request──▶ driver ──fork──▶ child: becomes the checker, in a fresh FOLDER/case
    host ◀──frames─── driver ◀─pipes── stdout, stderr; then wait4, kill, clean

Request: 4 bytes length, that many bytes of JSON {args, files: [[name, bytes]…], stdin: bytes,
collect: […], limits: {…}}, then the contents one after the other, stdin last.
Frames to the host: 1 byte kind, 4 bytes length, payload. Kinds: R ready, O stdout, E stderr,
N name of a collected file, F its contents, D done: JSON of the evidence (see `_evidence`).

A case is equal to a plain start of `python3 checker.py args…`:
- The child runs the checker as `__main__` of a new module and ends by returning from the
  driver: SystemExit, tracebacks, threads, atexit and flushing are the interpreter's own.
- stdin, stdout and stderr are replaced below Python (dup2). The driver itself never reads or
  writes through sys.stdin, sys.stdout or sys.stderr.
- Only modules that the checker imports anyway are imported early. None has threads, and only
  random has state of its own, which is seeded again.

Cases are kept apart:
- The driver never reads a case's contents: the child reads them from the pipe itself. The
  buffer through which outputs pass is wiped.
- The child leads a session of its own. When its first process has ended, all others are
  killed, even in other sessions: the driver is their subreaper.
- The folders are emptied. When any of this fails, the evidence has `clean: false` and the driver
  ends; the host starts another one in a new box.
- The driver is not dumpable, so that a case can't open its memory or descriptors. A case that
  kills the driver ends the session; the host then runs the case by a plain start.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import re
import resource
import select
import signal
import stat
import sys
import time
import types
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradebox.checkers.programs import warm_case, warm_clean
    from gradebox.checkers.programs.warm_case import Json
else:  # in the box the three files are in one folder
    import warm_case
    import warm_clean

# pathlib would be a module that a plain start does not load
# ruff: noqa: PTH102, PTH118, PTH119, PTH123

# code if it compiles, source, name, arguments
Case = tuple["types.CodeType | None", bytes, str, list[str]]

BLOCK_BYTES = warm_case.BLOCK_BYTES

# Imported early when the checker's text contains their names: they are cheap to share and have
# no threads, no open files and (except random) no state that a plain start would not have.
EARLY = tuple(
    re.findall(
        r"\w+",
        """
        array ast bisect cmath collections copy dataclasses datetime decimal enum fractions
        functools heapq io itertools json math operator os pathlib random re string struct sys
        textwrap time traceback typing unicodedata
        """,
    )
)


def main() -> Case | None:
    """Serve requests until the host closes the pipe; in a child, return the case to run."""
    script, folder, *clean = sys.argv[1:]
    requests, replies = _take_over_streams()
    warm_case.prctl(warm_case.PR_SET_DUMPABLE, 0)
    orphans_come_here = warm_case.prctl(warm_case.PR_SET_CHILD_SUBREAPER, 1)
    with open(script, "rb") as f:
        source = f.read()
    name = os.path.basename(script)
    code = _compiled(source, os.path.join(os.path.realpath(folder), "case", name))
    _import_early(source)
    gc.collect()
    gc.freeze()
    _send(replies, b"R", b"{}")
    while True:
        head = _read_exactly(requests, 4)
        if head is None:
            return None
        text = _read_exactly(requests, int.from_bytes(head, "big"))
        if text is None:
            return None
        request = json.loads(text)
        case = _new_folder(folder)
        out, err = os.pipe(), os.pipe()
        started = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.close(out[0])
            os.close(err[0])
            os.close(replies)
            warm_case.become_case(request, requests, case, out[1], err[1], source, script)
            return code, source, name, request["args"]
        os.close(out[1])
        os.close(err[1])
        evidence = _watch(pid, out[0], err[0], replies, request["limits"], started)
        killed, cpu_s = warm_clean.kill_rest()
        evidence["cpu_s"] += cpu_s
        if evidence["killed_for"] is None and evidence["cpu_s"] > request["limits"]["cpu_s"]:
            evidence["killed_for"] = "cpu"
        _send_files(replies, case, request)
        emptied = [warm_clean.empty(place) for place in (folder, *clean)]
        evidence["clean"] = killed and all(emptied) and orphans_come_here
        _send(replies, b"D", json.dumps(evidence).encode())
        if not evidence["clean"]:
            return None


def _take_over_streams() -> tuple[int, int]:
    """Move the protocol to high descriptors that no program inherits."""
    null = os.open(os.devnull, os.O_RDWR)
    requests, replies = os.dup(0), os.dup(1)
    for stream in (0, 1):
        os.dup2(null, stream)
    os.close(null)
    return requests, replies


def _compiled(source: bytes, path: str) -> types.CodeType | None:
    """Return the code; None when each child must compile it itself to report errors."""
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("default")
            code = compile(source, path, "exec", dont_inherit=True)
        return None if warned else code
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return None


def _import_early(source: bytes) -> None:
    for name in EARLY:
        if name.encode() in source:
            __import__(name)


def _read_exactly(fd: int, size: int) -> bytes | None:
    """Return `size` bytes, or None when the host is gone."""
    parts = []
    while size:
        part = os.read(fd, min(size, BLOCK_BYTES))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _send(fd: int, kind: bytes, payload: bytes | memoryview) -> None:
    warm_case.write(fd, kind + len(payload).to_bytes(4, "big"))
    warm_case.write(fd, payload)


def _new_folder(folder: str) -> str:
    case = os.path.join(folder, "case")
    os.mkdir(case, 0o700)
    return case


class _Flow:
    """Forwards one stream of a case to the host, up to a limit."""

    def __init__(self, fd: int, kind: bytes, most: int) -> None:
        self.fd, self.kind, self.most = fd, kind, most
        self.seen = 0
        self.open = True
        os.set_blocking(fd, False)

    def forward(self, buffer: bytearray, replies: int) -> bool:
        """Send what is available; return whether there was anything."""
        try:
            size = os.readv(self.fd, [buffer])
        except BlockingIOError:
            return False
        if size == 0:
            self.open = False
            return False
        room = max(0, min(size, self.most - self.seen))
        self.seen += size
        if room:
            _send(replies, self.kind, memoryview(buffer)[:room])
        return True

    @property
    def cut(self) -> bool:
        return self.seen > self.most


def _watch(pid: int, out: int, err: int, replies: int, limits: Json, started: float) -> Json:
    """Forward the output until the first process ends or exceeds a limit."""
    flows = {
        out: _Flow(out, b"O", limits["output_bytes"]),
        err: _Flow(err, b"E", limits["stderr_bytes"]),
    }
    buffer = bytearray(BLOCK_BYTES)
    ended = os.pidfd_open(pid)
    killed_for = None
    deadline = started + limits["wall_s"]
    while True:
        left, cpu_left = deadline - time.monotonic(), limits["cpu_s"] - _cpu_s(pid)
        waiting = [ended, *(fd for fd, flow in flows.items() if flow.open)]
        ready = select.select(waiting, [], [], max(0.001, min(left, cpu_left)))[0]
        for fd in ready:
            if fd != ended:
                flows[fd].forward(buffer, replies)
        if flows[out].cut:
            killed_for = "output"
        elif cpu_left <= 0:
            killed_for = "cpu"
        elif left <= 0:
            killed_for = "wall"
        if killed_for or ended in ready:
            break
    _signal_group(pid)
    status, usage = _reap(pid)
    for flow in flows.values():
        # What the pipe holds now is part of the output; later writes of other processes are not.
        for _ in range(64):
            if flow.cut or not flow.open or not flow.forward(buffer, replies):
                break
        os.close(flow.fd)
    os.close(ended)
    buffer[:] = bytes(len(buffer))
    wall_s = time.monotonic() - started
    return _evidence(status, usage, wall_s, limits, killed_for, flows[out], flows[err])


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds a process used, by the scheduler: RLIMIT_CPU counts whole ticks."""
    return time.clock_gettime((~pid << 3) | 2)


def _evidence(
    status: int,
    usage: resource.struct_rusage,
    wall_s: float,
    limits: Json,
    killed_for: str | None,
    out: _Flow,
    err: _Flow,
) -> Json:
    """Return the fields of an `Execution` as JSON."""
    code = os.waitstatus_to_exitcode(status)
    cpu_s = usage.ru_utime + usage.ru_stime
    if killed_for is None and out.cut:
        killed_for = "output"
    if killed_for is None and cpu_s > limits["cpu_s"]:
        killed_for = "cpu"
    return {
        "exit_code": code if code >= 0 else None,
        "signal": -code if code < 0 else None,
        "cpu_s": cpu_s,
        "wall_s": wall_s,
        "memory_bytes": usage.ru_maxrss * 1024,
        "stdout_bytes": out.seen,
        "stdout_cut": out.cut,
        "stderr_cut": err.cut,
        "killed_for": killed_for,
    }


def _signal_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _reap(pid: int) -> tuple[int, resource.struct_rusage]:
    _, status, usage = os.wait4(pid, 0)
    return status, usage


def _send_files(replies: int, case: str, request: Json) -> None:
    """Send the requested files that are regular; never follow a link."""
    for name in request["collect"]:
        if "/" in name or name in ("", ".", ".."):
            continue
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        try:
            fd = os.open(os.path.join(case, name), flags)
        except OSError:
            continue
        try:
            if stat.S_ISREG(os.fstat(fd).st_mode):
                _send(replies, b"N", name.encode())
                _send_contents(replies, fd, request["limits"]["output_bytes"])
        finally:
            os.close(fd)


def _send_contents(replies: int, fd: int, most: int) -> None:
    while most > 0:
        part = os.read(fd, min(most, BLOCK_BYTES))
        if not part:
            return
        most -= len(part)
        _send(replies, b"F", part)


if __name__ == "__main__":
    case = main()
    if case is not None:
        # Here, at the top, the program has all but one frame of its recursion limit.
        exec(*warm_case.main_module(*case))
