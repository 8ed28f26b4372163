"""A vLLM server for a model on this disk: started, waited for, stopped.

    vllm serve PATH --host 127.0.0.1 --port P --served-model-name NAME  ─▶ http://127.0.0.1:P

Its log is kept in a file, whose end is shown when it does not come up.
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
from types import TracebackType

from eval.input_error import InputError

log = logging.getLogger("gradebox.sampling")

POLL_S = 0.2
STOP_S = 20.0
TAIL_BYTES = 2000


class VllmServer:
    """One server of one model; a context manager whose `url` is ready inside it."""

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
        """Starts it and waits until it is healthy; InputError when it is not to be had."""
        program = shutil.which("vllm")
        if program is None:
            raise InputError(
                f"{self._path} is a local model and needs vLLM, which is not installed; install "
                "it with `pip install vllm`, or give a running server's address instead"
            )
        port = _free_port()
        self._log_path.parent.mkdir(parents=True, exist_ok=True)
        command = [program, "serve", str(self._path), "--host", "127.0.0.1", "--port", str(port)]
        command += ["--served-model-name", self.name, *self._arguments]
        log.info("starting %s", " ".join(command))
        with self._log_path.open("wb") as out:
            # Its own session: vLLM's workers end with it, and Ctrl-C reaches us first.
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
            self.stop()
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
                    f"{self._tail()}"
                )
            if time.monotonic() > deadline:
                raise InputError(
                    f"vllm serve {self._path} was not ready within {self._timeout_s:g} seconds; "
                    f"see {self._log_path}, or raise --server-start-timeout"
                )
            time.sleep(POLL_S)

    def _tail(self) -> str:
        raw = self._log_path.read_bytes()[-TAIL_BYTES:].decode("utf-8", "replace")
        lines = [line.strip() for line in raw.splitlines() if line.strip()]
        return lines[-1][:300] if lines else "(its log is empty)"

    def stop(self) -> None:
        """Ends it and its workers; calling it twice is harmless."""
        process, self._process = self._process, None
        if process is None:
            return
        for sig in (signal.SIGTERM, signal.SIGKILL):
            _kill_group(process.pid, sig)
            if _ended(process, STOP_S):
                break
            log.warning("vllm serve %s does not end on signal %d", self._path, sig)
        # Its workers may outlive it; until it is reaped the number of its group is its own.
        _kill_group(process.pid, signal.SIGKILL)
        process.wait(STOP_S)

    def __enter__(self) -> VllmServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


def _kill_group(group: int, sig: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, sig)


def _ended(process: subprocess.Popen[bytes], wait_s: float) -> bool:
    """Whether it ends within that many seconds; it is not reaped yet."""
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
