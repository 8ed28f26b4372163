"""Removes the processes and files that a case left behind.

Runs inside the box beside `warm_driver`. Functions return False when anything may be left.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time

# pathlib would be a module that a plain start does not load
# ruff: noqa: PTH101, PTH108, PTH123, PTH208

KILL_ROUNDS = 100


def kill_rest() -> tuple[bool, float]:
    """Kill every process that a case left behind.

    Return whether certainly none is left, and the CPU seconds that they used.

    The case's own group was killed before. A process that moved to another session becomes a
    child of the driver when its parent dies, so all children are killed until there are none.
    """
    used_s = 0.0
    for _ in range(KILL_ROUNDS):
        none_left, cpu_s = _reap_all()
        used_s += cpu_s
        if none_left:
            return True, used_s
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    return False, used_s


def _reap_all() -> tuple[bool, float]:
    """Reap ended children; return whether no child is left, and the CPU seconds of the reaped."""
    used_s = 0.0
    try:
        while True:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
            if not pid:
                return False, used_s
            used_s += usage.ru_utime + usage.ru_stime
    except ChildProcessError:
        return True, used_s


def _children() -> list[int]:
    """Return the processes whose parent is the driver; none where /proc is missing."""
    me, found = os.getpid(), []
    try:
        names = os.listdir("/proc")
    except OSError:
        return []
    for name in names:
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as f:
                fields = f.read().rpartition(b")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == me:
            found.append(int(name))
    return found


def remove(path: str) -> bool:
    """Remove a folder with any contents; return False when that fails."""
    try:
        try:
            shutil.rmtree(path)
        except OSError:
            _unlock(path)
            shutil.rmtree(path)
    except (OSError, RecursionError):
        return False
    return True


def _unlock(path: str) -> None:
    """Restore the permissions that a case took from its own folders."""
    waiting = [path]
    while waiting:
        folder = waiting.pop()
        os.chmod(folder, 0o700)
        with os.scandir(folder) as entries:
            waiting += [e.path for e in entries if e.is_dir(follow_symlinks=False)]


def empty(folder: str) -> bool:
    try:
        with os.scandir(folder) as found:
            entries = list(found)
    except OSError:
        return False
    done = True
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            done = remove(entry.path) and done
        else:
            try:
                os.unlink(entry.path)
            except OSError:
                done = False
    return done
