"""Start and stop a vLLM server for a local model.

    vllm serve PATH --host 127.0.0.1 --port P --served-model-name NAME  ─▶ http://127.0.0.1:P

The server's log is kept in a file; its last line is shown when the start fails.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.cleanup import Closeable

log = logging.getLogger("gradebox.sampling")

POLL_S = 0.2
STOP_S = 20.0
LOG_TAIL_BYTES = 2000


class VllmServer(Closeable):
    """A server for one model; `url` is set once it answers."""

    def __init__(
        self,
        model_path: Path,
        *,
        name: str,
        log_path: Path,
        arguments: Sequence[str] = (),
        start_timeout_s: float = 1800.0,
    ) -> None:
        self.name = name
        self.url = ""
        self._path = model_path
        self._log_path = log_path
        self._arguments = tuple(arguments)
        self._timeout_s = start_timeout_s
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server and wait until it answers; raise InputError when it does not."""
        program = shutil.which("vllm")
        if program is None:
            raise InputError(
                f"{self._path} is a local model and needs vLLM, which is not installed; run "
                "`pip install vllm`, or give the address of a running server instead"
            )
        port = _free_port()
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        command = [program, "serve", str(self._path), "--host", "127.0.0.1", "--port", str(port)]
        command += ["--served-model-name", self.name, *self._arguments]
        log.info("starting %s", " ".join(command))
        with self._log_path.open("wb") as out:
            # A session of its own: Ctrl-C reaches only us, and its workers end with its group.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_healthy(port)
        except BaseException:
            self.close()
            raise
        self.url = f"http://127.0.0.1:{port}"

    def _wait_until_healthy(self, port: int) -> None:
        assert self._process is not None
        deadline = time.monotonic() + self._timeout_s
        while not _healthy(port):
            if _ended(self._process, 0):
                _kill_group(self._process.pid, signal.SIGKILL)
                status = self._process.wait()
                self._process = None
                raise InputError(
                    f"vllm serve {self._path} ended with status {status}; see {self._log_path}: "
                    f"{self._last_log_line()}"
                )
            if time.monotonic() > deadline:
                raise InputError(
                    f"vllm serve {self._path} was not ready within {self._timeout_s:g} seconds; "
                    f"see {self._log_path}, or raise --server-start-timeout"
                )
            time.sleep(POLL_S)

    def _last_log_line(self) -> str:
        raw = self._log_path.read_bytes()[-LOG_TAIL_BYTES:].decode("utf-8", "replace")
        lines = [line.strip() for line in raw.splitlines() if line.strip()]
        return lines[-1][:300] if lines else "(the log is empty)"

    def close(self) -> None:
        """Stop the server and its workers. May be called more than once."""
        process, self._process = self._process, None
        if process is None:
            return
        for sig in (signal.SIGTERM, signal.SIGKILL):
            _kill_group(process.pid, sig)
            if _ended(process, STOP_S):
                break
            log.warning("vllm serve %s did not end after signal %d", self._path, sig)
        # Workers may outlive the server. Its group id can't be reused before it is reaped.
        _kill_group(process.pid, signal.SIGKILL)
        process.wait(STOP_S)

    def __enter__(self) -> VllmServer:
        self.start()
        return self


def _kill_group(group: int, sig: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, sig)


def _ended(process: subprocess.Popen[bytes], wait_s: float) -> bool:
    """Return whether the process ends within `wait_s` seconds. It is not reaped."""
    deadline = time.monotonic() + wait_s
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    while os.waitid(os.P_PID, process.pid, flags) is None:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S / 4)
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _healthy(port: int) -> bool:
    import httpx

    try:
        with httpx.Client(timeout=5.0, trust_env=False) as client:
            return client.get(f"http://127.0.0.1:{port}/health").status_code == 200
    except httpx.HTTPError:
        return False
