"""Children: how they start, what goes over their channel, and how they end."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.children import child as child_module
from gradebox.sandbox.children.channel import Channel
from gradebox.sandbox.children.child import Child

ROOT = Path(__file__).resolve().parents[3]
HERE = "tests.sandbox.children.test_child:"


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT))


def repeat(channel: Channel, *args: object) -> None:
    """Send the arguments, then every message, until the channel ends."""
    channel.send(json.dumps(args).encode())
    while True:
        channel.send(channel.receive())


def read_file(channel: Channel) -> None:
    channel.receive()
    with os.fdopen(channel.receive_fd(), "rb") as file:
        channel.send(file.read())


def facts(channel: Channel) -> None:
    found = [dict(os.environ), sys.path, str(Path.cwd()), os.getsid(0) == os.getpid(), hash("a")]
    channel.send(json.dumps(found).encode())


def fail(channel: Channel) -> None:
    raise SystemExit("first line\nno such library")


def stay(channel: Channel) -> None:
    channel.send(b"here")
    time.sleep(60)


@pytest.mark.parametrize("size", [0, 1, 20_000, 5_000_000])
def test_messages_arrive_whole_and_in_order(size):
    with Child(HERE + "repeat", "an argument", 2) as child:
        assert json.loads(child.channel.receive()) == ["an argument", 2]
        for letter in (b"a", b"b"):
            child.channel.send(letter * size)
            assert child.channel.receive() == letter * size


def test_a_message_that_is_too_long_is_refused():
    with Child(HERE + "repeat") as child:
        child.channel.receive()
        child.channel.send(b"x" * 1001)
        with pytest.raises(OSError, match="bad message length"):
            child.channel.receive(1000)


def test_an_open_file_is_sent_with_a_message(tmp_path):
    (tmp_path / "file").write_bytes(b"contents")
    with Child(HERE + "read_file") as child, (tmp_path / "file").open("rb") as file:
        child.channel.send(b"read this", file.fileno())
        assert child.channel.receive() == b"contents"


def test_nothing_is_imported_from_the_working_folder_or_by_variables(tmp_path, monkeypatch):
    for name in ("json", "sitecustomize", "socket", "importlib"):
        (tmp_path / f"{name}.py").write_text("open('taken', 'w').close()\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend("")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for environment in (None, {"LC_ALL": "C.UTF-8"}):
        with Child(HERE + "facts", environment=environment) as child:
            variables, path, folder, own_session, _ = json.loads(child.channel.receive())
        assert (variables.get("PYTHONPATH"), folder) == (
            str(tmp_path) if environment is None else None,
            str(tmp_path),
        )
        assert "" not in path
        assert str(Path(child_module.__file__).parent) not in path
        assert own_session
    assert not (tmp_path / "taken").exists()


def test_the_error_of_a_child_has_no_colours(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    child = Child(HERE + "missing")
    with pytest.raises(EOFError):
        child.channel.receive()
    assert child.end(60).startswith("exit status 1: AttributeError: module ")


def test_a_child_that_fails_says_why():
    child = Child(HERE + "fail")
    with pytest.raises(EOFError):
        child.channel.receive()
    assert child.end() == "exit status 1: no such library"
    assert child.status == 1
    assert child.end() == "exit status 1"  # its stderr is gone


def test_a_child_that_stays_is_killed_when_its_time_is_over():
    child = Child(HERE + "stay")
    assert child.channel.receive() == b"here"
    began = time.monotonic()
    assert child.end(0.1).startswith("signal 9, which the kernel sends when memory is short")
    assert time.monotonic() - began < 10
    assert child.status == -signal.SIGKILL


def test_no_descriptor_is_left():
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    before = descriptors()
    with Child(HERE + "repeat") as child:
        child.channel.receive()
    assert descriptors() == before
    with pytest.raises(OSError, match="No such file"):
        Child(HERE + "repeat", folder="/no/such/folder")
    assert descriptors() == before


OWNER = f"""
import os, sys, time
sys.path.append({str(ROOT)!r})
from gradebox.sandbox.children.child import Child
child = Child({HERE + "repeat"!r})
child.channel.receive()
print(child.pid, flush=True)
if not os.fork():  # holds no copy of the channel
    print("forked", flush=True)
    os.close(1)
    time.sleep(5)
time.sleep(60)
"""


@pytest.fixture
def owner() -> Iterator[subprocess.Popen[str]]:
    """A process that has a child and a forked copy of itself."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_a_child_ends_with_its_parent_though_a_fork_of_it_lives(owner):
    pid = int(owner.stdout.readline())
    assert owner.stdout.readline() == "forked\n"
    began = time.monotonic()
    owner.kill()
    owner.wait()
    while Path(f"/proc/{pid}").exists() and "Z" not in state(pid):
        assert time.monotonic() - began < 4
        time.sleep(0.01)


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"
