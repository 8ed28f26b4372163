"""A Piston server for tests that runs what it is sent, with the real one's faults.

    FakePiston(settings) ─ threaded http.server on a free port of 127.0.0.1
    .script.append(fault)   the next /execute gets that fault instead

Runs only the tests' own programs (no sandbox at all), with this machine's python and g++.
"""

import base64
import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import IO, Any

from gradebox.sandbox.common.cleanup import Closeable
from tests.at_once import AtOnce

STDIN_CUT = 219_264

COMPILERS = {"c++": (("g++", "-std=c++17"), ".cpp"), "c": (("gcc", "-std=c11"), ".c")}
PYTHON = (os.path.realpath(sys.executable), "-S")  # site-packages are not needed, and slow
INTERPRETERS = {"javascript": "node", "ruby": "ruby"}
PATH = f"{Path(PYTHON[0]).parent}:{os.environ.get('PATH', os.defpath)}"  # where python3 is no shim

# Earlier compilations, since g++ is slow. Binaries are linked and never copied: a file that is
# being written while another thread forks cannot be executed.
_BUILT: dict[tuple[Any, ...], tuple[dict[str, Any], Path]] = {}
_BINARIES = tempfile.TemporaryDirectory(prefix="fake-piston-built-")

Fault = Callable[["Handler", dict[str, Any]], None]


@dataclass
class Settings:
    """The PISTON_* settings that matter, at their stock values unless raised."""

    body_limit: int = 64 << 20
    output_max: int = 64 << 20
    run_timeout: int = 300_000
    run_cpu_time: int = 60_000
    run_memory_limit: int = -1
    chunk: int = 65_536  # bytes decoded at once; a character across two is damaged
    idle_s: float = 5.0
    languages: tuple[str, ...] = ("python", "c++")
    stops_s: float = 0.0  # the server stands still: output is read after this time
    shell: bool = False  # a shell above the program makes exit codes of signals, as packages do
    api: str = "/api/v2"  # where execute and runtimes are; / is answered only beside the usual one
    token: str = ""  # asked for by a proxy, which refuses without JSON
    per_second: int = 0  # requests that a proxy before the server lets through; 0: all


@dataclass
class Received:
    """What the server was sent."""

    bodies: list[dict[str, Any]] = field(default_factory=list)
    at_once: AtOnce = field(default_factory=AtOnce)
    compiles: int = 0


