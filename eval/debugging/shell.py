"""Open a shell in a box of the sandbox, with the case's files in its working folder.

    terminal ─ lines ─▶ this process ─ frames ─▶ shell_in_box.py (in the box) ─▶ sh
    terminal ◀─ escaped text ─ this process ◀───────── stdout and stderr of sh ◀─┘

The box has no terminal, so the shell is line-based: the prompt, variables, `cd` and
here-documents work; editors and job control do not. Ctrl-C interrupts the running command;
Ctrl-D or `exit` leaves the shell. The output of programs is escaped.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import select
import sys
import termios
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.terminal import escape
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import MIB, Limits, Program
from gradebox.sandbox.protocol import Sandbox

if TYPE_CHECKING:
    from gradebox.sandbox.box.session import Session

SHELL_IN_BOX = Path(__file__).with_name("shell_in_box.py")
READ_BYTES = 1 << 16
LIMITS = Limits(
    cpu_s=3600,
    wall_s=24 * 3600,
    memory_bytes=2048 * MIB,
    processes=256,
    file_size_bytes=1024 * MIB,
    disk_bytes=1024 * MIB,
)
INPUT_FRAME, INTERRUPT_FRAME = b"D", b"I"
CTRL_C = b"\x03"
POLL_S = 0.2
LAST_OUTPUT_S = 1.0  # how long to wait for output after the user leaves


def open_shell(sandbox: Sandbox, files: Mapping[str, bytes]) -> Session:
    """Start a shell in the sandbox with these files (relative path ─▶ contents).

    Raises InputError when the sandbox can't open one.
    """
    from gradebox.sandbox.box import EmbeddedSandbox

    if not isinstance(sandbox, EmbeddedSandbox):
        raise InputError("--shell works only in the embedded box; add --sandbox local")
    limits = replace(LIMITS, disk_bytes=LIMITS.disk_bytes + 2 * sum(map(len, files.values())))
    try:
        program = sandbox.compile(Program("python", {"main.py": SHELL_IN_BOX.read_bytes()}))
        session = sandbox.open_session(program, limits)
    except SandboxError as e:
        raise InputError(f"the sandbox can't open a shell: {e}") from None
    try:
        _send_files(session.requests, files)
    except OSError:
        session.close()
        raise InputError(
            "the shell exited at once; the box has no /bin/sh or no free disk space"
        ) from None
    return session


def _send_files(pipe: IO[bytes], files: Mapping[str, bytes]) -> None:
    head = json.dumps([[name, len(data)] for name, data in files.items()]).encode()
    pipe.write(len(head).to_bytes(4, "big") + head)
    for data in files.values():
        pipe.write(data)
    pipe.flush()


def _send_frame(pipe: IO[bytes], kind: bytes, payload: bytes = b"") -> None:
    pipe.write(kind + len(payload).to_bytes(4, "big") + payload)
    pipe.flush()


class StreamEscaper:
    """Escape a stream of untrusted bytes, but keep its line breaks."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, data: bytes, *, end: bool = False) -> str:
        """Return the text of `data`; an incomplete last character waits for the next call."""
        text = self._decoder.decode(data, end).replace("\r\n", "\n")
        return "\n".join(escape(line.expandtabs()) for line in text.split("\n"))


def converse(session: Session, source: int, write: Callable[[str], None]) -> None:
    """Pass input to the shell and its output to `write` until either side ends; close the session.

    source  a file descriptor; if it is a terminal, Ctrl-C interrupts the running command
    """
    ended = threading.Event()
    reader = threading.Thread(target=_copy_output, args=(session, write, ended), daemon=True)
    reader.start()
    terminal = os.isatty(source)
    try:
        with contextlib.suppress(OSError, ValueError), _ctrl_c_as_input(source):
            while data := _read(source, ended):
                if terminal and CTRL_C in data:
                    _send_frame(session.requests, INTERRUPT_FRAME)
                else:
                    _send_frame(session.requests, INPUT_FRAME, data)
            session.requests.close()
        with contextlib.suppress(KeyboardInterrupt):
            reader.join(LAST_OUTPUT_S if terminal else None)
    finally:
        session.close()  # ends the shell, and so the reader
        reader.join(10)


@contextlib.contextmanager
def _ctrl_c_as_input(terminal: int) -> Iterator[None]:
    """Make Ctrl-C end an input line instead of sending SIGINT.

    SIGINT would reach every process of this command, including those of the sandbox.
    """
    if not os.isatty(terminal):
        yield
        return
    old = termios.tcgetattr(terminal)
    new = [*old[:3], old[3] & ~termios.ISIG, *old[4:6], list(old[6])]
    new[6][termios.VEOL] = CTRL_C
    termios.tcsetattr(terminal, termios.TCSADRAIN, new)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, old)


def _read(source: int, ended: threading.Event) -> bytes:
    """Return the next input; b"" at its end, or when the shell has exited."""
    while not ended.is_set():
        ready, _, _ = select.select([source], [], [], POLL_S)
        if ready:
            return os.read(source, READ_BYTES)
    return b""


def _copy_output(session: Session, write: Callable[[str], None], ended: threading.Event) -> None:
    escaper = StreamEscaper()
    with contextlib.suppress(OSError, ValueError):
        while data := os.read(session.replies.fileno(), READ_BYTES):
            write(escaper.feed(data))
    write(escaper.feed(b"", end=True))
    ended.set()


def run_shell(sandbox: Sandbox, files: Mapping[str, bytes]) -> None:
    """Run a shell on this process's stdin and stdout until the user leaves it."""
    session = open_shell(sandbox, files)
    print(
        "This is a line-based shell in the sandbox, without network and without your files.\n"
        "sh run.sh builds, runs and judges. Ctrl-C interrupts; Ctrl-D or exit leaves.",
        flush=True,
    )

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    converse(session, sys.stdin.fileno(), write)
    print()
