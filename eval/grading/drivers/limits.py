"""Check before a run that the limits of this user allow its driver processes.

With lower ones, a driver could fail to start a box in the middle of the run.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path

from gradebox.eval.common.errors import InputError

FILES, FILES_A_WORKER = 128, 32  # open in a driver; a worker's are those of its boxes
TASKS, TASKS_A_WORKER = 16, 8  # threads of a driver; a worker's thread and its boxes' processes
PLENTY_OF_TASKS = 1 << 15


def check_limits(drivers: int, workers: int) -> None:
    """Raise InputError when a limit is too low for this many drivers with `workers` in all."""
    share = -(-workers // drivers)
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = FILES + max(FILES_A_WORKER * share, 4 * drivers)
    if 0 <= files < needed:
        raise InputError(
            f"--drivers {drivers}: the limit of open files is {files}, and {share} workers a "
            f"driver need {needed}; raise it (ulimit -n {needed}) or give fewer --workers"
        )
    tasks, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if 0 <= tasks < PLENTY_OF_TASKS and os.geteuid():
        needed = drivers * TASKS + workers * TASKS_A_WORKER + _tasks_of_user()
        if tasks < needed:
            raise InputError(
                f"--drivers {drivers}: the limit of processes is {tasks}, and with those that you "
                f"have {needed} are needed; raise it (ulimit -u {needed}) or give fewer --drivers "
                "or --workers"
            )


def _tasks_of_user() -> int:
    """Return the number of threads of this user's processes."""
    count, uid = 0, os.geteuid()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if process.stat().st_uid == uid:
                count += sum(1 for _ in (process / "task").iterdir())
        except OSError:
            continue  # it has ended
    return count
