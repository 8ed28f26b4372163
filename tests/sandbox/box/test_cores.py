"""Core locks: shared by graders, held by other users, obstructed."""

from __future__ import annotations

import fcntl
import os
import threading
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import core_locks
from gradebox.sandbox.box.cores import Cores
from gradebox.sandbox.common.cpus import physical_cpus


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


def test_two_graders_never_have_the_same_core(folder: Path) -> None:
    one, two = Cores(), Cores()
    with one.one() as mine:
        with Path(folder, str(mine)).open() as free, pytest.raises(BlockingIOError):
            fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if two.slots > 1:
            with two.one() as theirs:
                assert theirs != mine
                assert one.uncontended(mine) and two.uncontended(theirs)
    one.close()
    two.close()


@pytest.mark.parametrize("trap", ["link", "pipe", "folder", "closed"])
def test_an_obstacle_moves_the_locks_to_the_next_folder(
    folder: Path, trap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpu = physical_cpus()[0]
    path = folder / str(cpu)
    secret = folder.parent / "secret"
    secret.write_text("x")
    if trap == "link":
        path.symlink_to(secret)
    elif trap == "pipe":
        os.mkfifo(path)
    elif trap == "folder":
        path.mkdir()
    else:
        path.write_text("")
        really = os.open

        def closed(name: object, *rest: int, **more: int) -> int:
            if str(name) == str(path):
                raise PermissionError(13, "Permission denied", str(name))
            return really(name, *rest, **more)  # type: ignore[arg-type, call-overload, no-any-return]

        monkeypatch.setattr(core_locks.os, "open", closed)
    mine = Cores(1)
    with mine.one() as got:
        assert mine.uncontended(got)
    mine.close()
    assert (folder.parent / "second" / str(cpu)).exists()
    assert secret.read_text() == "x"


def test_without_a_folder_locks_are_private_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_locks, "_folders", lambda: iter(()))
    with pytest.warns(RuntimeWarning, match="core locks cannot be shared with other graders"):
        mine = Cores(1)
    with mine.one() as got:
        assert got in physical_cpus()
    mine.close()


@pytest.mark.parametrize("what", ["cores", "queue"])
def test_a_lock_held_for_ever_is_ignored_with_a_warning(
    folder: Path, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core_locks, "TIMEOUT_S", 0.05)
    names = ["queue"] if what == "queue" else [str(cpu) for cpu in physical_cpus()]
    held = [lock_from_elsewhere(folder / name) for name in names]
    mine = Cores()
    with (
        pytest.warns(
            RuntimeWarning, match="has been locked by another process for 0 s; continuing"
        ),
        mine.one() as got,
    ):
        assert not mine.uncontended(got)
    monkeypatch.setattr(core_locks, "TIMEOUT_S", 1000.0)  # the next run does not wait again
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with mine.one() as got:
            assert not mine.uncontended(got)
        with mine.alone() as got:
            assert not mine.uncontended(got)
        for fd in held:
            os.close(fd)
        with mine.one() as got:
            assert mine.uncontended(got)
    mine.close()


@pytest.mark.parametrize("trap", ["link", "folder", "of all users", "short"])
def test_a_file_that_others_could_cut_short_is_not_shared(folder: Path, trap: str) -> None:
    path = folder / f"woken-{os.geteuid()}"
    other = folder.parent / "other"
    if trap == "link":
        other.write_text("x")
        path.symlink_to(other)
    elif trap == "folder":
        path.mkdir()
    else:
        path.write_text("x")
        path.chmod(0o666 if trap == "of all users" else 0o600)
    mine = Cores(1)
    with mine.one() as cpu:
        assert mine.uncontended(cpu)
    mine.close()
    assert not other.exists() or other.read_text() == "x"
    if trap in ("of all users", "short"):
        assert (path.stat().st_size > 1) is (trap == "short")


def test_who_waits_is_woken_and_looks_again_when_a_process_has_died(folder: Path) -> None:
    first, second = Cores(1), Cores(1)
    order: list[str] = []

    def wait() -> None:
        with second.alone():
            order.append("second")

    with first.alone():
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.05)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]
    held = lock_from_elsewhere(folder / "queue")
    ending = threading.Timer(0.1, os.close, [held])  # as when its process ends: nobody is woken
    ending.start()
    with second.one() as cpu:
        assert second.uncontended(cpu)
    ending.join()
    first.close()
    second.close()


def test_a_run_alone_holds_every_core(folder: Path) -> None:
    mine = Cores()
    with mine.alone():
        for cpu in physical_cpus():
            with Path(folder, str(cpu)).open() as other, pytest.raises(BlockingIOError):
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for cpu in physical_cpus():
        with Path(folder, str(cpu)).open() as other:
            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    mine.close()


def test_a_forked_child_holds_no_lock_of_its_parent(folder: Path) -> None:
    mine = Cores(1)
    with mine.one() as cpu:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(write)
            os.read(read, 1)  # lives until the pipe is closed
            os._exit(0)
    mine.close()
    with Path(folder, str(cpu)).open() as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(write)
    os.close(read)
    os.waitpid(pid, 0)


def test_a_closed_one_closes_nothing_of_others() -> None:
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
