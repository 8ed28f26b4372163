"""The CPU time and memory of a forked run are those of a plain start."""

from __future__ import annotations

import pytest

from gradebox.sandbox.model import MIB, Limits, Program
from tests.sandbox.levels import box_at

pytestmark = pytest.mark.slow  # starts real programs

USES = b"""\
import json
import time
x = bytearray(40 << 20)
end = time.process_time() + 0.3
while time.process_time() < end:
    pass
"""


@pytest.mark.parametrize("level", ["full", "delegated", "userns"])
def test_what_a_program_uses_is_what_is_reported(level: str) -> None:
    with box_at(level) as box:
        compiled = box.compile(Program("python", {"main.py": USES}))
        forked = box.run(compiled, Limits())
        plain = box.run(compiled, Limits(), alone=True)
    assert (forked.forked, plain.forked) == (True, False)
    for run in (forked, plain):
        assert 0.3 <= run.cpu_s < 0.6
        assert 40 * MIB <= (run.memory_bytes or 0) <= 64 * MIB


@pytest.mark.parametrize("level", ["full", "delegated", "userns"])
def test_the_limit_on_cpu_time_holds(level: str) -> None:
    with box_at(level) as box:
        compiled = box.compile(Program("python", {"main.py": b"while True: pass\n"}))
        run = box.run(compiled, Limits(cpu_s=0.3))
    assert run.forked and run.killed_for == "cpu"
    assert 0.3 <= run.cpu_s < 0.7
