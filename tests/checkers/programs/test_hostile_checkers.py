"""Python checkers that attack, or that an output takes over: limits, later cases, its template.

A checker that runs the output (`exec`) stands for any that an output can take over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from gradebox.checkers.check import Check, Checker
from gradebox.checkers.programs import ProgramChecker
from gradebox.checkers.protocols import PROTOCOLS
from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Limits, Program
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow
LEVELS = ["full", "delegated", "userns", "landlock"]
TAKEN_OVER = "import sys\nexec(open(sys.argv[3]).read())\n"
SMALL = Limits(cpu_s=2, wall_s=8, memory_bytes=256 * MIB, processes=16)


@pytest.fixture(params=LEVELS)
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param) as opened:
        yield opened


def checker_of(box: EmbeddedSandbox, source: str, limits: Limits = SMALL) -> ProgramChecker:
    program = Program("python", {"checker.py": source.encode()})
    return ProgramChecker(box, PROTOCOLS["python"], program, limits=limits)


def asked(checker: Checker, *outputs: str) -> list[Check]:
    """Return the checks of these outputs; each case has an expected output of its own."""
    return [checker.check(b"i", x.encode(), b"secret %d;" % i) for i, x in enumerate(outputs)]


# Every process keeps its memory until the first one has seen that all have it.
MEMORY = """
import os, signal, sys, time
ends = os.pipe()
signal.signal(signal.SIGCHLD, lambda *_: sys.exit("a process has ended"))
for _ in range(4):
    if os.fork() == 0:
        held = bytearray(100 << 20)
        for i in range(0, len(held), 4096):
            held[i] = 1
        os.write(ends[1], b"x")
        time.sleep(60)
        os._exit(0)
for _ in range(4):
    os.read(ends[0], 1)
print(1)
"""


def test_the_memory_of_all_processes_of_a_case_is_limited(box: EmbeddedSandbox) -> None:
    (check,) = asked(checker_of(box, MEMORY), "")
    assert check.outcome == "unclear", check


@pytest.mark.parametrize("waits", [True, False])
def test_the_cpu_time_of_all_processes_of_a_case_is_limited(
    box: EmbeddedSandbox, waits: bool
) -> None:
    source = f"""
import os, time
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        while time.process_time() < 0.5:
            pass
        os._exit(0)
    children.append(pid)
for pid in children:
    os.waitid(os.P_PID, pid, os.WEXITED | (0 if {waits} else os.WNOWAIT))
print(1)
"""
    (check,) = asked(checker_of(box, source, replace(SMALL, cpu_s=1)), "")
    assert check.outcome == "unclear", check


def test_the_number_of_processes_of_a_case_is_limited(box: EmbeddedSandbox) -> None:
    source = """
import os, time
for _ in range(40):
    if os.fork() == 0:
        time.sleep(60)
        os._exit(0)
print(1)
"""
    (check,) = asked(checker_of(box, source), "")
    assert check.outcome == "unclear", check


KEEP = """
import os
places = [os.path.join(p, "kept") for p in ("..", "../..", "/tmp", "/dev/shm", "/var/tmp", ".")]
found = [p for p in places if os.path.exists(p)]
for place in places:
    try:
        open(place, "w").write(open(sys.argv[2]).read())
    except OSError:
        pass
print(int(not found), found)
"""


def test_no_file_of_a_case_reaches_the_next(box: EmbeddedSandbox) -> None:
    checks = asked(checker_of(box, TAKEN_OVER), *[KEEP] * 4)
    assert [c.outcome for c in checks] == ["accepted"] * 4, checks


# Prints what could have been kept, and then keeps it.
SHARED = """
import ctypes, os, socket, time

def result(call, *args):
    try:
        return call(*args)
    except OSError as error:
        return error.strerror

libc = ctypes.CDLL(None)
found = [libc.shmget(4711, 4096, 0o600)]
libc.shmget(4711, 4096, 0o1600)
for folder in (".", "..", "/tmp", "/dev/shm", "/proc"):
    names = result(os.listdir, folder)
    names = names if isinstance(names, str) else sorted(n for n in names if not n.isdigit())
    found.append(names)
found.append(sum(map(str.isdigit, result(os.listdir, "/proc"))))
found.append(result(os.kill, -1, 0))
found += [fd for fd in range(3, 256) if isinstance(result(os.fstat, fd), tuple)]
s = result(socket.socket, socket.AF_UNIX)
if isinstance(s, socket.socket):
    found.append(result(s.bind, "\\0kept"))
    s.listen()
pid = result(os.fork)
if pid == 0:
    os.setsid()
    time.sleep(60)
    os._exit(0)
print(int(found[0] == -1), found)
"""


def test_no_process_socket_or_memory_of_a_case_reaches_the_next(box: EmbeddedSandbox) -> None:
    checks = asked(checker_of(box, TAKEN_OVER), *[SHARED] * 3)
    assert [c.outcome for c in checks] == ["accepted"] * 3, checks
    assert len({c.stdout for c in checks}) == 1, checks


# The names of all secrets in the memory of its own process, where it can read it.
MEMORY_OF_OTHERS = """
import gc, re
mark = re.compile(("sec" + "ret ").encode() + rb"[0-9]+;")
data = repr(gc.get_objects()).encode("utf-8", "replace")
own = open(sys.argv[2], "rb").read()
found = set(mark.findall(data))
try:
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            first, last = (int(x, 16) for x in line.split()[0].split("-"))
            try:
                memory.seek(first)
                found |= set(mark.findall(memory.read(min(last - first, 1 << 26))))
            except (OSError, OverflowError, ValueError):
                pass
except OSError:
    pass
print(int(found <= {own}), sorted(found))
"""


def test_no_memory_of_a_case_is_in_the_process_of_the_next(box: EmbeddedSandbox) -> None:
    checks = asked(checker_of(box, TAKEN_OVER), *[MEMORY_OF_OTHERS] * 3)
    assert [c.outcome for c in checks] == ["accepted"] * 3, checks


STOP = """
import os, signal
for pid in (os.getppid(), 1, -1):
    try:
        os.kill(pid, signal.SIGSTOP)
    except OSError:
        pass
print(1)
"""


@pytest.mark.parametrize("number", ["SIGSTOP", "SIGKILL"])
def test_signals_to_whatever_started_a_case_reach_nothing(
    box: EmbeddedSandbox, number: str
) -> None:
    checker = checker_of(box, TAKEN_OVER, Limits(cpu_s=1, wall_s=2))
    checks = asked(checker, *[STOP.replace("SIGSTOP", number)] * 4, "print(1)")
    assert [c.outcome for c in checks] == ["accepted"] * 5, checks
