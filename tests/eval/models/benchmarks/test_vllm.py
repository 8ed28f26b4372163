"""Starting and stopping a vLLM server, replaced by a small program."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.benchmarks.vllm import VllmServer

SERVES = """
import http.server, subprocess, sys
assert sys.argv[1] == "serve", sys.argv
at = dict(zip(sys.argv[3::2], sys.argv[4::2]))
print("loading", sys.argv[2], "as", at["--served-model-name"], sys.argv[-1], flush=True)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[2] + "/pids", "w").write(f"{child.pid}")
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200 if self.path == "/health" else 404)
        self.send_header("content-length", "0")
        self.end_headers()
    def log_message(self, *a): pass
http.server.HTTPServer((at["--host"], int(at["--port"])), H).serve_forever()
"""


def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> Path:
    """Put a `vllm` that runs `source` first on PATH; return the folder of a model."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "vllm"
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    model = tmp_path / "ckpt"
    model.mkdir()
    return model


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def ends(pid: int) -> bool:
    """Return whether the process ends within 30 s; a killed one exists a little longer."""
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def server(model: Path, **kwargs: float) -> VllmServer:
    log = model.parent / "vllm.log"
    return VllmServer(model, name="m", log_path=log, arguments=["--dtype", "auto"], **kwargs)


@pytest.mark.slow
def test_server_runs_inside_the_block_and_ends_with_its_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx

    model = install(tmp_path, monkeypatch, SERVES)
    with server(model) as running:
        assert httpx.get(running.url + "/health", trust_env=False).status_code == 200
        child = int((model / "pids").read_text())
        assert alive(child)
    assert ends(child)
    with pytest.raises(httpx.ConnectError):
        httpx.get(running.url + "/health", trust_env=False)
    assert (tmp_path / "vllm.log").read_text() == f"loading {model} as m auto\n"


@pytest.mark.slow
def test_a_server_that_exits_shows_its_last_log_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = install(tmp_path, monkeypatch, "import sys; print('no GPU found'); sys.exit(7)")
    with pytest.raises(InputError, match=r"ended with status 7; see .*vllm\.log: no GPU found"):
        server(model).start()


@pytest.mark.slow
def test_a_server_that_never_answers_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import os, sys, time; open(sys.argv[2]+'/pid','w').write(str(os.getpid()))\n"
    model = install(tmp_path, monkeypatch, source + "time.sleep(600)")
    with pytest.raises(InputError, match=r"not ready within 1 seconds; .*--server-start-timeout"):
        server(model, start_timeout_s=1.0).start()
    assert ends(int((model / "pid").read_text()))


def test_a_missing_vllm_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="pip install vllm"):
        server(tmp_path).start()
