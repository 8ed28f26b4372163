"""The zygote: the process that workers are forked from, with their modules loaded.

    caller ──channel──▶ zygote ──fork──▶ worker ◀──its own channel── caller

Messages are JSON objects. The zygote first sends {}. {"op": "fork"}, sent with a socket for the
worker, is answered by {"pid": n}; {"op": "kill", "pid": n} by {}. Only the zygote kills workers:
they are its children, so that a reused pid cannot make it hit another process. When the caller
ends, the channel ends, and the zygote kills its workers.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import socket
from typing import Any

from gradebox.checkers.workers.worker import serve
from gradebox.sandbox.children.channel import Channel


def main(channel: Channel, module: str, memory_bytes: int) -> None:
    """Fork workers until the channel ends; they run `module` (worker.py)."""
    tasks = importlib.import_module(module)
    tasks.preload()
    gc.collect()
    gc.freeze()
    channel.send(b"{}")
    workers: set[int] = set()
    try:
        while True:
            message, reply = json.loads(channel.receive()), {}
            if message["op"] == "fork":
                pid = fork(channel, memory_bytes, tasks)
                workers.add(pid)
                reply = {"pid": pid}
            elif message["pid"] in workers:
                workers.remove(message["pid"])
                kill(message["pid"])
            channel.send(json.dumps(reply).encode())
    except (EOFError, OSError):
        for pid in workers:
            kill(pid)


def fork(channel: Channel, memory_bytes: int, tasks: Any) -> int:
    """Start a worker on the socket that came with the request; return its process id."""
    with socket.socket(fileno=channel.receive_fd()) as sock:
        pid = os.fork()
        if pid:
            return pid
        status = 1
        try:
            channel.close()
            serve(Channel(sock), memory_bytes, tasks)
            status = 0
        finally:
            os._exit(status)


def kill(pid: int) -> None:
    """End a worker, which may have ended by itself, and wait for it."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
