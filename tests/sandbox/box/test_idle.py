"""When a watcher finds that a run sleeps, and that it has woken up, from made-up figures."""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import build

# Looks at a folder in place of /proc, once for each line: the time and the CPU time of the run in
# ms, or "go", or "ask". Prints the messages to the grader, and how long the run was stopped.
MAIN = r"""
#include "watch.c"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
struct box box = {.is_init = 1};
int main(int argc, char **argv) {
    static struct run run;
    struct request rq = {.flags = atoi(argv[3])};
    uint32_t notice[2];
    int sockets[2];
    long long ms, cpu;
    char line[64];
    if (argc != 4 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets)) return 1;
    int ours = dup2(sockets[0], 9);
    dup2(sockets[1], SOCKET);
    if (dup2(open(argv[1], O_RDONLY | O_DIRECTORY), PROC_FD) < 0) return 1;
    run.rq = &rq;
    run.count = 5;
    run.from.socket = -1;
    run.out.program = atoi(argv[2]);
    strcpy(run.out.proc_pid, "7");
    idle_begin(&run, 0);
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%lld %lld", &ms, &cpu) == 2) idle_look(&run, ms * 1000000, cpu * 1000000);
        else if (!strcmp(line, "ask\n")) notice[0] = idle_asks(&run);
        else idle_go_on(&run, (ms + 20) * 1000000);
        notice[0] = notice[1] = 0;
        if (recv(ours, notice, sizeof notice, MSG_DONTWAIT) > 0 && notice[1] != 5) return 1;
        printf("%u %lld\n", notice[0], (long long)run.out.stopped_ns / 1000000);
        fflush(stdout);
    }
}
"""
NOTHING, IDLE, AWAKE = 0, 4, 5
LEND = 128
HANDLES_CONT = 1 << (signal.SIGCONT - 1)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("idle")
    (folder / "main.c").write_text(MAIN)
    parts = ("child.c", "files.c", "messages.c", "run_group.c", "usage.c")
    sources = [*(build.HERE / part for part in parts), folder / "main.c"]
    subprocess.run(
        ["gcc", "-std=gnu11", "-Wall", f"-I{build.HERE}", *sources, "-o", folder / "looks"],
        check=True,
    )
    return folder / "looks"


