"""The early start: none of the program's instructions run before the request, and no result depends
on it. (A program can detect an early start by its age.)
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Compiled, Limits, Program
from testing.submissions.hostile import host
from tests.sandbox.levels import box_at, built

pytestmark = pytest.mark.slow  # each test starts real programs

HERE = Path(__file__).parent
LIMITS = Limits(cpu_s=5, wall_s=20, memory_bytes=256 * MIB)
IDLE_S = 0.02  # far longer than a box is idle before an early start
KINDS = [(level, fresh) for level in ("full", "delegated", "userns") for fresh in (True, False)]


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: f"{kind[0]}-{kind[1]}")
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    level, fresh = request.param
    with box_at(level, fresh=fresh) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def witness(box: EmbeddedSandbox) -> Compiled:
    return built(box, (HERE / "programs" / "witness.cpp").read_bytes())


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def stopped_programs() -> list[int]:
    """Return the stopped descendants of this process: programs that were started early."""
    return [pid for pid in host.children(os.getpid()) if state(pid) in "Tt"]


def start_early(box: EmbeddedSandbox, program: Compiled, args: tuple[str, ...] = ()) -> int:
    """Run a program until it is started early for another run. Return its process id."""
    for _ in range(3):
        before = set(stopped_programs())
        box.run(program, LIMITS, args=args)
        time.sleep(IDLE_S)
    end = time.monotonic() + 10
    while time.monotonic() < end:
        now = stopped_programs()
        if now:
            assert len(now) == 1
            return now[0]
        time.sleep(IDLE_S)
    raise AssertionError(f"no program was started early; before: {before}")


def hashed(text: bytes) -> int:
    total = 0
    for byte in text:
        total = (total * 31 + byte) & 0xFFFFFFFF
    return total


def test_no_instruction_runs_before_the_request(box: EmbeddedSandbox, witness: Compiled) -> None:
    start_early(box, witness)
    asked = time.monotonic_ns()
    begun = int(box.run(witness, LIMITS).stdout.split()[0])
    assert begun > asked


def test_a_program_sees_the_same_as_in_a_usual_run(box: EmbeddedSandbox, witness: Compiled) -> None:
    box.run(witness, LIMITS, args=("another",))
    first = box.run(witness, LIMITS, stdin=b"12").stdout.split(b"\n")[1]
    pid = start_early(box, witness)
    result = box.run(witness, LIMITS, stdin=b"12")
    assert result.stdout.split(b"\n")[1] == first == b"0|0 1 2 ||2 %d" % hashed(b"12")
    assert not Path(f"/proc/{pid}").exists(), "it was that process that ran"


def test_figures_are_the_same_as_in_a_usual_run(box: EmbeddedSandbox) -> None:
    source = (HERE.parent / "programs" / "uses.cpp").read_bytes()
    uses = box.compile(Program("c++17", {"uses.cpp": source}))
    for _ in range(4):
        result = box.run(uses, LIMITS, args=("memory", "60"), stdin=bytes(60_000))
        assert abs(result.memory_bytes - 60 * MIB) <= 2 * MIB
        assert 0 < result.cpu_s < 1
        time.sleep(IDLE_S)


LARGE = b"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
int main(int argc, char **argv) {
    size_t held = atol(argv[1]) << 20, printed = atol(argv[2]) << 20;
    char *p = (char *)malloc(held);
    memset(p, 1, held);
    fwrite(p, 1, printed, stdout);
    FILE *f = fopen("out", "w");
    fwrite(p, 1, printed, f);
    return 0 * p[5];
}
"""


def test_output_that_the_driver_still_reads_is_not_counted_for_the_next_run(
    box: EmbeddedSandbox,
) -> None:
    """Large outputs and files are charged to the group until they are read. As part of the baseline
    they would let the next run have that much more than its limit."""
    large = box.compile(Program("c++17", {"main.cpp": LARGE}))
    limits = Limits(cpu_s=5, wall_s=20, memory_bytes=64 * MIB, file_size_bytes=64 * MIB)
    if not box.capabilities >= {"processes"}:
        pytest.skip("memory is that of one process here")
    for _ in range(5):
        result = box.run(large, limits, args=("20", "15"), collect=("out",))
        assert abs(result.memory_bytes - 35 * MIB) <= 2 * MIB  # the file, not what was printed
        time.sleep(IDLE_S)
    for _ in range(5):
        result = box.run(large, limits, args=("80", "15"))
        assert result.killed_for == "memory" or "memory" in result.limits_hit
        time.sleep(IDLE_S)


