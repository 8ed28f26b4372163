"""Core locks: shared by graders, held by other users, obstructed."""

import fcntl
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import core_locks, ticket_queue
from gradebox.sandbox.box import cores as cores_module
from gradebox.sandbox.box.core_locks import CoreLocks
from gradebox.sandbox.box.cores import Cores
from gradebox.sandbox.box.ticket_queue import TicketQueue
from gradebox.sandbox.common.cpus import Core, physical_cores
from gradebox.sandbox.errors import SandboxError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The first folder for locks; there is a second one."""
    first, second = tmp_path / "first", tmp_path / "second"
    for one in (first, second):
        one.mkdir()
    monkeypatch.setattr(core_locks, "_folders", lambda: iter((first, second)))
    yield first


def lock_from_elsewhere(path: Path) -> int:
    """Lock a file as another process would, with a descriptor of its own."""
    fd = os.open(path, os.O_RDONLY | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_EX)
    return fd


def locked(folder: Path) -> set[int]:
    """Return the cores that no other process could lock now."""
    found = set()
    for path in folder.glob("[0-9]*"):
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                found.add(int(path.name))
    return found


def test_two_graders_never_have_the_same_core(folder):
    one, two = Cores(), Cores()
    with one.one() as mine:
        assert locked(folder) == {mine.core.name}
        if two.slots > 1:
            with two.one() as theirs:
                assert locked(folder) == {mine.core.name, theirs.core.name}
                assert not mine.contended and not theirs.contended
    one.close()
    two.close()


@pytest.mark.parametrize("trap", ["link", "pipe", "folder"])
def test_an_obstacle_moves_the_locks_to_the_next_folder(folder, trap):
    path = folder / str(physical_cores()[0].name)
    secret = folder.parent / "secret"
    secret.write_text("x")
    if trap == "link":
        path.symlink_to(secret)
    else:
        (os.mkfifo if trap == "pipe" else os.mkdir)(path)
    mine = Cores(1)
    with mine.one() as got:
        assert not got.contended
    mine.close()
    second = folder.parent / "second"
    assert (second / path.name).exists() and secret.read_text() == "x"
    assert {oct(one.stat().st_mode & 0o222) for one in second.iterdir()} == {"0o0"}


def test_without_a_folder_locks_are_private_with_a_warning(monkeypatch):
    monkeypatch.setattr(core_locks, "_folders", lambda: iter(()))
    with pytest.warns(RuntimeWarning, match="core locks cannot be shared with other graders"):
        mine = Cores(1)
    with mine.one() as got:
        assert got.core in physical_cores()
    mine.close()


def test_locks_held_for_ever_are_ignored_with_a_warning(folder, monkeypatch):
    monkeypatch.setattr(core_locks, "TIMEOUT_S", 0.05)
    held = [lock_from_elsewhere(folder / str(core.name)) for core in physical_cores()]
    mine = Cores()
    with (
        pytest.warns(
            RuntimeWarning, match="has been locked by another process for 0 s; continuing"
        ),
        mine.one() as got,
    ):
        assert got.contended
    monkeypatch.setattr(core_locks, "TIMEOUT_S", 1000.0)  # the next run does not wait again
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mine.one() as got:
            assert got.contended
        with mine.alone() as got:
            assert got.contended
        for fd in held:
            os.close(fd)
        with mine.one() as got:
            assert not got.contended
    mine.close()


@pytest.fixture
def graders(folder: Path) -> Iterator[list[Cores]]:
    """Three graders that share one core."""
    made = [Cores(cores=[Core(0, 0)]) for _ in range(3)]
    yield made
    for one in made:
        one.close()


class Run(threading.Thread):
    """Waits for the core and notes that it had it, and how."""

    def __init__(self, cores: Cores, name: str, order: list[str], alone: bool = False) -> None:
        super().__init__(daemon=True)
        self.wanted, self.order, self.how = cores, order, cores.alone if alone else cores.one
        self.label = name
        self.start()

    def run(self) -> None:
        with self.how() as hold:
            self.order.append("unlocked" if hold.contended else self.label)


@pytest.fixture
def queue(folder: Path, graders: list[Cores]) -> Iterator[TicketQueue]:
    """The queue of the graders, as another process sees it."""
    made = TicketQueue(os.open(folder / "queue", os.O_RDONLY))
    yield made
    made.close()


def wait_for_tickets(queue: TicketQueue, count: int = 1) -> None:
    while queue.count_others() < count:
        time.sleep(0.001)


@pytest.mark.parametrize("reached", [True, False])
def test_who_waits_is_served_before_the_holder_is_again(graders, queue, reached, monkeypatch):
    """Also when it is not reached by the holder: in another network namespace."""
    first, second, third = graders
    order: list[str] = []
    if not reached:
        monkeypatch.setattr(ticket_queue, "_address", lambda ticket: b"\0nobody")
    with first.one():
        others = [Run(second, "second", order)]
        wait_for_tickets(queue)
        others.append(Run(third, "third", order))
        wait_for_tickets(queue, 2)
    with first.one():
        order.append("first")
    for other in others:
        other.join()
    assert order == ["second", "third", "first"]


def test_a_core_is_given_up_when_others_have_waited_for_it(graders, queue, monkeypatch):
    first, second, _ = graders
    order: list[str] = []
    with first.one() as hold:
        monkeypatch.setattr(cores_module, "HOLD_NS", 0)
        assert not hold.is_wanted  # nobody waits for it
        other = Run(second, "second", order)
        wait_for_tickets(queue)
        assert hold.is_wanted
        monkeypatch.setattr(cores_module, "HOLD_NS", 1 << 60)
        assert not hold.is_wanted
        hold.give_way()
        order.append("first")
    other.join()
    assert order == ["second", "first"]


def threads_waiting(cores: Cores) -> int:
    return len(cores._waiting)  # nobody outside can see it


def test_an_interrupted_wait_gives_its_place_back(graders, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    mine, other, _ = graders
    with other.one(), monkeypatch.context() as patch:
        patch.setattr(CoreLocks, "wait", interrupted)
        with pytest.raises(KeyboardInterrupt), mine.one():
            pass
    order: list[str] = []
    Run(mine, "run", order).join(150)
    assert order == ["run"]


def test_a_run_alone_is_not_starved(folder):
    two = [Core(0, 0), Core(1, 1)]
    busy, mine = Cores(cores=two), Cores(cores=two)
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            with busy.one():
                time.sleep(0.001)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for cores in (busy, mine):
        with cores.alone():
            assert locked(folder) == {0, 1}
    done.set()
    for thread in threads:
        thread.join()
    busy.close()
    mine.close()


HOLDER = """
import sys
from pathlib import Path
from gradebox.sandbox.box import core_locks
from gradebox.sandbox.box.cores import Cores, Core
core_locks._folders = lambda: iter([Path(sys.argv[1])])
cores = Cores(cores=[Core(0, 0)])
print("started", flush=True)
with cores.one():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the core, or waits for it."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "started\n"
    yield process
    process.kill()
    process.communicate()