class Watcher:
    """Looks at a run, of which a real process is stopped."""

    def __init__(self, program: Path, folder: Path, flags: int) -> None:
        self._folder = folder
        self.run = subprocess.Popen(["sleep", "1000"])
        arguments = (str(folder), str(self.run.pid), str(flags))
        self._process = subprocess.Popen(
            [program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.stopped_ms = 0

    def tasks(self, states: str, caught: int = 0, blocked: int = 0) -> None:
        """Set the states of the run's tasks."""
        shutil.rmtree(self._folder / "7", ignore_errors=True)
        for tid, state in enumerate(states, 7):
            task = self._folder / "7" / "task" / str(tid)
            task.mkdir(parents=True)
            (task / "stat").write_text(f"{tid} (a) S b) {state} 1 1")
        masks = f"Name:\ta\nSigBlk:\t{blocked:016x}\nSigIgn:\t0\nSigCgt:\t{caught:016x}\n"
        (self._folder / "7" / "status").write_text(masks)

    def say(self, line: str) -> int:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        notice, stopped = self._process.stdout.readline().split()
        self.stopped_ms = int(stopped)
        return int(notice)

    def look(self, ms: int, cpu_ms: int) -> int:
        """Return the messages that the grader received."""
        return self.say(f"{ms} {cpu_ms}")

    def is_stopped(self) -> bool:
        text = Path(f"/proc/{self.run.pid}/stat").read_text()
        return text.rpartition(")")[2].split()[0] == "T"

    def close(self) -> None:
        self.run.kill()
        self.run.wait()
        self._process.communicate("")


@pytest.fixture
def watcher(program: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Watcher]:
    made = Watcher(program, tmp_path, getattr(request, "param", LEND))
    made.tasks("S")
    yield made
    made.close()


# One line for each look at a program: the states of its tasks (None: as before), the time and the
# CPU time in ms, and the message that the grader is sent then.
Look = tuple[str | None, int, int, int]
LOOKS: dict[str, list[Look]] = {
    "it uses its core": [(None, ms, ms, NOTHING) for ms in range(30, 1000, 100)],
    "no CPU time for a while": [
        (None, 50, 40, NOTHING),
        (None, 99, 40, NOTHING),
        (None, 149, 40, NOTHING),
        (None, 150, 41, IDLE),
        (None, 1000, 41, NOTHING),
    ],
    "it gets no CPU": [("R", 150, 0, NOTHING), (None, 300, 0, NOTHING), ("S", 450, 0, IDLE)],
    "one of its tasks gets no CPU": [
        ("SSR", 150, 0, NOTHING),
        (None, 300, 0, NOTHING),
        ("SSS", 450, 0, IDLE),
    ],
    "a little CPU time now and then is sleep": [
        (None, 100 * i, i, IDLE if i == 1 else NOTHING) for i in range(1, 50)
    ],
}


@pytest.mark.parametrize("name", LOOKS)
def test_when_a_run_is_idle(watcher: Watcher, name: str) -> None:
    told = []
    for states, ms, cpu_ms, _ in LOOKS[name]:
        if states:
            watcher.tasks(states)
        told.append(watcher.look(ms, cpu_ms))
    assert told == [wanted for *_, wanted in LOOKS[name]]


@pytest.mark.parametrize("watcher", [0], indirect=True)
def test_a_run_that_may_not_lend_its_core_keeps_it(watcher: Watcher) -> None:
    assert watcher.look(150, 0) == watcher.look(1000, 0) == NOTHING


def test_a_run_that_wakes_up_is_stopped_until_there_is_a_core(watcher: Watcher) -> None:
    assert watcher.look(100, 0) == IDLE
    watcher.tasks("R")
    assert watcher.look(110, 5) == AWAKE
    os.waitid(os.P_PID, watcher.run.pid, os.WSTOPPED | os.WNOWAIT)
    assert watcher.look(160, 5) == watcher.look(400, 5) == NOTHING
    assert watcher.stopped_ms == 290
    watcher.say("go")
    assert watcher.stopped_ms == 310
    os.waitid(os.P_PID, watcher.run.pid, os.WCONTINUED)
    assert not watcher.is_stopped()
    watcher.look(450, 30)
    assert watcher.stopped_ms == 310
    watcher.tasks("S")
    assert watcher.look(560, 30) == IDLE


@pytest.mark.parametrize(
    ("states", "masks"),
    [("S", {}), ("SR", {}), ("RR", {}), ("R", {"caught": HANDLES_CONT}),
     ("R", {"blocked": HANDLES_CONT})],
)  # fmt: skip
def test_who_could_notice_it_is_not_stopped(
    watcher: Watcher, states: str, masks: dict[str, int]
) -> None:
    assert watcher.look(100, 0) == IDLE
    watcher.tasks(states, **masks)
    assert watcher.look(110, 5) == AWAKE
    assert not watcher.is_stopped()
    assert watcher.look(400, 5) == NOTHING
    assert watcher.stopped_ms == 0
    watcher.say("go")
    watcher.tasks("S")
    assert watcher.look(500, 5) == NOTHING  # it has used CPU time since it was idle
    assert watcher.look(600, 5) == IDLE


def test_a_run_lends_its_core_a_few_times_only(watcher: Watcher) -> None:
    told = []
    for i in range(1, 20):
        watcher.tasks("S")
        told += [watcher.look(1000 * i, 10 * i), watcher.look(1000 * i + 100, 10 * i)]
        told += [watcher.look(1000 * i + 110, 10 * i + 5)]
        watcher.say("go")
    assert told.count(IDLE) == told.count(AWAKE) == 8
    assert told[-6:] == [NOTHING] * 6


def test_before_the_next_run_a_core_is_asked_for_once(watcher: Watcher) -> None:
    assert watcher.say("ask") == NOTHING
    assert watcher.look(100, 0) == IDLE
    assert watcher.say("ask") == AWAKE
    assert watcher.say("ask") == NOTHING
