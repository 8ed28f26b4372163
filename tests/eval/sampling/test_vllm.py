"""A vLLM server is started, waited for and stopped; a program of ours stands in for it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from eval.input_error import InputError
from eval.sampling.vllm import VllmServer

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
    """Puts a `vllm` that runs `source` first on PATH; gives a model's folder."""
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


def gone(pid: int) -> bool:
    """Whether it ends: what was killed is there until the kernel has seen to it."""
    deadline = time.monotonic() + 30
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not alive(pid)


def server(model: Path, **kwargs: float) -> VllmServer:
    log = model.parent / "vllm.log"
    return VllmServer(model, name="m", log_path=log, arguments=["--dtype", "auto"], **kwargs)


@pytest.mark.slow
def test_it_is_ready_inside_and_gone_with_its_workers_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx

    model = install(tmp_path, monkeypatch, SERVES)
    with server(model) as running:
        assert httpx.get(running.url + "/health", trust_env=False).status_code == 200
        child = int((model / "pids").read_text())
        assert alive(child)
    assert gone(child)
    with pytest.raises(httpx.ConnectError):
        httpx.get(running.url + "/health", trust_env=False)
    assert (tmp_path / "vllm.log").read_text() == f"loading {model} as m auto\n"


@pytest.mark.slow
def test_one_that_ends_shows_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = install(tmp_path, monkeypatch, "import sys; print('no GPU found'); sys.exit(7)")
    with pytest.raises(InputError, match=r"ended with status 7; see .*vllm\.log: no GPU found"):
        server(model).start()


@pytest.mark.slow
def test_one_that_never_answers_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = "import os, sys, time; open(sys.argv[2]+'/pid','w').write(str(os.getpid()))\n"
    model = install(tmp_path, monkeypatch, source + "time.sleep(600)")
    with pytest.raises(InputError, match=r"not ready within 1 seconds; .*--server-start-timeout"):
        server(model, start_timeout_s=1.0).start()
    assert gone(int((model / "pid").read_text()))


def test_without_vllm_the_message_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="pip install vllm"):
        server(tmp_path).start()
