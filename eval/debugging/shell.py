"""A shell in a box of the sandbox, with the case's files in its folder.

    terminal ─ lines ─▶ console ─ frames ─▶ box_console.py (in the box) ─▶ sh
    terminal ◀─ cleaned text ─ console ◀───────── stdout and stderr of sh ◀─┘

There is no terminal in the box, so this is a shell by lines: the prompt, variables, `cd` and
here-documents work, editors and job control do not. Ctrl-C interrupts the command that runs,
Ctrl-D or `exit` leaves. What programs print is cleaned like everything else.
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
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, Protocol, cast

from eval.debugging.screen import clean
from eval.input_error import InputError
from sandbox.errors import SandboxError
from sandbox.model import MIB, Compiled, Limits, Program
from sandbox.protocol import Sandbox

DRIVER = Path(__file__).with_name("box_console.py")
BLOCK = 1 << 16
LIMITS = Limits(
    cpu_s=3600,
    wall_s=24 * 3600,
    memory_bytes=2048 * MIB,
    processes=256,
    file_size_bytes=1024 * MIB,
    disk_bytes=1024 * MIB,
)
DATA, INTERRUPT = b"D", b"I"
INTERRUPT_KEY = b"\x03"
POLL_S, PATIENCE_S = 0.2, 1.0


class Talk(Protocol):
    """A program that stays and is spoken to (`sandbox.box.session.Session`)."""

    requests: Any
    replies: Any

    def close(self) -> None: ...


class OffersSessions(Protocol):
    """A sandbox that keeps a program running."""

    def open_session(
        self, compiled: Compiled, limits: Limits = ..., args: Iterable[str] = ()
    ) -> Talk: ...


def open_console(sandbox: Sandbox, files: Mapping[str, bytes]) -> Talk:
    """Starts the shell with the files laid out; InputError where the sandbox has none."""
    if not hasattr(sandbox, "open_session"):
        raise InputError("--shell needs the embedded box: add --sandbox local")
    size = sum(map(len, files.values()))
    limits = replace(LIMITS, disk_bytes=LIMITS.disk_bytes + 2 * size)
    try:
        return _started(sandbox, files, limits)
    except SandboxError as e:
        raise InputError(f"the sandbox can't open a shell: {e}") from None


def _started(sandbox: Sandbox, files: Mapping[str, bytes], limits: Limits) -> Talk:
    driver = sandbox.compile(Program("python", {"main.py": DRIVER.read_bytes()}))
    session = cast("OffersSessions", sandbox).open_session(driver, limits)
    try:
        _send_files(session.requests, files)
    except OSError:
        session.close()
        raise InputError("the shell ended at once: the box has no /bin/sh or no space") from None
    return session


def _send_files(pipe: IO[bytes], files: Mapping[str, bytes]) -> None:
    head = json.dumps([[name, len(data)] for name, data in files.items()]).encode()
    pipe.write(len(head).to_bytes(4, "big") + head)
    for data in files.values():
        pipe.write(data)
    pipe.flush()


def _send(pipe: IO[bytes], kind: bytes, payload: bytes = b"") -> None:
    pipe.write(kind + len(payload).to_bytes(4, "big") + payload)
    pipe.flush()


class Cleaner:
    """A stream of untrusted bytes as harmless text; lines stay lines."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")

    def feed(self, data: bytes, *, end: bool = False) -> str:
        """The text of what came, a character cut in two kept for the next time."""
        text = self._decoder.decode(data, end).replace("\r\n", "\n")
        return "\n".join(clean(line.expandtabs()) for line in text.split("\n"))


def converse(talk: Talk, source: int, write: Callable[[str], None]) -> None:
    """Passes what a descriptor gives to the shell, and its words back, until either ends.

    On a terminal Ctrl-C interrupts the command that runs, and leaving ends it. The session is
    closed.
    """
    gone = threading.Event()
    reader = threading.Thread(target=_copy, args=(talk, write, gone), daemon=True)
    reader.start()
    try:
        with contextlib.suppress(OSError, ValueError), _without_signals(source):
            while data := _read(source, gone):
                if os.isatty(source) and INTERRUPT_KEY in data:
                    _send(talk.requests, INTERRUPT)
                else:
                    _send(talk.requests, DATA, data)
            talk.requests.close()
        with contextlib.suppress(KeyboardInterrupt):
            reader.join(PATIENCE_S if os.isatty(source) else None)
    finally:
        talk.close()  # ends the program, and with it what the reader waits for
        reader.join(10)


@contextlib.contextmanager
def _without_signals(terminal: int) -> Iterator[None]:
    """Ctrl-C ends a line instead of sending a signal: that would go to every process of this
    command, the box's own among them."""
    if not os.isatty(terminal):
        yield
        return
    old = termios.tcgetattr(terminal)
    new = [*old[:3], old[3] & ~termios.ISIG, *old[4:6], list(old[6])]
    new[6][termios.VEOL] = INTERRUPT_KEY
    termios.tcsetattr(terminal, termios.TCSADRAIN, new)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, old)


def _read(source: int, gone: threading.Event) -> bytes:
    """What comes next; b"" at the end of it, or when the shell is gone."""
    while not gone.is_set():
        ready, _, _ = select.select([source], [], [], POLL_S)
        if ready:
            return os.read(source, BLOCK)
    return b""


def _copy(talk: Talk, write: Callable[[str], None], gone: threading.Event) -> None:
    cleaner = Cleaner()
    with contextlib.suppress(OSError, ValueError):
        while data := os.read(talk.replies.fileno(), BLOCK):
            write(cleaner.feed(data))
    write(cleaner.feed(b"", end=True))
    gone.set()


def run_shell(sandbox: Sandbox, files: Mapping[str, bytes]) -> None:
    """The whole session on this process's stdin and stdout."""
    talk = open_console(sandbox, files)
    print(
        "A shell in the sandbox, by lines: no network, nothing of this machine.\n"
        "sh run.sh builds, runs and judges; Ctrl-C interrupts, Ctrl-D or exit leaves."
    )

    def write(text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    sys.stdout.flush()
    converse(talk, sys.stdin.fileno(), write)
    print()
