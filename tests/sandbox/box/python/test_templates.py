"""Runs that are forked from a template: limits, figures, and what happens to the template."""

import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.box.python.start import PythonStart
from gradebox.sandbox.box.wire import Reply
from gradebox.sandbox.model import MIB, Compiled, Limits, Program
from tests.sandbox.levels import box_at

LIMITS = Limits(cpu_s=5, wall_s=60, memory_bytes=256 * MIB, processes=16)
MODULES = (
    *("bisect", "heapq", "queue", "textwrap", "stringprep", "calendar"),
    *("csv", "difflib", "shlex", "wave", "cmd", "code"),
)
USES = b"""
import json, time
x = bytearray(40 << 20)
end = time.process_time() + 0.3
while time.process_time() < end: pass
"""
CHILDREN = b"""
import os, signal
children = []
try:
    while len(children) < 64:
        pid = os.fork()
        if not pid: signal.pause()
        children.append(pid)
except OSError: pass
print(len(children))
"""
THREADS = b"""
import threading
stop = threading.Event()
threads = 0
try:
    while threads < 64:
        threading.Thread(target=stop.wait, daemon=True).start()
        threads += 1
except RuntimeError: pass
print(threads)
stop.set()
"""


@pytest.fixture(scope="module", params=["full", "delegated", "userns"])
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param) as sandbox:
        if sandbox.describe().details["python_start"] != "fork":
            pytest.skip("this interpreter does not start by fork")
        yield sandbox


@pytest.fixture
def replies(monkeypatch: pytest.MonkeyPatch) -> list[Reply]:
    """The box's own replies to the runs of a test."""
    seen: list[Reply] = []
    as_plain = PythonStart.as_plain

    def keep(self: PythonStart, reply: Reply, program: object) -> Reply:
        seen.append(reply)
        return as_plain(self, reply, program)  # type: ignore[arg-type]

    monkeypatch.setattr(PythonStart, "as_plain", keep)
    return seen


def compiled(box: EmbeddedSandbox, source: bytes) -> Compiled:
    return box.compile(Program("python", {"main.py": source}))


@pytest.mark.slow
def test_figures_are_those_of_a_plain_start(box):
    program = compiled(box, USES)
    forked, plain = box.run(program, LIMITS), box.run(program, LIMITS, alone=True)
    assert (forked.forked, plain.forked) == (True, False)
    for run in (forked, plain):
        assert 0.3 <= run.cpu_s < 0.9
        assert 40 * MIB <= (run.memory_bytes or 0) <= 64 * MIB
    run = box.run(compiled(box, b"while True: pass\n"), replace(LIMITS, cpu_s=0.3))
    assert run.forked and run.killed_for == "cpu"
    assert 0.3 <= run.cpu_s < 0.9


@pytest.mark.slow
@pytest.mark.parametrize("imports", [1, 12])
def test_the_process_limit_is_exact(box, imports, replies):
    """Whatever number of templates is in the box, and after some were replaced."""
    for name in MODULES[:imports]:
        for other in ("", f"import {name}2\n", f"import {name}, token\n"):
            box.run(compiled(box, f"import {name}\n{other}".encode()), LIMITS)
    grouped = box.describe().level != "userns"
    program = compiled(box, CHILDREN if grouped else THREADS)
    for processes in (4, 16):
        for attempt in range(10):
            time.sleep(0.05 * attempt)
            result = box.run(program, replace(LIMITS, processes=processes))
            assert replies[-1].forked
            assert ("processes" in result.limits_hit) == grouped
            more = int(result.stdout) - (processes - 1)
            if more >= 0:  # until the kernel has freed those that ended before, there is less room
                break
        assert more in ((0,) if grouped else (0, 1, 2, 3))  # the limit is that of a user there


def test_a_run_that_cannot_be_forked_is_executed(box):
    source = b"print(1)"
    result = box.run(compiled(box, source), replace(LIMITS, memory_bytes=MIB, output_bytes=1000))
    assert "memory" in result.limits_hit
    assert box.run(compiled(box, source), LIMITS).stdout == b"1\n"


def test_a_case_finds_nothing_of_the_run_before_in_its_memory(box):
    word = "argument-of-another-run-" + "x" * 2000
    box.run(compiled(box, b"print(1)"), LIMITS, args=(word,))
    source = rb"""
import re
found = 0
for line in open("/proc/self/maps"):
    if line.split()[1][:2] == "rw" and "[v" not in line:
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        with open("/proc/self/mem", "rb", 0) as file:
            file.seek(start)
            data = file.read(end - start) or b""
        found += len(re.findall(b"argument-of-another-run-x{100}", data))
print(found)
"""
    assert box.run(compiled(box, source), LIMITS).stdout == b"0\n"
