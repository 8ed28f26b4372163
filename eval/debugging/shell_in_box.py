"""Run /bin/sh inside the box on commands that arrive in frames. Sent into the box as one file.

    stdin:  4 bytes length, JSON [[name, size], …], the contents of the files; then frames of
            1 byte kind, 4 bytes length, payload     D: input of the shell   I: interrupt
    stdout: output of the shell and its programs, stdout and stderr

The shell leads a session of its own, so that an interrupt can find the programs it runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

PROMPT = "box$ "


def main() -> int:
    """Serve until the host closes the pipe or the shell exits."""
    write_files(sys.stdin.buffer)
    shell = subprocess.Popen(
        ["/bin/sh", "-i", "+m"],
        stdin=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PS1": PROMPT, "PS2": "> ", "ENV": ""},
        start_new_session=True,
    )
    threading.Thread(target=pass_frames, args=(sys.stdin.buffer, shell), daemon=True).start()
    status = shell.wait()
    os._exit(status & 0xFF)  # the thread may be blocked in a read


def write_files(pipe: BinaryIO) -> None:
    """Write the files into the working folder."""
    size = int.from_bytes(pipe.read(4), "big")
    for name, length in json.loads(pipe.read(size)):
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            while length:
                data = pipe.read(min(length, 1 << 20))
                if not data:
                    raise EOFError(name)
                file.write(data)
                length -= len(data)


def pass_frames(pipe: BinaryIO, shell: subprocess.Popen[bytes]) -> None:
    """Pass input on to the shell, and interrupt its programs when asked to."""
    out = shell.stdin
    if out is None:
        return
    with contextlib.suppress(OSError):
        while len(head := pipe.read(5)) == 5:
            payload = pipe.read(int.from_bytes(head[1:], "big"))
            if head[:1] == b"I":
                interrupt(shell.pid)
            else:
                out.write(payload)
                out.flush()
    with contextlib.suppress(OSError):
        out.close()


def interrupt(session: int) -> None:
    """Send SIGINT to the programs of a session, but not to its leader.

    The leader is the shell. Without a terminal, SIGINT would end it.
    """
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # After the name, which may contain any character: state, parent, group, session.
            fields = (folder / "stat").read_bytes().rpartition(b")")[2].split()
            if int(fields[3]) == session != int(folder.name):
                os.kill(int(folder.name), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
