"""The shell in the box: files are there, commands run, Ctrl-C interrupts, output is harmless."""

from __future__ import annotations

import os
import pty
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.debugging.screen import clean, decoded
from eval.debugging.shell import Cleaner, converse, open_console
from eval.input_error import InputError
from sandbox.box import EmbeddedSandbox
from tests.fakes.scripted_sandbox import FakeSandbox


@given(st.binary(max_size=80), st.lists(st.integers(0, 80), max_size=4))
def test_a_stream_is_cleaned_however_it_is_cut(data: bytes, cuts: list[int]) -> None:
    cleaner, at, text = Cleaner(), 0, ""
    for cut in sorted(cuts):
        text += cleaner.feed(data[at:cut])
        at = max(at, min(cut, len(data)))
    text += cleaner.feed(data[at:], end=True)
    assert all(line.isprintable() for line in text.split("\n"))
    if b"\r" not in data and b"\t" not in data:
        assert text == "\n".join(clean(line) for line in decoded(data).split("\n"))


def test_a_sandbox_without_sessions_says_what_to_do() -> None:
    with pytest.raises(InputError, match="--shell needs the embedded box: add --sandbox local"):
        open_console(FakeSandbox(), {})


@pytest.fixture
def box() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(1) as sandbox:
        yield sandbox


def said(box: EmbeddedSandbox, commands: bytes, files: dict[str, bytes]) -> str:
    """What comes back for commands from a pipe."""
    read, write = os.pipe()
    os.write(write, commands)
    os.close(write)
    words: list[str] = []
    try:
        converse(open_console(box, files), read, words.append)
    finally:
        os.close(read)
    return "".join(words)


@pytest.mark.slow
def test_commands_see_the_files_and_each_others_variables(box: EmbeddedSandbox) -> None:
    files = {"input.txt": b"42\n", "solution/main.py": b"print(int(input()) + 1)\n"}
    commands = (
        b"python3 solution/main.py < input.txt\ncd solution; X=hello\necho $X; ls\n"
        b"printf '\\033[31mred\\033[0m\\n'; no-such-command\n"
    )
    text = said(box, commands, files)
    for line in ("43", "hello", "main.py", "\\x1b[31mred\\x1b[0m"):
        assert any(found.endswith(line) for found in text.splitlines()), (line, text)
    assert "no-such-command: not found" in text
    assert "\x1b" not in text


@pytest.mark.slow
def test_the_box_is_a_box(box: EmbeddedSandbox) -> None:
    text = said(box, b"cat /etc/shadow; ls /home /root /mnt; exit\n", {})
    assert "No such file" in text or "Permission denied" in text or "cannot open" in text
    assert "root:x" not in text and "root:*" not in text


@pytest.mark.slow
def test_ctrl_c_interrupts_the_command_and_exit_leaves(box: EmbeddedSandbox) -> None:
    ours, theirs = pty.openpty()
    words: list[str] = []

    def wait_for(text: str) -> None:
        end = time.monotonic() + 60
        while text not in "".join(words):
            assert time.monotonic() < end, words
            time.sleep(0.05)

    def user() -> None:
        wait_for("box$ ")
        os.write(ours, b"echo be''gun; sleep 1000\n")
        wait_for("begun\n")
        os.write(ours, b"\x03")
        time.sleep(0.3)
        os.write(ours, b"echo still he''re\nexit\n")

    thread = threading.Thread(target=user, daemon=True)
    thread.start()
    try:
        converse(open_console(box, {}), theirs, words.append)
    finally:
        thread.join(10)
        os.close(ours)
        os.close(theirs)
    assert "still here\n" in "".join(words)
