"""Figures of programs that use a known amount, and the names of limits.

CPU time must be within 2 % or 3 ms, memory within 2 MB, where the level reports exact figures. That
limits hold at every level is shown by the attacks (tests/submissions/hostile).
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gradebox.sandbox.box import EmbeddedSandbox
from gradebox.sandbox.model import MIB, Compiled, Execution, Limits, Program
from tests.sandbox.levels import box_at, built

LIMITS = Limits(cpu_s=5, wall_s=60, memory_bytes=512 * MIB, processes=32)
PROGRAM = Path(__file__).parent / "programs" / "uses.cpp"
GROUPED = ("full", "delegated")
NO_FORK = 9  # exit code of the program when it cannot fork
pytestmark = [pytest.mark.slow, pytest.mark.levels()]


@pytest.fixture(scope="module", params=["full", "delegated", "userns", "landlock", "none"])
def box(request: pytest.FixtureRequest) -> Iterator[EmbeddedSandbox]:
    with box_at(request.param, allow_unsafe=True) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def uses(box: EmbeddedSandbox) -> Compiled:
    return built(box, PROGRAM.read_bytes())


TRIES = 12  # other load makes programs slower, never faster: one exact run suffices


def level(box: EmbeddedSandbox) -> str:
    return box.describe().level


@pytest.mark.levels("userns", "landlock")
@pytest.mark.parametrize(
    ("way", "ms", "share"),
    [
        ("cpu", 20, 1),
        ("cpu", 150, 1),
        ("cpu_threads", 40, 3),
        ("cpu_children", 40, 3),
        ("cpu_unwaited", 40, 3),
    ],
)
def test_cpu_time_is_exact(box, uses, way, ms, share):
    forks = way in ("cpu_children", "cpu_unwaited")
    if forks and level(box) not in GROUPED:
        result = box.run(uses, LIMITS, args=(way, str(ms)))
        assert (result.exit_code, result.killed_for) == (NO_FORK, None)
        assert result.cpu_s < 0.03
        return
    used = ms * share / 1000
    assert_exact(lambda: box.run(uses, LIMITS, args=(way, str(ms)), alone=True), lambda _: used)


def assert_exact(run: Callable[[], Execution], used: Callable[[Execution], float]) -> None:
    """Fail unless one of several runs is charged for what it used, and none for less."""
    over = []
    for _ in range(TRIES):
        result = run()
        assert result.exit_code == 0, result.stderr
        assert used(result) <= result.cpu_s + 0.0005
        over.append(result.cpu_s - used(result))
        if over[-1] <= max(0.003, 0.02 * used(result)):
            return
    pytest.fail(f"CPU seconds over what was used, each time: {over}")


@pytest.mark.levels("userns")
@pytest.mark.parametrize(("way", "amount"), [("sleep", 1500), ("stderr", 16)])
def test_watching_a_program_is_not_its_cpu_time(box, uses, way, amount):
    """The box uses CPU time to check limits and to read stderr; the program measures its own."""
    assert_exact(
        lambda: box.run(uses, LIMITS, args=(way, str(amount)), alone=True),
        lambda result: float(result.stdout),
    )


@pytest.mark.levels("userns", "landlock")
@pytest.mark.parametrize("way", ["memory", "memory_freed", "memory_file"])
@pytest.mark.parametrize("megabytes", [3, 60])
def test_memory_is_exact(box, uses, way, megabytes):
    result = box.run(uses, LIMITS, args=(way, str(megabytes)))
    assert result.exit_code == 0, result.stderr
    assert result.memory_bytes is not None
    assert abs(result.memory_bytes - megabytes * MIB) <= 2 * MIB


def test_memory_of_children_is_summed(box, uses):
    if level(box) not in GROUPED:
        pytest.skip(f"level {level(box)}: a run is one process")
    result = box.run(uses, LIMITS, args=("memory_children", "20"))
    assert result.memory_bytes is not None
    assert abs(result.memory_bytes - 60 * MIB) <= 2 * MIB


@pytest.mark.levels("userns")
def test_memory_does_not_include_the_run_before(box, uses):
    small = box.run(uses, LIMITS, args=("memory", "3")).memory_bytes
    box.run(uses, LIMITS, args=("memory_file", "200"), stdin=b"x" * 1_000_000)
    again = box.run(uses, LIMITS, args=("memory", "3")).memory_bytes
    assert small is not None and again is not None
    assert abs(small - again) <= MIB


def test_memory_of_the_grader_is_not_counted(box, uses):
    ballast = bytearray(300 * MIB)
    ballast[::4096] = b"x" * len(range(0, len(ballast), 4096))
    result = box.run(uses, LIMITS, args=("memory", "3"), stdin=bytes(20 * MIB))
    assert result.memory_bytes is not None
    assert result.memory_bytes < 6 * MIB
    del ballast


# ---- limits are reported by name ---------------------------------------------------------

SCRIPTS = {  # the others: tests/sandbox/test_conformance.py
    "file_size": (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
        "open('f', 'wb').truncate(50 << 20)",
        replace(LIMITS, file_size_bytes=20 * MIB, output_bytes=MIB),
        False,
    ),
    "open_files": (
        "import time\nx = []\ntry:\n while True: x.append(open('/dev/null'))\n"
        "except OSError: time.sleep(0.3)",
        replace(LIMITS, open_files=20),
        False,
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_limit_is_reported_by_its_name(box, name):
    script, limits, kills = SCRIPTS[name]
    made = box.compile(Program("python", {"main.py": script.encode()}))
    result = box.run(made, limits)
    assert name in result.limits_hit, shown(result)
    assert result.limits_hit == {name}, shown(result)
    if kills:
        assert result.killed_for == name, shown(result)


@pytest.mark.levels("landlock")
def test_the_disk_limit_is_reported_by_its_name(box):
    script = (
        b"import time\nfor i in range(20):\n"
        b" open(str(i), 'wb').write(bytes(4 << 20))\ntime.sleep(0.3)\n"
    )
    made = box.compile(Program("python", {"main.py": script}))
    result = box.run(made, replace(LIMITS, disk_bytes=16 * MIB))
    assert "disk" in result.limits_hit, shown(result)
    assert b"No space left" in result.stderr or result.killed_for == "disk", shown(result)


@pytest.mark.levels("userns")
def test_the_stack_is_part_of_the_memory(box):
    source = (
        b"#include <cstdio>\nint f(int n){volatile char a[1000];a[0]=n;return n?f(n-1)+a[0]:0;}"
        b'int main(){printf("%d", f(100000)!=7);}'
    )
    made = box.compile(Program("c++17", {"main.cpp": source}))
    deep = box.run(made, LIMITS)
    assert (deep.exit_code, deep.stdout) == (0, b"1"), shown(deep)
    assert deep.memory_bytes is not None and deep.memory_bytes > 95 * MIB
    cut = box.run(made, replace(LIMITS, memory_bytes=32 * MIB))
    assert cut.killed_for == "memory" or "memory" in cut.limits_hit, shown(cut)


def test_a_programs_own_signals_are_not_limits(box):
    for number in ("SIGXCPU", "SIGKILL"):
        script = f"import os, signal\nos.kill(os.getpid(), signal.{number})".encode()
        result = box.run(box.compile(Program("python", {"main.py": script})), LIMITS)
        assert result.signal is not None
        assert (result.killed_for, result.limits_hit) == (None, frozenset()), shown(result)


def test_the_kernels_tick_count_does_not_end_a_program(box):
    """RLIMIT_CPU counts whole ticks: with other programs running, 9.4 s were counted as 14 s."""
    script = b"import resource\nprint(*resource.getrlimit(resource.RLIMIT_CPU))"
    result = box.run(box.compile(Program("python", {"main.py": script})), LIMITS)
    assert min(map(int, result.stdout.split())) > LIMITS.wall_s, shown(result)


def shown(result: Execution) -> str:
    return (
        f"exit {result.exit_code}, signal {result.signal}, killed for {result.killed_for}, hit "
        f"{sorted(result.limits_hit)}, {result.cpu_s:.3f} s CPU, {result.wall_s:.3f} s, "
        f"{result.memory_bytes} bytes, {result.stderr[-200:]!r}"
    )