def test_the_core_of_a_killed_process_is_free(graders, queue, holder):
    assert holder.stdout.readline() == "held\n"
    order: list[str] = []
    run = Run(graders[0], "run", order)
    wait_for_tickets(queue)
    holder.kill()
    run.join(core_locks.TIMEOUT_S)
    assert order == ["run"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_first_in_the_queue_is_killed_or_stopped(graders, queue, number, request):
    mine, other, _ = graders
    order: list[str] = []
    with mine.one():
        process = request.getfixturevalue("holder")
        wait_for_tickets(queue)
        run = Run(other, "run", order)
        wait_for_tickets(queue, 2)
        process.send_signal(number)
        if number == signal.SIGSTOP:
            os.waitpid(process.pid, os.WUNTRACED)
    run.join(core_locks.TIMEOUT_S)
    with other.one():  # nor does a later run wait for it
        order.append("again")
    assert order == ["run", "again"]


def lock_queue(folder: Path, start: int, length: int) -> int:
    """Lock bytes of the queue's file, as any user can."""
    fd = os.open(folder / "queue", os.O_RDONLY)
    lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, start, length, 0)
    fcntl.fcntl(fd, fcntl.F_OFD_SETLK, lock)
    return fd


@pytest.mark.parametrize(("start", "length"), [(0, 0), (1, 0), (0, 1 << 62), (1000, 1)])
def test_locks_on_the_queue_for_ever_block_nobody(graders, folder, start, length):
    fd = lock_queue(folder, start, length)
    for cores in (graders[0], graders[0], graders[1]):
        with cores.one() as hold:
            assert not hold.contended
    os.close(fd)


