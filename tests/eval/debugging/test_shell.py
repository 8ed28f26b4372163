"""The shell in the box: it has the files, runs commands, obeys Ctrl-C and escapes output."""

from __future__ import annotations

import os
import pty
import threading
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import decode, escape
from gradebox.eval.debugging.shell import StreamEscaper, converse, open_shell
from gradebox.sandbox.box import EmbeddedSandbox
from testing.fakes.scripted_sandbox import FakeSandbox


@given(st.binary(max_size=80), st.lists(st.integers(0, 80), max_size=4))
def test_a_stream_is_escaped_wherever_it_is_split(data: bytes, cuts: list[int]) -> None:
    escaper, at, text = StreamEscaper(), 0, ""
    for cut in sorted(cuts):
        text += escaper.feed(data[at:cut])
        at = max(at, min(cut, len(data)))
    text += escaper.feed(data[at:], end=True)
    assert all(line.isprintable() for line in text.split("\n"))
    if b"\r" not in data and b"\t" not in data:
        assert text == "\n".join(escape(line) for line in decode(data).split("\n"))


def test_a_sandbox_without_sessions_is_rejected() -> None:
    with pytest.raises(InputError, match="embedded box; add --sandbox local"):
        open_shell(FakeSandbox(), {})


@pytest.fixture
def box() -> Iterator[EmbeddedSandbox]:
    with EmbeddedSandbox(1) as sandbox:
        yield sandbox


def shell_output(box: EmbeddedSandbox, commands: bytes, files: dict[str, bytes]) -> str:
    """Return the output of the shell for these commands."""
    read, write = os.pipe()
    os.write(write, commands)
    os.close(write)
    output: list[str] = []
    try:
        converse(open_shell(box, files), read, output.append)
    finally:
        os.close(read)
    return "".join(output)


@pytest.mark.slow
def test_commands_share_files_folder_and_variables(box: EmbeddedSandbox) -> None:
    files = {"input.txt": b"42\n", "solution/main.py": b"print(int(input()) + 1)\n"}
    commands = (
        b"python3 solution/main.py < input.txt\ncd solution; X=hello\necho $X; ls\n"
        b"printf '\\033[31mred\\033[0m\\n'; no-such-command\n"
    )
    text = shell_output(box, commands, files)
    for line in ("43", "hello", "main.py", "\\x1b[31mred\\x1b[0m"):
        assert any(found.endswith(line) for found in text.splitlines()), (line, text)
    assert "no-such-command: not found" in text
    assert "\x1b" not in text


@pytest.mark.slow
def test_the_shell_is_isolated(box: EmbeddedSandbox) -> None:
    text = shell_output(box, b"cat /etc/shadow; ls /home /root /mnt; exit\n", {})
    assert "No such file" in text or "Permission denied" in text or "cannot open" in text
    assert "root:x" not in text and "root:*" not in text


@pytest.mark.slow
def test_ctrl_c_interrupts_the_command(box: EmbeddedSandbox) -> None:
    ours, theirs = pty.openpty()
    output: list[str] = []

    def wait_for(text: str) -> None:
        end = time.monotonic() + 60
        while text not in "".join(output):
            assert time.monotonic() < end, output
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
        converse(open_shell(box, {}), theirs, output.append)
    finally:
        thread.join(10)
        os.close(ours)
        os.close(theirs)
    assert "still here\n" in "".join(output)
