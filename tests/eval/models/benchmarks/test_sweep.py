"""Jobs, shards and local models of benchmark runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.models.benchmarks.sample import Benchmark
from gradebox.eval.models.benchmarks.sweep import Shard, make_jobs
from gradebox.eval.models.benchmarks.targets import Target, number_sort_key, safe_dirs
from gradebox.eval.run_benchmarks import main
from tests.eval.models.benchmarks.run_inputs import (
    load,
    make_run,
)
from tests.eval.models.benchmarks.test_vllm import alive, install


def benchmark(name: str) -> Benchmark:
    nothing: Any = None
    return Benchmark(name, "", "en", ("cot",), nothing, nothing, nothing, nothing)


@given(models=st.integers(0, 9), benchmarks=st.integers(1, 5), count=st.integers(1, 12))
def test_each_job_is_in_exactly_one_shard(models: int, benchmarks: int, count: int) -> None:
    targets = [Target(f"m{i}", (f"m{i}",)) for i in range(models)]
    pairs = [(benchmark(f"b{i}"), "cot") for i in range(benchmarks)]
    parts = [make_jobs(targets, pairs, Shard(i, count)) for i in range(count)]
    names = [(job.target.name, job.benchmark.name) for part in parts for job in part]
    assert sorted(names) == sorted((t.name, b.name) for t in targets for b, _ in pairs)
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= (benchmarks if models >= count else 1)


@pytest.mark.parametrize(
    ("parts", "dirs"),
    [
        (["Qwen", "Qwen2.5-7B"], ("Qwen", "Qwen2.5-7B")),
        (["..", "..", "etc"], ("_", "_", "etc")),
        (["", "a b/c\0"], ("a_b_c_",)),
        ([""], ("model",)),
    ],
)
def test_folders_of_model_names_are_safe(parts: list[str], dirs: tuple[str, ...]) -> None:
    assert safe_dirs(parts) == dirs


def test_checkpoints_are_sorted_by_number() -> None:
    names = ["step-10", "step-2", "final", "step-100"]
    assert sorted(names, key=number_sort_key) == ["final", "step-2", "step-10", "step-100"]


ANSWERS_LIKE_VLLM = """
import http.server, json, os, sys
at = dict(zip(sys.argv[3::2], sys.argv[4::2]))
with open(os.environ["STARTS"], "a") as f: f.write(f"{os.getpid()} {sys.argv[2]}\\n")
class H(http.server.BaseHTTPRequestHandler):
    def reply(self, value):
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
    def do_GET(self): self.reply({})
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        assert body["model"] == at["--served-model-name"]
        self.reply({"choices": [{"text": "The answer is 1.", "finish_reason": "stop"}]})
    def log_message(self, *a): pass
http.server.ThreadingHTTPServer((at["--host"], int(at["--port"])), H).serve_forever()
"""


@pytest.mark.slow
def test_all_checkpoints_are_run_and_their_servers_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = install(tmp_path, monkeypatch, ANSWERS_LIKE_VLLM)
    starts = tmp_path / "starts"
    monkeypatch.setenv("STARTS", str(starts))
    for step in ("step-2", "step-10"):
        (run / step).mkdir()
        (run / step / "config.json").write_text("{}")
    flags = [f for f in make_run(tmp_path) if f not in ("--model-name", "org/m")]
    assert main([*flags, "--model", str(run)]) == 0
    lines = starts.read_text().splitlines()
    assert [Path(line.split()[1]).name for line in lines] == ["step-2", "step-10"]
    assert not any(alive(int(line.split()[0])) for line in lines)
    found = sorted((tmp_path / "out").rglob("metrics.json"))
    assert [p.parts[-4] for p in found] == ["step-10", "step-2"]
    assert load(found[0]) == {"n_samples": 4, "accuracy": 0.25}
    # No request is missing, so no server is started.
    assert main([*flags, "--model", str(run)]) == 0
    assert len(starts.read_text().splitlines()) == 2


def test_a_local_model_without_vllm_is_reported_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "config.json").write_text("{}")
    monkeypatch.setenv("PATH", str(tmp_path))
    flags = [f for f in make_run(tmp_path) if f not in ("--model-name", "org/m")]
    assert main([*flags, "--model", str(tmp_path / "ckpt")]) == 2
    assert "pip install vllm" in capsys.readouterr().err
