"""Boxes that the kernel ends when the memory of their group is short."""

import os
import signal
import threading
import time

import pytest

from gradebox.sandbox.box.isolation.cgroup import Cgroup
from gradebox.sandbox.box.process import _live_boxes
from gradebox.sandbox.model import MIB, Limits, Program
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow  # each test starts real programs

NAP = Program("python", {"main.py": b"import time\ntime.sleep(float(input()))\nprint('slept')"})
HUNGRY = Program("python", {"main.py": b"x = bytearray(200 << 20)\nprint(len(x))"})


def kill_the_next_box_that_runs() -> None:
    """Wait until a box has begun a run, which it may have to wait for a core for; then kill it."""
    before = {one: one.run_count for one in list(_live_boxes)}
    while True:
        for one in list(_live_boxes):
            if one.pid and one.run_count > before.get(one, 0):
                time.sleep(0.1)
                os.kill(one.pid, signal.SIGKILL)
                return
        time.sleep(0.001)


def test_a_box_that_dies_with_its_program_is_no_fault_of_the_machine(monkeypatch):
    """The kernel may end the box of a program that needs too much memory as well."""
    with box_at("full") as box:
        nap = box.compile(NAP)
        box.run(nap, Limits(), stdin=b"0")
        monkeypatch.setattr(Cgroup, "oom_kills", lambda self: 1)
        killer = threading.Thread(target=kill_the_next_box_that_runs)
        killer.start()
        result = box.run(nap, Limits(wall_s=100), stdin=b"90")  # killed in its sleep, however late
        killer.join()
        assert (result.killed_for, result.limits_hit) == ("memory", {"memory"})
        assert result.signal == signal.SIGKILL
        assert box.run(nap, Limits(), stdin=b"0").stdout == b"slept\n"


def test_a_box_is_not_used_again_after_the_kernel_ended_its_program():
    """What the kernel counted for one run must not decide the next."""
    with box_at("full") as box:
        hungry, nap = box.compile(HUNGRY), box.compile(NAP)
        box.run(nap, Limits(), stdin=b"0")
        before = {one.pid for one in _live_boxes if one.pid}
        assert box.run(hungry, Limits(memory_bytes=64 * MIB)).killed_for == "memory"
        assert box.run(nap, Limits(), stdin=b"0").stdout == b"slept\n"
        assert {one.pid for one in _live_boxes if one.pid} - before
