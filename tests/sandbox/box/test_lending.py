"""Runs that sleep lend their cores, and lose nothing by it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import pytest

from gradebox.sandbox import Limits, Program
from gradebox.sandbox.box import EmbeddedSandbox, core_locks
from gradebox.sandbox.model import Compiled, Execution
from tests.sandbox.levels import box_at, built

pytestmark = [pytest.mark.slow, pytest.mark.levels()]  # each test waits for programs that sleep
LIMITS = Limits(cpu_s=5, wall_s=20)
# Sleeps and uses CPU time in turn, for the ms in its input; also in a thread or a process.
SOURCE = rb"""
#include <atomic>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
std::atomic<int> conts{0};
void sleep_ms(int ms) {
    timespec t{ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&t, nullptr);
}
void work(int sleep, int spin, int times) {
    for (int i = 0; i < times; i++) {
        sleep_ms(sleep);
        clock_t end = clock() + spin * (CLOCKS_PER_SEC / 1000);
        while (spin && clock() < end) {}
    }
}
int main() {
    char how;
    int sleep, spin, times, status = 0;
    if (scanf(" %c %d %d %d", &how, &sleep, &spin, &times) != 4) return 1;
    if (how == 'h') std::signal(SIGCONT, [](int) { conts++; });
    if (how == 't') std::thread(work, sleep, spin, times).join();
    else if (how == 'p') {
        if (!fork()) {
            work(sleep, spin, times);
            _exit(0);
        }
        if (wait(&status) < 0 || status) return 2;
    } else work(sleep, spin, times);
    std::printf("done %d\n", conts.load());
}
"""


@pytest.fixture(scope="module", params=["full", "delegated", "userns", "landlock"])
def box(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EmbeddedSandbox]:
    """A sandbox with one core, which it shares with no other grader."""
    folder = tmp_path_factory.mktemp("locks")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core_locks, "_folders", lambda: iter([folder]))
        opened = box_at(request.param)
    with opened:
        yield opened


@pytest.fixture(scope="module")
def program(box: EmbeddedSandbox) -> Compiled:
    return built(box, SOURCE)


class Run(threading.Thread):
    """A run in the background."""

    def __init__(self, box: EmbeddedSandbox, program: Compiled, stdin: bytes, **more: object):
        super().__init__(daemon=True)
        self._do = lambda: box.run(program, more.pop("limits", LIMITS), stdin=stdin, **more)  # type: ignore[arg-type]
        self.start()

    def run(self) -> None:
        self.execution = self._do()

    def result(self) -> Execution:
        self.join()
        return self.execution


def wait_until_lent(box: EmbeddedSandbox, count: int = 1) -> None:
    end = time.monotonic() + 60
    while box._cores.lent < count and time.monotonic() < end:
        time.sleep(0.005)
    assert box._cores.lent == count


@pytest.mark.levels("landlock")
def test_others_run_while_a_program_sleeps(box: EmbeddedSandbox, program: Compiled) -> None:
    sleeper = Run(box, program, b"- 800 0 1")
    wait_until_lent(box)
    between = box.run(program, LIMITS, stdin=b"- 0 20 1")
    assert sleeper.is_alive()
    for execution in (between, sleeper.result()):
        assert execution.stdout == b"done 0\n" and not execution.contended
    assert box._cores.lent == 0


@pytest.mark.levels("userns", "landlock")
@pytest.mark.parametrize("how", ["-", "h", "t", "p"])
def test_a_program_that_wakes_up_waits_for_a_core(
    box: EmbeddedSandbox, program: Compiled, how: str
) -> None:
    """Its wall limit is shorter than the time until there is one."""
    if how == "p" and "processes" not in box.capabilities:
        pytest.skip("programs may not fork at this level")
    limits = Limits(cpu_s=5, wall_s=0.6, processes=4)
    began_s = time.monotonic()
    sleeper = Run(box, program, b"%s 250 50 1" % how.encode(), limits=limits)
    wait_until_lent(box)
    with box._cores.one():
        sleeper.join(0.7)
        assert sleeper.is_alive() or how != "-"
    execution = sleeper.result()
    assert execution.stdout == b"done 0\n", execution
    assert execution.contended
    assert 0.05 <= execution.cpu_s < 0.4
    elapsed_s = time.monotonic() - began_s
    assert execution.wall_s < elapsed_s - 0.3 or how != "-"


@pytest.mark.slow
@pytest.mark.parametrize("stdin", [b"- 99 2 8", b"- 130 20 4"])
def test_sleeping_and_waking_gains_nothing(
    box: EmbeddedSandbox, program: Compiled, stdin: bytes
) -> None:
    runs = [Run(box, program, stdin, limits=Limits(cpu_s=0.05, wall_s=5)) for _ in range(3)]
    for run in runs:
        execution = run.result()
        if stdin.endswith(b"4"):
            assert execution.killed_for == "cpu"
            assert execution.cpu_s < 0.2
        else:
            assert execution.stdout == b"done 0\n", execution


@pytest.mark.slow
def test_many_sleepers_end_by_their_wall_limit(box: EmbeddedSandbox, program: Compiled) -> None:
    limits = Limits(cpu_s=5, wall_s=4)
    runs = [Run(box, program, b"- 60000 0 1", limits=limits) for _ in range(4)]
    wait_until_lent(box, 4)
    for run in runs:
        execution = run.result()
        assert execution.killed_for == "wall" and not execution.contended
        assert execution.wall_s >= 4


def test_a_run_alone_does_not_lend_its_core(box: EmbeddedSandbox, program: Compiled) -> None:
    alone = Run(box, program, b"- 300 0 1", alone=True)
    time.sleep(0.05)
    other = Run(box, program, b"- 0 0 1")
    while alone.is_alive():
        assert box._cores.lent == 0
        time.sleep(0.005)
    assert alone.result().stdout == other.result().stdout == b"done 0\n"


def test_a_python_program_lends_its_core(box: EmbeddedSandbox) -> None:
    source = b"import time\ntime.sleep(.4)\nx = sum(range(10**6))\nprint(x)\n"
    program = box.compile(Program("python", {"main.py": source}))
    sleeper = Run(box, program, b"")
    wait_until_lent(box)
    with box._cores.one():
        sleeper.join(0.6)
        assert sleeper.is_alive()
    execution = sleeper.result()
    assert execution.stdout == b"499999500000\n" and execution.contended


def test_programs_that_wait_for_each_other_lend_their_core(box: EmbeddedSandbox) -> None:
    waits = box.compile(Program("python", {"main.py": b"input()\n"}))
    limits = Limits(cpu_s=1, wall_s=1)
    results = []
    pair = threading.Thread(
        target=lambda: results.append(box.interact(waits, waits, limits, limits))
    )
    pair.start()
    wait_until_lent(box)
    pair.join()
    assert "wall" in (results[0].first.killed_for, results[0].second.killed_for)


def test_programs_that_talk_again_after_a_pause(box: EmbeddedSandbox) -> None:
    slow = b"import time\ntime.sleep(.4)\nprint(sum(range(10**6)), flush=True)\nprint(input())\n"
    echo = b"x = int(input())\ny = sum(range(10**6))\nprint(x == y)\n"
    one, two = (box.compile(Program("python", {"main.py": text})) for text in (slow, echo))
    results = []
    pair = threading.Thread(target=lambda: results.append(box.interact(one, two, LIMITS, LIMITS)))
    pair.start()
    wait_until_lent(box)
    with box._cores.one():
        pair.join(0.5)
        assert pair.is_alive()
    pair.join()
    assert (results[0].first.exit_code, results[0].second.exit_code) == (0, 0)
    assert results[0].transcript[-2:] == (("second", b"True\n"), ("first", b"True\n"))


@pytest.mark.levels("landlock")
@pytest.mark.parametrize("last", [b"- 300 30 1", b"- 300 0 1"])
def test_a_run_between_others_lends_the_core_of_all(
    box: EmbeddedSandbox, program: Compiled, last: bytes
) -> None:
    """After a run that has ended while its core was lent, the next one waits for a core."""
    stdins = [b"- 0 1 1", last, b"- 0 20 1", last, b"- 0 1 1"]
    results: list[Execution] = []

    def run() -> None:
        for group in box.run_many(program, [LIMITS] * len(stdins), stdins):
            results.extend(group)

    thread = threading.Thread(target=run)
    thread.start()
    for _ in range(2):
        wait_until_lent(box)
        with box._cores.one():
            thread.join(0.5)
            assert thread.is_alive() and len(results) < 5
            assert box._cores.lent == 1
        while box._cores.lent:
            time.sleep(0.001)
    thread.join()
    assert [one.stdout for one in results] == [b"done 0\n"] * 5
    assert results[-1].contended


def test_a_run_that_is_given_up_while_it_waits_for_a_core(
    box: EmbeddedSandbox, program: Compiled
) -> None:
    groups = box.run_many(program, [LIMITS] * 3, [b"- 0 1 1", b"- 200 60000 1", b"- 0 1 1"])
    thread = threading.Thread(target=lambda: next(groups))
    thread.start()
    thread.join()
    closing = threading.Thread(target=groups.close)
    with box._cores.one() if box._cores.lent else contextlib.nullcontext():
        time.sleep(0.3)
        closing.start()
        closing.join(20)
        assert not closing.is_alive()
    assert box.run(program, LIMITS, stdin=b"- 0 1 1").stdout == b"done 0\n"
    assert box._cores.lent == 0
