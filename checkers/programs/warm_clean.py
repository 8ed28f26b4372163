"""What a case may have left behind, processes and files, and how the warm driver ends it.

Runs inside the box beside `warm_driver`; says False rather than guess.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import time

# pathlib would be one more module that a plain start does not load
# ruff: noqa: PTH101, PTH108, PTH112, PTH114, PTH120, PTH123, PTH208

KILL_ROUNDS = 100


def kill_rest(leader: int) -> bool:
    """Ends everything a case left behind; True when surely nothing is left.

    Who fled into another session becomes a child of the driver when its parent dies: rounds
    of killing all children end when there is none.
    """
    for _ in range(KILL_ROUNDS):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        try:
            os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        children = _children()
        if children is None:
            return False
        for child in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    return False


def _children() -> list[int] | None:
    """Processes whose parent is the driver; None when /proc can't say."""
    me, found = os.getpid(), []
    try:
        names = os.listdir("/proc")
    except OSError:
        return None
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
    """Removes a folder whatever is in it; False when that fails."""
    try:
        shutil.rmtree(path, onerror=_unlock_and_retry)
    except (OSError, RecursionError):
        return False
    return not os.path.lexists(path)


def _unlock_and_retry(_function: object, path: str, _why: object) -> None:
    """A folder without permissions is the case's doing: it can be given back."""
    for place in (os.path.dirname(path), path):
        with contextlib.suppress(OSError):
            if not os.path.islink(place):
                os.chmod(place, 0o700)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def empty(folder: str) -> bool:
    try:
        entries = list(os.scandir(folder))
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
