"""Runs that sleep lend their cores, and lose nothing by it."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from gradebox.sandbox import Limits
from gradebox.sandbox.box import EmbeddedSandbox, core_locks
from gradebox.sandbox.box.cores import Hold
from gradebox.sandbox.model import Compiled, Execution
from tests.sandbox.levels import box_at, built

pytestmark = [pytest.mark.slow, pytest.mark.levels()]  # each test waits for programs that sleep
LIMITS = Limits(cpu_s=5, wall_s=20)
TRIES = 8  # a busy machine may not notice that a program sleeps
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
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    std::fprintf(stderr, "%ld.%09ld", long(now.tv_sec), now.tv_nsec);
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


class Taker:
    """Takes the core at the moment in which a run lends it, before the run can wake up.

    times  it still does so
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 1
        self._lent, self._taken = threading.Semaphore(0), contextlib.ExitStack()
        lend = Hold.lend

        def lend_and_take(hold: Hold) -> None:
            lend(hold)
            if hold._is_lent and self.times:
                self.times -= 1
                self._taken.enter_context(hold._cores.one())
                self._lent.release()

        monkeypatch.setattr(Hold, "lend", lend_and_take)

    def keep(self, run: threading.Thread, seconds: float) -> bool | None:
        """Keep the core of a run for a while.

        Return whether the run had to wait for it; None when it ended without lending it, which a
        busy machine can miss.
        """
        while not self._lent.acquire(timeout=0.02):
            if not run.is_alive() and not self._lent.acquire(blocking=False):
                return None
        run.join(seconds)
        with self._taken:
            self.given_back_s = time.monotonic()
            return run.is_alive()


@pytest.fixture
def taker(monkeypatch: pytest.MonkeyPatch) -> Taker:
    return Taker(monkeypatch)


def until_lent(taker: Taker, start: Callable[[], Run], seconds: float) -> tuple[Run, bool]:
    """Start runs until one lends its core; keep that; return the run and whether it waited."""
    for _ in range(TRIES):
        run = start()
        waited = taker.keep(run, seconds)
        if waited is not None:
            return run, waited
    raise AssertionError("no run lent its core")


@pytest.mark.levels("landlock")
def test_others_run_while_a_program_sleeps(box, program):
    for sleep_ms in (400, 1000, 3000, 9000):  # longer on a busy machine
        sleeper = Run(box, program, b"- %d 0 1" % sleep_ms)
        while not box._cores.lent and sleeper.is_alive():
            time.sleep(0.005)
        between = box.run(program, LIMITS, stdin=b"- 0 20 1")
        in_time = sleeper.is_alive()
        for execution in (between, sleeper.result()):
            assert execution.stdout == b"done 0\n"
        assert box._cores.lent == 0
        if in_time:
            break
    assert in_time and not between.contended and not sleeper.result().contended


@pytest.mark.levels("userns", "landlock")
@pytest.mark.parametrize("how", ["-", "h", "t", "p"])
def test_a_program_that_wakes_up_waits_for_a_core(box, program, how, taker):
    """Its wall limit is shorter than the time until there is one."""
    if how == "p" and "processes" not in box.capabilities:
        pytest.skip("programs may not fork at this level")
    limits, spin_ms = Limits(cpu_s=5, wall_s=0.8, processes=4), 300 if how == "-" else 50

    def start() -> Run:
        return Run(box, program, b"%s 250 %d 1" % (how.encode(), spin_ms), limits=limits)

    began_s = time.monotonic()
    sleeper, waited = until_lent(taker, start, 0.9)
    assert waited or how != "-"
    execution = sleeper.result()
    assert execution.stdout == b"done 0\n", execution
    assert execution.contended
    assert 0.05 <= execution.cpu_s < 0.7
    elapsed_s = time.monotonic() - began_s
    if how == "-":  # it did not work before it had a core
        assert execution.wall_s < elapsed_s - 0.5
        assert float(execution.stderr) > taker.given_back_s


@pytest.mark.parametrize("stdin", [b"- 99 2 8", b"- 130 40 4"])
def test_sleeping_and_waking_gains_nothing(box, program, stdin):
    runs = [Run(box, program, stdin, limits=Limits(cpu_s=0.1, wall_s=9)) for _ in range(3)]
    for run in runs:
        execution = run.result()
        if stdin.endswith(b"4"):
            assert execution.killed_for == "cpu"
            assert execution.cpu_s < 0.3
        else:
            assert execution.stdout == b"done 0\n", execution


def test_many_sleepers_end_by_their_wall_limit(box, program):
    limits, most = Limits(cpu_s=5, wall_s=4), 0
    runs = [Run(box, program, b"- 60000 0 1", limits=limits) for _ in range(4)]
    while any(run.is_alive() for run in runs):
        most = max(most, box._cores.lent)
        time.sleep(0.005)
    assert most == 4
    for run in runs:
        execution = run.result()
        assert execution.killed_for == "wall" and not execution.contended
        assert execution.wall_s >= 4


def test_a_run_alone_does_not_lend_its_core(box, program):
    alone = Run(box, program, b"- 300 0 1", alone=True)
    other = Run(box, program, b"- 0 0 1")
    while alone.is_alive():
        assert box._cores.lent == 0
        time.sleep(0.005)
    assert alone.result().stdout == other.result().stdout == b"done 0\n"


@pytest.mark.levels("landlock")
@pytest.mark.parametrize("last", [b"- 300 30 1", b"- 300 0 1"])
def test_a_run_between_others_lends_the_core_of_all(box, program, last, taker):
    """After a run that has ended while its core was lent, the next one waits for a core."""
    stdins = [b"- 0 1 1", last, b"- 0 20 1", last, b"- 0 1 1"]
    for _ in range(TRIES):
        results: list[Execution] = []
        taker.times = 2

        def run(results: list[Execution] = results) -> None:
            for group in box.run_many(program, [LIMITS] * len(stdins), stdins):
                results.extend(group)

        thread = threading.Thread(target=run)
        thread.start()
        waited = [taker.keep(thread, 0.5) for _ in range(2)]
        thread.join()
        if None not in waited:
            break
    assert waited == [True, True]
    assert [one.stdout for one in results] == [b"done 0\n"] * 5
    assert results[-1].contended


def test_a_run_that_is_given_up_while_it_waits_for_a_core(box, program):
    groups = box.run_many(program, [LIMITS] * 3, [b"- 0 1 1", b"- 200 60000 1", b"- 0 1 1"])
    next(groups)
    closing = threading.Thread(target=groups.close)
    with box._cores.one() if box._cores.lent else contextlib.nullcontext():
        time.sleep(0.3)
        closing.start()
        closing.join(100)
        assert not closing.is_alive()
    assert box.run(program, LIMITS, stdin=b"- 0 1 1").stdout == b"done 0\n"
    assert box._cores.lent == 0
