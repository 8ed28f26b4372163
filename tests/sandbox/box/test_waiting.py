"""The time that a run has waited for its core, from made-up figures of the kernel."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import build

# Looks at a folder in place of /proc, once for each line: the time and the CPU time of the run.
MAIN = r"""
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "box.h"
struct box box = {.is_init = 1};
int main(int argc, char **argv) {
    long long now, cpu;
    static struct run run;
    if (argc != 2 || dup2(open(argv[1], O_RDONLY | O_DIRECTORY), PROC_FD) < 0) return 1;
    waiting_begin(0);
    while (scanf("%lld %lld", &now, &cpu) == 2) {
        printf("%lld\n", (long long)waiting_since_last(&run, now, cpu));
        fflush(stdout);
    }
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("waiting")
    (folder / "main.c").write_text(MAIN)
    sources = [build.HERE / "usage.c", folder / "main.c"]
    subprocess.run(
        ["gcc", "-std=gnu11", "-Wall", f"-I{build.HERE}", *sources, "-o", folder / "looks"],
        check=True,
    )
    return folder / "looks"


class Watcher:
    """Looks at the tasks of a run. All times are in ns since the run began."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._folder = folder
        self.process = subprocess.Popen(
            [program, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def look(self, now: int, cpu: int, tasks: dict[int, tuple[str, int, int]]) -> int:
        """Return the time waited since the last look.

        tasks  of each task its state, how long it ran and how long it was queued
        """
        for old in self._folder.iterdir():
            shutil.rmtree(old)
        for tid, (state, ran, queued) in tasks.items():
            task = self._folder / str(tid) / "task" / str(tid)
            task.mkdir(parents=True)
            (task / "stat").write_text(f"{tid} (a) R b) {state} 1 1")
            (task / "schedstat").write_text(f"{ran} {queued} 1\n")
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(f"{now} {cpu}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture
def watcher(program: Path, tmp_path: Path) -> Iterator[Watcher]:
    made = Watcher(program, tmp_path)
    yield made
    made.process.communicate("")


def test_the_wait_of_a_task_for_others_counts_once(watcher: Watcher) -> None:
    assert watcher.look(100, 30, {7: ("S", 30, 60)}) == 60
    assert watcher.look(200, 30, {7: ("S", 30, 60)}) == 0
    assert watcher.look(300, 80, {7: ("S", 80, 110)}) == 50


def test_tasks_that_wait_for_each_other_have_not_waited(watcher: Watcher) -> None:
    crowd = {tid: ("S", 2, 2 * (tid - 10)) for tid in range(10, 50)}
    assert watcher.look(100, 80, crowd) == 0


def test_the_longest_wait_counts_not_the_sum(watcher: Watcher) -> None:
    assert watcher.look(100, 10, {7: ("S", 5, 40), 8: ("S", 5, 70)}) == 65


def test_a_task_that_ended_is_forgotten(watcher: Watcher) -> None:
    """Short tasks come and go; the old one is never taken for a new one."""
    old = ("S", 0, 500)
    assert watcher.look(1000, 0, {7: old}) == 500
    for i in range(5):
        brief = {100 + 40 * i + n: ("S", 0, 0) for n in range(40)}
        assert watcher.look(1100 + 100 * i, 0, {7: old, **brief}) == 0


def test_a_number_that_is_used_again_is_another_task(watcher: Watcher) -> None:
    assert watcher.look(1000, 0, {7: ("S", 0, 500)}) == 500
    assert watcher.look(1100, 0, {7: ("S", 0, 30)}) == 30
    assert watcher.look(1200, 0, {7: ("S", 0, 50)}) == 20


@pytest.mark.slow
def test_of_too_many_tasks_those_seen_late_gain_nothing(watcher: Watcher) -> None:
    crowd = dict.fromkeys(range(1000, 1200), ("S", 0, 500))
    first = watcher.look(1000, 0, crowd)
    assert first == 500
    for i in range(1, 10):  # the tasks that were seen end, which uncovers others
        left = dict(list(crowd.items())[20 * i :])
        assert watcher.look(1000 + 100 * i, 0, left) == 0


def test_a_task_that_never_got_the_core_has_waited_all_the_time(watcher: Watcher) -> None:
    assert watcher.look(100, 10, {7: ("R", 10, 0)}) <= 10
    assert watcher.look(200, 10, {7: ("R", 10, 0)}) == 100
    assert watcher.look(300, 10, {7: ("R", 10, 0)}) == 100
    assert watcher.look(400, 10, {7: ("S", 10, 290)}) == 90


def test_being_ready_at_every_look_gains_at_most_the_cpu_time_used(watcher: Watcher) -> None:
    """It wakes up for a moment whenever the watcher looks."""
    gained = [watcher.look(1000 * i, 2 * i, {7: ("R", 2 * i, 0)}) for i in range(1, 50)]
    assert sum(gained) <= 2 * 49


def test_short_tasks_under_load_are_credited_by_what_is_ready(watcher: Watcher) -> None:
    for i in range(1, 10):  # a task for each look: it ran for 40 of 100
        assert watcher.look(100 * i, 40 * i, {100 + i: ("R", 0, 0)}) == 40