class FakePiston(Closeable):
    """Starts on construction; `close` stops it."""

    def __init__(self, settings: Settings | None = None, port: int = 0) -> None:
        self.settings = settings or Settings()
        self.received = Received()
        self.script: deque[Fault] = deque()
        self.always: Fault | None = None
        self.lock = threading.Lock()
        self.passed: deque[float] = deque()  # when the requests of the last second came
        self.connections: set[socket.socket] = set()
        fake = self

        class Bound(Handler):
            server_fake = fake

        self.http = ThreadingHTTPServer(("127.0.0.1", port), Bound)
        self.http.daemon_threads = True
        self.port = self.http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    reads_after_s = 0.0  # a slow network: a body is read after this time

    def too_many(self) -> bool:
        """Return whether a request comes too soon after the last ones."""
        with self.lock:
            now = time.monotonic()
            while self.passed and self.passed[0] <= now - 1:
                self.passed.popleft()
            full = 0 < self.settings.per_second <= len(self.passed)
            if not full:
                self.passed.append(now)
            return full

    def close(self) -> None:
        """Stop listening and cut every connection, as a killed server does."""
        self.http.shutdown()
        self.http.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Handler(BaseHTTPRequestHandler):
    """Piston's routes."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the body follows the headers without 40 ms between
    server_fake: FakePiston
    inside = False  # the job is counted as running

    def setup(self) -> None:
        self.timeout = self.server_fake.settings.idle_s
        super().setup()
        self.server_fake.connections.add(self.connection)

    def finish(self) -> None:
        self.server_fake.connections.discard(self.connection)
        with contextlib.suppress(OSError):
            super().finish()

    def log_message(self, format: str, *args: object) -> None:
        pass

    def reply(self, status: int, value: Any) -> None:
        self.reply_raw(status, b"" if value is None else json.dumps(value).encode())

    def leave(self) -> None:
        if self.inside:
            self.inside = False
            self.server_fake.received.at_once.left()

    def reply_raw(self, status: int, raw: bytes, **headers: str) -> None:
        self.leave()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    def refused(self) -> bool:
        """Answer as a proxy does that lets a request not through."""
        fake, given = self.server_fake, self.headers.get("Authorization")
        if fake.settings.token and given != f"Bearer {fake.settings.token}":
            self.reply_raw(401, b"<html>Unauthorized</html>")
        elif fake.too_many():
            self.reply(429, {"message": "too many requests"})
        else:
            return False
        return True

    def do_GET(self) -> None:
        settings = self.server_fake.settings
        if self.refused():
            return
        if self.path == "/" and settings.api == "/api/v2":
            self.reply(200, {"message": "Piston v3.1.1"})
        elif self.path == f"{settings.api}/runtimes":
            names = settings.languages
            self.reply(200, [{"language": n, "version": "1.2.3", "aliases": []} for n in names])
        else:
            self.reply(404, {"message": "Not Found"})

    def do_POST(self) -> None:
        fake = self.server_fake
        size = int(self.headers["Content-Length"])
        time.sleep(fake.reads_after_s)
        raw = self.rfile.read(size)
        if self.refused():
            return
        if self.path != f"{fake.settings.api}/execute":
            self.reply(404, {"message": "Not Found"})
            return
        if size > fake.settings.body_limit:
            self.reply(400, {"stack": "PayloadTooLargeError: request entity too large\n    at x"})
            return
        body = json.loads(raw)
        with fake.lock:
            fake.received.bodies.append(body)
            fault = fake.script.popleft() if fake.script else fake.always
        self.inside = True
        fake.received.at_once.entered()
        try:
            if fault is not None:
                fault(self, body)
            else:
                self.answer(body)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            self.leave()

    def answer(self, body: dict[str, Any]) -> None:
        """Answer as the real server does, its faults included."""
        refusal = self.refusal(body)
        if refusal:
            self.reply(400, {"message": refusal})
            return
        self.reply(200, execute(self.server_fake, body))

    def refusal(self, body: dict[str, Any]) -> str:
        settings = self.server_fake.settings
        if body["language"] not in settings.languages:
            return f"{body['language']}-{body['version']} runtime is unknown"
        if all(f.get("encoding", "utf8") != "utf8" for f in body["files"]):
            return "files must include at least one utf8 encoded file"
        for name in ("run_memory_limit", "run_timeout", "run_cpu_time"):
            value, limit = body.get(name), getattr(settings, name)
            if value and limit > 0 and value > limit:
                return f"{name} cannot exceed the configured limit of {limit}"
            if value and limit > 0 and value < 0:
                return f"{name} must be non-negative"
        return ""


def execute(fake: FakePiston, body: dict[str, Any]) -> dict[str, Any]:
    """Write the files, compile where the language needs it, run."""
    settings = fake.settings
    with tempfile.TemporaryDirectory(prefix="fake-piston-") as folder:
        sources = []
        for i, file in enumerate(body["files"]):
            name = file.get("name") or f"file{i}.code"
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            if file.get("encoding") == "base64":
                path.write_bytes(base64.b64decode(file["content"]))
            else:
                path.write_text(file["content"], encoding="utf-8")
                sources.append(name)
        answer: dict[str, Any] = {"language": body["language"], "version": "1.2.3"}
        command = [*PYTHON, sources[0]]
        if body["language"] in INTERPRETERS:
            command = [INTERPRETERS[body["language"]], sources[0]]
        if body["language"] in COMPILERS:
            fake.received.compiles += 1
            compiler, suffix = COMPILERS[body["language"]]
            for name in sources:
                Path(folder, name).rename(Path(folder, name + suffix))
            globbed = sorted(Path(folder).glob(f"*{suffix}"))
            key = (compiler, *(p.read_bytes() for p in globbed))
            if known := _BUILT.get(key):
                compiled = known[0]
                Path(folder, "a.out").hardlink_to(known[1])
            else:
                compiled = stage([*compiler, *map(str, globbed)], folder, body, settings, b"")
                if compiled["status"] is None:
                    kept = Path(tempfile.mkdtemp(dir=_BINARIES.name), "a.out")
                    kept.hardlink_to(Path(folder, "a.out"))
                    _BUILT[key] = compiled, kept
            answer["compile"] = compiled
            if compiled["code"] != 0:
                return {**answer, "run": compiled}
            command = ["./a.out"]
        stdin = body.get("stdin", "")
        stdin += "" if stdin.endswith("\n") else "\n"
        args = body.get("args", [])
        data = stdin.encode()[:STDIN_CUT]
        answer["run"] = stage([*command, *args], folder, body, settings, data)
    return answer


def _read_late(source: IO[bytes], out: IO[bytes], after_s: float) -> None:
    time.sleep(after_s)
    with source:
        shutil.copyfileobj(source, out)


def stage(
    command: list[str], folder: str, body: dict[str, Any], settings: Settings, stdin: bytes
) -> dict[str, Any]:
    """Run one process and decode its output chunk by chunk, as the real server does."""
    wall_s = min(body.get("run_timeout") or 1e9, settings.run_timeout) / 1000
    began = time.monotonic()
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        source.write(stdin)
        source.seek(0)
        if settings.shell:
            command = ["/bin/bash", "-c", '"$@"; exit $?', "run", *command]
        stops = settings.stops_s > 0
        process = subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "PATH": PATH},
            stdin=source,
            stdout=subprocess.PIPE if stops else out,
            stderr=err,
            start_new_session=True,
        )
        reader = threading.Thread(target=_read_late, args=(process.stdout, out, settings.stops_s))
        if stops:
            reader.start()
        status, code, number = None, None, None
        while True:
            pid, ended, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - began > wall_s:
                status = "TO"
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.002)
        process.returncode = 0
        if stops:
            reader.join()
        # A child's peak memory begins at its parent's: below that it is unknown.
        ours_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        if os.WIFEXITED(ended):
            code = os.WEXITSTATUS(ended)
            status = status or ("RE" if code else None)
        else:
            number, status = signal.Signals(os.WTERMSIG(ended)).name, status or "SG"
        texts = []
        for file, over in ((out, "OL"), (err, "EL")):
            file.seek(0)
            kept = ""
            while piece := file.read(settings.chunk):
                if len(kept) + len(piece) > settings.output_max:
                    status = over
                    break
                kept += piece.decode("utf-8", "replace")
            texts.append(kept)
    return {
        "stdout": texts[0],
        "stderr": texts[1],
        "output": texts[0] + texts[1],
        "code": code,
        "signal": "SIGKILL" if status in ("TO", "OL", "EL") else number,
        "status": status,
        "message": None,
        "cpu_time": (usage.ru_utime + usage.ru_stime) * 1000,
        "wall_time": (time.monotonic() - began) * 1000,
        "memory": usage.ru_maxrss * 1000 if usage.ru_maxrss > ours_kb else None,
    }