def test_a_queue_that_never_comes_to_this_process_is_left(graders, folder, monkeypatch):
    monkeypatch.setattr(core_locks, "LONGEST_S", 0.05)
    fd = lock_queue(folder, 1000, 1)
    warning = pytest.warns(RuntimeWarning, match="continuing without the lock")
    with warning, graders[0].one() as hold:
        assert hold.contended
    os.close(fd)


def test_waiting_threads_of_a_closed_sandbox_raise(graders, queue):
    mine, other = graders[:2]
    raised: list[str] = []

    def run() -> None:
        try:
            with mine.one():
                pass
        except SandboxError as error:
            raised.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(3)]
    with other.one():
        for thread in threads:
            thread.start()
        while threads_waiting(mine) < 3:
            time.sleep(0.001)
        wait_for_tickets(queue)
        mine.close()
    for thread in threads:
        thread.join()
    assert raised == ["the sandbox is closed"] * 3


def test_a_run_keeps_its_core_when_its_sandbox_is_closed(graders):
    mine, other = graders[:2]
    with mine.one() as hold:
        mine.close()
        assert not other._locks.try_lock(hold.core.name)
    with other.alone() as all_cores:  # it is free now
        assert not all_cores.contended


def test_a_forked_child_holds_no_lock_of_its_parent(folder):
    read, write = os.pipe()
    started, starting = os.pipe()
    grader = os.fork()
    if grader == 0:
        cores = Cores(1)
        with cores.one():
            if os.fork() == 0:
                os.close(write)
                os.close(starting)  # the fork's hooks have run
                os.read(read, 1)  # lives until the test closes the pipe
            os._exit(0)  # its lock is left to the kernel
    os.close(starting)
    assert os.read(started, 1) == b""
    os.close(started)
    os.waitpid(grader, 0)
    assert list(folder.glob("[0-9]*")) and locked(folder) == set()
    os.close(write)
    os.close(read)


def test_a_closed_one_closes_nothing_of_others():
    """Its numbers are used again; a fork closes the locks of those that still live."""
    closed = Cores(1)
    closed.close()
    pipes = [os.pipe() for _ in range(8)]
    closed.close()
    child = os.fork()
    if child == 0:
        try:
            for fd in (fd for pipe in pipes for fd in pipe):
                os.fstat(fd)
        except OSError:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for fd in (fd for pipe in pipes for fd in pipe):
        os.close(fd)  # EBADF if it was closed here


# ---- lent cores --------------------------------------------------------------------------


def test_a_lent_core_is_free_for_others_until_it_is_taken_back(graders, folder):
    first, second, _ = graders
    with first.one() as hold:
        hold.lend()
        assert first.lent == 1
        for cores in (first, second):
            with cores.one() as other:
                assert not other.contended
        assert hold.take_back() == hold.core == Core(0, 0)
        assert not hold.contended and first.lent == 0
        assert locked(folder) == {0}
        hold.take_back()  # it is not lent: no effect
    assert locked(folder) == set()


def test_a_run_alone_does_not_wait_for_those_that_sleep(graders):
    mine = graders[0]
    with mine.one() as hold:
        hold.lend()
        with mine.alone():
            woken = threading.Thread(target=hold.take_back)
            woken.start()
            woken.join(0.02)
            assert woken.is_alive()
        woken.join()
        assert hold.contended


def test_cores_that_go_and_come_are_followed(folder, monkeypatch):
    allowed = {0, 1}
    monkeypatch.setattr(cores_module, "allowed_cpus", lambda: set(allowed))
    monkeypatch.setattr(
        cores_module, "physical_cores", lambda cpus=(0, 1): [Core(cpu, cpu) for cpu in sorted(cpus)]
    )
    monkeypatch.setattr(cores_module, "CHECK_NS", 0)
    mine = Cores()
    with mine.one() as before, mine.one():
        allowed = {1, 2, 3}
    used = set()
    with mine.one() as one, mine.one() as two:
        used |= {one.core.cpu, two.core.cpu}
    with mine.alone():
        assert locked(folder) == {1, 2, 3}
        used |= {1, 2, 3}
    assert before.core.cpu == 0 and 0 not in used
    allowed = {0}
    with mine.one() as one:
        assert one.core.cpu == 0 and not one.contended
    mine.close()


def test_threads_are_served_in_the_order_in_which_they_came(graders):
    mine = graders[0]
    order: list[str] = []
    threads = []
    with mine.one():
        for i in range(20):
            threads.append(Run(mine, str(i), order, alone=i == 10))
            while threads_waiting(mine) <= i:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert order == [str(i) for i in range(20)]
