"""The zygote: the process that workers are forked from, with SymPy loaded.

    caller ──control socket──▶ zygote ──fork──▶ worker ◀──its own socket── caller

Control messages are JSON objects. The zygote first sends {"ready": pid}. {"op": "fork"}, sent with
a socket for the worker, is answered by {"pid": n}; {"op": "kill", "pid": n} by {"killed": n}. Only
the zygote kills workers: they are its children, so that a reused pid cannot make it hit another
process. When the caller ends, the control socket ends, and the zygote kills its workers.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
from multiprocessing.connection import Connection
from typing import Any

REAP_EVERY_S = 0.5


def main(control_fd: int, memory_bytes: int) -> None:
    """Serve fork requests until the control socket ends."""
    from gradebox.checkers.math.compare import judge
    from gradebox.checkers.math.workers.no_eval import disable_eval

    judge.preload()
    disable_eval()
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
            reply = self.answer(json.loads(data), fds)
            self.control.send(json.dumps(reply).encode())
        for pid in list(self.children):
            self.kill(pid)

    def answer(self, message: dict[str, Any], fds: list[int]) -> dict[str, int]:
        if message["op"] == "fork":
            return {"pid": self.fork(fds[0])}
        self.kill(message["pid"])
        return {"killed": message["pid"]}

    def fork(self, fd: int) -> int:
        pid = os.fork()
        if pid:
            os.close(fd)
            self.children.add(pid)
            return pid
        from gradebox.checkers.math.workers import worker

        status = 1
        try:
            self.control.close()
            worker.serve(Connection(fd), self.memory_bytes)
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
