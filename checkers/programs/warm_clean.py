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


def kill_rest() -> bool:
    """Kill every process that a case left behind; return True when certainly none is left.

    The case's own group was killed before. A process that moved to another session becomes a
    child of the driver when its parent dies, so all children are killed until there are none.
    """
    for _ in range(KILL_ROUNDS):
        if _reap_all():
            return True
        for child in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    return False


def _reap_all() -> bool:
    """Reap ended children; return True when no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


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
