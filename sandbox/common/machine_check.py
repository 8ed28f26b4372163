"""What a machine must offer before anything runs; each lack is one line with its remedy.

A limit of the grader's own process also holds for the programs. One that is stricter than what a
program is granted matters only when the program fails: it may have failed by that.
"""

from __future__ import annotations

import resource
import signal
import tempfile
import threading

from gradebox.sandbox.errors import SandboxUnavailable
from gradebox.sandbox.model import Execution, Limits

FILES, FILES_A_SLOT = 64, 32  # descriptors of a grader, and of each program at once
TASKS_A_SLOT = 4  # threads and processes: the grader's, the box's two, the program
# Hard limits of this process: by number, the field of Limits, the option of ulimit.
OWN_LIMITS = (
    (resource.RLIMIT_AS, "memory_bytes", "v"),
    (resource.RLIMIT_DATA, "memory_bytes", "d"),
    (resource.RLIMIT_FSIZE, "output_bytes", "f"),
    (resource.RLIMIT_CPU, "cpu_s", "t"),
    (resource.RLIMIT_STACK, "memory_bytes", "s"),
)


def own_limit_below(limits: Limits, execution: Execution) -> str:
    """Return which limit of this process may have failed a program, with the remedy; "" for none.

    A small stack can only end a program by SIGSEGV.
    """
    for number, name, option in OWN_LIMITS:
        hard, granted = resource.getrlimit(number)[1], getattr(limits, name)
        concerned = number != resource.RLIMIT_STACK or execution.signal == signal.SIGSEGV
        if concerned and hard != resource.RLIM_INFINITY and hard < granted:
            return (
                f"this process may have {hard} {'s' if option == 't' else 'bytes'} "
                f"(ulimit -{option}), less than the {granted} that the program may use, and the "
                f"program failed: start the grader with ulimit -{option} unlimited"
            )
    return ""


def check_machine(slots: int) -> None:
    """Make sure that a grader with this many programs at once can start.

    Raises SandboxUnavailable.
    """
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        raise SandboxUnavailable(
            "no folder for temporary files is writable: set TMPDIR to one; in a read-only "
            "container, give one with --tmpfs /tmp"
        ) from None
    _allow_files(FILES + FILES_A_SLOT * slots, slots)
    _check_tasks(TASKS_A_SLOT * slots)


def _allow_files(needed: int, slots: int) -> None:
    """Raise this process's own limit as far as necessary; programs have a limit of theirs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        fewer = ", or fewer --workers" if hard >= FILES + FILES_A_SLOT else ""
        programs = "1 program needs" if slots == 1 else f"{slots} programs at once need"
        raise SandboxUnavailable(
            f"this process may have {hard} open files, and {programs} {needed}: "
            f"ulimit -n {needed}{fewer}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _check_tasks(count: int) -> None:
    """Try to have that many threads at once; processes count like them."""
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, daemon=True) for _ in range(count)]
    started = []
    try:
        for thread in threads:
            thread.start()
            started.append(thread)
    except RuntimeError:
        raise SandboxUnavailable(
            f"{count} more threads and processes are needed, and {len(started)} can be started: "
            f"{_why_no_thread()}"
        ) from None
    finally:
        done.set()
        for thread in started:
            thread.join()


def _why_no_thread() -> str:
    for number, option in ((resource.RLIMIT_DATA, "d"), (resource.RLIMIT_AS, "v")):
        limit = resource.getrlimit(number)[0]
        if limit != resource.RLIM_INFINITY:
            return (
                f"each has a stack, and this process may have {limit} bytes (ulimit -{option}): "
                f"ulimit -{option} unlimited, or fewer --workers"
            )
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    return f"this user may have {limit} (ulimit -u), or the container's pids limit is reached"