FILES = b"""
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
int main() {
    char name[32];
    for (int i = 0; i < 15000; i++) {
        std::snprintf(name, sizeof name, "%d", i);
        close(open(name, O_CREAT | O_WRONLY, 0644));
    }
}
"""


def test_memory_that_is_freed_late_does_not_enlarge_the_next_limit(box: EmbeddedSandbox) -> None:
    if not box.capabilities >= {"processes"}:
        pytest.skip("memory is that of one process here")
    many = box.compile(Program("c++17", {"main.cpp": FILES}))
    result = sorted(box.run(many, LIMITS).memory_bytes or 0 for _ in range(9))
    assert result[0] > 4 * MIB
    assert result[-1] - result[4] <= 7 * MIB, result  # the median: a busy machine frees even later


def test_limits_hold_after_an_early_start(box: EmbeddedSandbox) -> None:
    endless = box.compile(Program("c++17", {"main.cpp": b"int main() { for (;;) {} }"}))
    for _ in range(3):
        result = box.run(endless, Limits(cpu_s=0.1, wall_s=20))
        assert result.killed_for == "cpu"
        assert 0.1 <= result.cpu_s < 0.3
        time.sleep(IDLE_S)


@pytest.mark.parametrize("who", ["program", "its parent"])
def test_a_kill_before_the_request_has_no_effect(
    box: EmbeddedSandbox, witness: Compiled, who: str
) -> None:
    """As the kernel does when memory is short: the next run is a usual one."""
    pid = start_early(box, witness)
    if who == "its parent":
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(pid, signal.SIGKILL)
    result = box.run(witness, LIMITS, stdin=b"7")
    assert (result.exit_code, result.signal) == (0, None)
    assert b"|1 55" in result.stdout


def test_a_continue_before_the_request_has_no_effect(
    box: EmbeddedSandbox, witness: Compiled
) -> None:
    """Another process may signal it; then the start is discarded."""
    os.kill(start_early(box, witness, args=("left",)), signal.SIGCONT)
    time.sleep(IDLE_S)
    result = box.run(witness, LIMITS, stdin=b"7", args=("left",))
    assert b"|1 55" in result.stdout
    assert result.stdout.endswith(b"nothing was left\n")


def test_it_ends_with_its_box(witness: Compiled, box: EmbeddedSandbox) -> None:
    level = box.describe().level
    with EmbeddedSandbox(1, level=level) as other:
        again = other.compile(Program("c++17", witness.program.files))
        pid = start_early(other, again)
    end = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < end, "it outlived its box"
        time.sleep(0.01)


RUNS = st.tuples(
    st.sampled_from(["witness", "python"]),
    st.sampled_from([(), ("left",), ("a", "b")]),
    st.sampled_from([b"", b"5\n", bytes(range(256)) * 255, b"x" * 70_000]),
    st.sampled_from([LIMITS, Limits(cpu_s=2, wall_s=9, memory_bytes=64 * MIB)]),
    st.sampled_from([{}, {"input.txt": b"text"}]),
    st.sampled_from([0, 0, IDLE_S]),
)
PYTHON = b"""
import os, sys
text = sys.stdin.buffer.read()
total = 0
for byte in text: total = (total * 31 + byte) & 0xFFFFFFFF
print("begun\\n0|0 1 2 ||%d %d" % (len(text), total), *sys.argv[1:], sep="|")
if sys.argv[1:2] == ["left"]:
    print("something was left" if os.path.exists("left") else "nothing was left")
    open("left", "w").close()
"""


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(RUNS, st.integers(1, 4)), min_size=1, max_size=5))
def test_a_result_depends_only_on_its_request(
    box: EmbeddedSandbox, witness: Compiled, wanted: list[tuple[tuple[object, ...], int]]
) -> None:
    python = box.compile(Program("python", {"main.py": PYTHON}))
    for (kind, args, stdin, limits, files, pause), times in wanted:
        for _ in range(times):
            program = witness if kind == "witness" else python
            result = box.run(program, limits, stdin=stdin, args=args, files=files)  # type: ignore[arg-type]
            tail = "".join(f"|{arg}" for arg in args)  # type: ignore[attr-defined]
            expected = f"0|0 1 2 ||{len(stdin)} {hashed(stdin)}{tail}\n"  # type: ignore[arg-type]
            if args == ("left",):
                expected += "nothing was left\n"
            assert result.stdout.split(b"\n", 1)[1] == expected.encode()
            assert result.exit_code == 0
            time.sleep(pause)  # type: ignore[arg-type]
