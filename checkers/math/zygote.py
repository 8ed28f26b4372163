"""The process that workers are forked from, with SymPy and math-verify already loaded.

    caller ──control socket──▶ zygote ──fork──▶ worker ◀──its own socket── caller

Control messages are one JSON object each: {"op": "fork"} with a socket passed along is
answered by {"pid": n}; {"op": "kill", "pid": n} by {"killed": n}. Only the zygote kills
workers: they are its children, so that no other process can be hit by a reused pid. When
the caller goes away the control socket ends, and the zygote takes its workers with it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from typing import Any

REAP_EVERY_S = 0.5


def main(control_fd: int, memory_bytes: int) -> None:
    """Serves fork requests until the control socket ends."""
    from checkers.math import engine, judge

    engine.warm()
    engine.disarm()
    judge.warm()
    gc.collect()
    gc.freeze()
    control = socket.socket(fileno=control_fd)
    control.send(json.dumps({"ready": os.getpid()}).encode())
    Zygote(control, memory_bytes).serve()


class Zygote:
    def __init__(self, control: socket.socket, memory_bytes: int):
        self.control = control
        self.memory_bytes = memory_bytes
        self.children: set[int] = set()

    def serve(self) -> None:
        while True:
            ready, _, _ = select.select([self.control], [], [], REAP_EVERY_S)
            self.reap()
            if not ready:
                continue
            data, fds, _, _ = socket.recv_fds(self.control, 4096, 1)
            if not data:
                break
            self.answer(json.loads(data), fds)
        for pid in list(self.children):
            self.kill(pid)

    def answer(self, message: dict[str, Any], fds: list[int]) -> None:
        if message["op"] == "fork":
            self.reply({"pid": self.fork(fds[0])})
        elif message["op"] == "kill":
            self.kill(int(message["pid"]))
            self.reply({"killed": message["pid"]})

    def reply(self, message: dict[str, Any]) -> None:
        self.control.send(json.dumps(message).encode())

    def fork(self, fd: int) -> int:
        pid = os.fork()
        if pid:
            os.close(fd)
            self.children.add(pid)
            return pid
        from checkers.math import worker

        status = 1
        try:
            self.control.close()
            worker.serve(socket.socket(fileno=fd), self.memory_bytes)
            status = 0
        finally:
            os._exit(status)

    def kill(self, pid: int) -> None:
        if pid in self.children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
            self.children.discard(pid)

    def reap(self) -> None:
        for pid in list(self.children):
            try:
                done, _ = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                done = pid
            if done:
                self.children.discard(pid)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
