"""The time that a run has waited for its core, from made-up figures of the kernel."""

import shutil
import subprocess
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


OLD = {7: ("S", 0, 500)}
# What is looked at in turn, in ns since the run began: the time, the CPU time of the run, of each
# task its state, how long it ran and how long it was queued; the time waited since the last look.
LOOKS = {
    "the wait of a task for others counts once": [
        (100, 30, {7: ("S", 30, 60)}, 60),
        (200, 30, {7: ("S", 30, 60)}, 0),
        (300, 80, {7: ("S", 80, 110)}, 50),
    ],
    "tasks that wait for each other have not waited": [
        (100, 80, {tid: ("S", 2, 2 * (tid - 10)) for tid in range(10, 50)}, 0),
    ],
    "the longest wait counts, not the sum": [
        (100, 10, {7: ("S", 5, 40), 8: ("S", 5, 70)}, 65),
    ],
    "a task that ended is forgotten, and short ones are not taken for it": [
        (1000, 0, OLD, 500),
        *(
            (1100 + 100 * i, 0, OLD | {100 + 40 * i + n: ("S", 0, 0) for n in range(40)}, 0)
            for i in range(5)
        ),
    ],
    "a number that is used again is another task": [
        (1000, 0, OLD, 500),
        (1100, 0, {7: ("S", 0, 30)}, 30),
        (1200, 0, {7: ("S", 0, 50)}, 20),
    ],
    # The tasks that were seen end, which uncovers others.
    "of too many tasks those seen late gain nothing": [
        (
            1000 + 100 * i,
            0,
            dict.fromkeys(range(1000 + 20 * i, 1200), ("S", 0, 500)),
            500 * (not i),
        )
        for i in range(10)
    ],
    "a task that never got the core has waited all the time": [
        (100, 10, {7: ("R", 10, 0)}, 10),
        (200, 10, {7: ("R", 10, 0)}, 100),
        (300, 10, {7: ("R", 10, 0)}, 100),
        (400, 10, {7: ("S", 10, 290)}, 90),
    ],
    # It wakes up for a moment whenever the watcher looks: at most the CPU time that it used.
    "being ready at every look gains little": [
        (1000 * i, 2 * i, {7: ("R", 2 * i, 0)}, 2) for i in range(1, 50)
    ],
    # A task for each look: it ran for 40 of 100.
    "short tasks under load are credited by what is ready": [
        (100 * i, 40 * i, {100 + i: ("R", 0, 0)}, 40) for i in range(1, 10)
    ],
}


@pytest.mark.parametrize("name", LOOKS)
def test_the_time_that_was_waited(program: Path, tmp_path: Path, name: str) -> None:
    found = []
    with subprocess.Popen(
        [program, tmp_path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as watcher:
        assert watcher.stdin is not None and watcher.stdout is not None
        for now, cpu, tasks, _ in LOOKS[name]:
            for old in tmp_path.iterdir():
                shutil.rmtree(old)
            for tid, (state, ran, queued) in tasks.items():
                task = tmp_path / str(tid) / "task" / str(tid)
                task.mkdir(parents=True)
                (task / "stat").write_text(f"{tid} (a) R b) {state} 1 1")
                (task / "schedstat").write_text(f"{ran} {queued} 1\n")
            watcher.stdin.write(f"{now} {cpu}\n")
            watcher.stdin.flush()
            found.append(int(watcher.stdout.readline()))
    assert found == [wanted for *_, wanted in LOOKS[name]]
