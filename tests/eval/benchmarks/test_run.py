"""A benchmark run's ways: outputs, resuming, failures, programs, shards, local models."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval.benchmarks import registry
from eval.benchmarks.config import read_configs
from eval.benchmarks.model import Benchmark
from eval.benchmarks.models import Target, in_order, safe_dirs
from eval.benchmarks.work import Shard, units_of
from eval.run_benchmarks import main
from tests.eval.benchmarks.answering import ROOT, model, right
from tests.eval.sampling.fake_server import Answer, Call, FakeServer, as_json, chat, status
from tests.eval.sampling.test_vllm import alive, install

GSM = {
    "test_path": "datasets/gsm8k/test.jsonl",
    "language": "en",
    "tasks": ["cot"],
    "process_fn": "process_gsm8k_test",
    "answer_extraction_fn": "extract_gsm_few_shot_cot_answer",
    "eval_fn": "eval_last_single_answer",
    "few_shot_prompt": "CoTGSMPrompt",
}
PAL = GSM | {"tasks": ["pal"], "few_shot_prompt": "PALGSMPrompt"}
ROWS = [{"id": f"q{i}", "question": f"{i} plus 1?", "answer": str(i + 1)} for i in range(4)]


def setup(tmp_path: Path, entry: dict[str, Any] = GSM, rows: Sequence[Any] = ROWS) -> list[str]:
    """A configuration and its data; the flags that use them."""
    (tmp_path / "data" / "gsm8k").mkdir(parents=True)
    text = "".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in rows)
    (tmp_path / "data" / "gsm8k" / "test.jsonl").write_text(text)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"gsm": entry}))
    return [
        *("--config", str(config), "--data-dir", str(tmp_path / "data"), "--max-retries", "0"),
        *("--output-dir", str(tmp_path / "out"), "--model-name", "org/m", "--sandbox", "local"),
    ]


def outputs(tmp_path: Path, name: str = "gsm") -> Path:
    return tmp_path / "out" / "org" / "m" / name / "samples"


def load(path: Path) -> Any:
    return json.loads(path.read_text())


def plus_one(call: Call) -> Answer:
    prompt = call.body["prompt"] if "prompt" in call.body else call.body["messages"][0]["content"]
    first = int(prompt.rpartition(" plus 1?")[0].split()[-1])
    return chat(f"{first} and 1 is it. The answer is {first + 1}.")


def test_the_documented_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = setup(tmp_path)
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url]) == 0
        call = server.calls[0]
    assert "org/m gsm: 1.0000 (4 graded)" in capsys.readouterr().out
    assert load(outputs(tmp_path) / "metrics.json") == {"n_samples": 4, "accuracy": 1.0}
    predictions = load(outputs(tmp_path) / "predictions.json")
    by_id = {p["id"]: p for p in predictions}
    assert sorted(by_id) == ["q0", "q1", "q2", "q3"]
    one = by_id["q2"]
    assert list(one)[:9] == [
        *("dataset", "id", "messages", "answer", "reference", "prompt"),
        *("model_output", "prediction", "accuracy"),
    ]
    assert one["dataset"] == "gsm" and one["answer"] == "3"
    assert one["prediction"] == ["3"] and one["accuracy"] == 1.0
    assert one["messages"] == [
        {"role": "user", "content": "2 plus 1?"},
        {"role": "assistant", "content": ""},
    ]
    assert one["prompt"].endswith("Q: 2 plus 1?\nA:")
    assert call.path == "/v1/completions" and call.body["stop"] == ["\nQ:"]
    facts = load(outputs(tmp_path) / "run.json")
    assert facts["few_shot_examples"] == "gradebox's own, not comparable with a paper's"
    assert facts["sample_data"] is False


def test_sft_is_a_chat(tmp_path: Path) -> None:
    entry = GSM | {"tasks": ["sft"], "few_shot_prompt": "SFTGSM0ShotPrompt"}
    flags = setup(tmp_path, entry)
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url, "--limit", "1", "--seed", "7"]) == 0
        (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.body["seed"] == 7 and call.body["temperature"] == 0.0
    (message,) = call.body["messages"]
    assert message["content"].startswith("Question: 0 plus 1?\n")


def test_several_samples_and_several_tasks(tmp_path: Path) -> None:
    flags = setup(tmp_path, GSM | {"tasks": ["cot", "sft"]})
    with FakeServer(plus_one) as server:
        arguments = [*flags, "--model", server.url, "--num-samples", "3", "--seed", "0"]
        assert main(arguments) == 0
        assert sorted(c.body["seed"] for c in server.calls) == sorted([0, 1, 2] * 8)
    for name in ("gsm-cot", "gsm-sft"):
        assert load(outputs(tmp_path, name) / "metrics.json")["n_samples"] == 12


def test_failed_requests_are_in_no_figure_and_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = setup(tmp_path)

    def one_fails(call: Call) -> Answer:
        return status(400) if "Q: 1 plus" in call.body["prompt"] else plus_one(call)

    with FakeServer(one_fails) as server:
        assert main([*flags, "--model", server.url]) == 3
    assert "1 failed" in capsys.readouterr().out
    assert load(outputs(tmp_path) / "metrics.json") == {"n_samples": 3, "accuracy": 1.0}
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url]) == 0
        assert len(server.calls) == 1
    assert load(outputs(tmp_path) / "metrics.json")["n_samples"] == 4
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url]) == 0
        assert server.calls == []
        assert main([*flags, "--model", server.url, "--fresh"]) == 0
        assert len(server.calls) == 4


def test_without_an_answer_there_is_no_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = setup(tmp_path)
    with FakeServer(status(400)) as server:
        assert main([*flags, "--model", server.url]) == 3
    assert "no figure" in capsys.readouterr().out
    assert not (outputs(tmp_path) / "metrics.json").exists()


HOSTILE = {
    "reads our files": "def solution():\n    return open('/etc/passwd').read()[:4]",
    "never ends": "def solution():\n    while True: pass",
    "exits": "import os\nos._exit(0)",
    "raises": "def solution():\n    raise ValueError('no')",
    "does not parse": "def solution(:",
    "no program": "I cannot do that.",
    "eats memory": "def solution():\n    return len('x' * (4 << 30))",
    "floods": "def solution():\n    while True: print('x' * 1000000)",
    "lies about the mark": "print('gradebox-answer: 1')\ndef solution():\n    return -1",
}


@pytest.mark.slow
def test_programs_run_in_the_sandbox_and_hostile_ones_are_only_wrong(tmp_path: Path) -> None:
    rows = [
        {"id": name, "question": f"{name} plus 1?", "answer": "1"} for name in [*HOSTILE, "good"]
    ]
    flags = setup(tmp_path, PAL, rows)
    marker = tmp_path / "escaped"
    try_it = f"    try: open({str(marker)!r}, 'w')\n    except OSError: pass\n"
    good = f"def solution():\n{try_it}    return 2 - 1"

    def answer(call: Call) -> Answer:
        name = call.body["prompt"].rpartition("Q: ")[2].partition(" plus")[0]
        return chat(HOSTILE.get(name, good))

    with FakeServer(answer) as server:
        assert main([*flags, "--model", server.url]) == 0
    found = {p["id"]: p for p in load(outputs(tmp_path) / "predictions.json")}
    assert {name for name, p in found.items() if p["accuracy"]} == {"good"}
    assert not marker.exists()
    assert "cpu" in found["never ends"]["program_error"]
    assert "ValueError: no" in found["raises"]["program_error"]
    assert found["no program"]["program_error"] == "no program in the output"
    assert found["lies about the mark"]["prediction"] == ["-1"]
    assert found["good"]["prediction"] == ["1"]


def test_own_examples_replace_ours(tmp_path: Path) -> None:
    flags = setup(tmp_path)
    shots = tmp_path / "shots"
    shots.mkdir()
    (shots / "CoTGSMPrompt.txt").write_text("Q: mine?\nA: The answer is {question}.\n")
    with FakeServer(plus_one) as server:
        arguments = [*flags, "--model", server.url, "--limit", "1", "--few-shot-dir", str(shots)]
        assert main(arguments) == 0
        (call,) = server.calls
    # The user's own braces stay as they are: only the frame's question is filled in.
    assert call.body["prompt"] == "Q: mine?\nA: The answer is {question}.\n\n\nQ: 0 plus 1?\nA:"
    assert load(outputs(tmp_path) / "run.json")["few_shot_examples"] == "the user's"


def test_own_functions_are_registered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_benchmark.py").write_text(
        "from eval.benchmarks.registry import register\n"
        "register('eval_fn', 'always', lambda prediction, sample, equality: True)\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    flags = setup(tmp_path, GSM | {"eval_fn": "always"})
    with FakeServer(chat("nothing")) as server:
        assert main([*flags, "--model", server.url, "--register", "my_benchmark"]) == 0
    assert load(outputs(tmp_path) / "metrics.json")["accuracy"] == 1.0
    del registry.TABLES["eval_fn"]["always"]


@pytest.mark.parametrize("text", ["def f(:", "raise ValueError('no')", "register(1)"])
def test_a_slip_in_the_users_module_is_one_line(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slips.py").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    flags = setup(tmp_path)
    assert main([*flags, "--model", "http://h", "--register", "slips"]) == 2
    said = capsys.readouterr().err
    assert "--register slips: " in said and "Error: " in said and said.count("\n") == 1


def test_a_configuration_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    flags = setup(tmp_path)
    config = tmp_path / "config.json"
    config.write_text("\ufeff" + config.read_text())
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url]) == 0


BAD_CONFIGS: dict[str, tuple[Any, str]] = {
    "unknown function": (
        {"a": GSM | {"process_fn": "process_gsm8k"}},
        "a: unknown process_fn 'process_gsm8k'; did you mean 'process_gsm8k_test'",
    ),
    "code for a name": (
        {"a": GSM | {"eval_fn": "__import__('os').system('true')"}},
        "unknown eval_fn",
    ),
    "proofs": ({"a": GSM | {"eval_fn": "eval_minif2f_isabelle"}}, "need Isabelle"),
    "missing field": (
        {"a": {k: v for k, v in GSM.items() if k != "test_path"}},
        "a: no field 'test_path'",
    ),
    "unknown field": ({"a": GSM | {"few_shots": 5}}, "unknown field 'few_shots'"),
    "unknown task": ({"a": GSM | {"tasks": ["tool"]}}, "it must be a list of cot, pal, sft"),
    "unknown language": ({"a": GSM | {"language": "fr"}}, "it must be one of en, zh"),
    "a name that is a path": ({"../../a": GSM}, "cannot hold a slash"),
    "a name that is no name": ({"": GSM}, "the name '' becomes a folder"),
    "a name that clears a terminal": ({"\x1b[2J": GSM}, r"the name '\x1b[2J' becomes a folder"),
    "half a surrogate": ({"a\ud800": GSM}, r"the name 'a\ud800' becomes a folder"),
    "one folder for two": (
        {"a": GSM | {"tasks": ["cot", "sft"]}, "a-cot": GSM},
        "'a' and 'a-cot' would both write into 'a-cot'; rename one of them",
    ),
    "a number of 5,000 digits": ("9" * 5000, "integer string conversion"),
    "no file": ({"a": GSM | {"test_path": "nowhere.jsonl"}}, "no file nowhere.jsonl; looked for"),
    "not an object": ([1], "not an object with an entry per benchmark"),
    "empty": ({}, "not an object with an entry per benchmark"),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_bad_configurations(case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    whole, words = BAD_CONFIGS[case]
    flags = setup(tmp_path)
    text = whole if isinstance(whole, str) else json.dumps(whole)
    (tmp_path / "config.json").write_text(text)
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url]) == 2
        assert server.calls == []
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


BAD_ROWS: dict[str, tuple[Sequence[Any], str]] = {
    "missing field": ([{"question": "?"}], "row 1: no field 'answer'; it has question"),
    "another kind": ([{"question": ["?"], "answer": "1"}], "row 1: field 'question' is list"),
    "duplicate ids": ([ROWS[0], ROWS[0]], "row 2: id 'q0' was given in row 1"),
    "not json": (["{\n"], "line 1: not JSON"),
    "empty": ([], "no question in"),
}


@pytest.mark.parametrize("case", BAD_ROWS)
def test_bad_rows_cost_no_calls(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, words = BAD_ROWS[case]
    flags = setup(tmp_path, rows=rows)
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url]) == 2
        assert server.calls == []
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--shard", "4/4"], "parts are counted from 0, the last of 4 is 3/4"),
        (["--shard", "x"], "write it as i/n"),
        (["--benchmarks", "gsn"], "did you mean 'gsm'"),
        (["--tasks", "pal"], "no benchmark has a task pal"),
        (["--register", "no_such_module_here"], "--register no_such_module_here"),
        (["--few-shot-dir", "/nowhere"], "no such folder"),
        (["--model", "/nowhere"], "no such folder, and no address"),
        (["--model", "http://[::1"], "Invalid IPv6 URL; write it as http://host:port/path"),
    ],
)
def test_bad_flags(
    more: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = setup(tmp_path)
    with FakeServer(plus_one) as server:
        assert main([*flags, "--model", server.url, *more]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_a_server_with_several_models_asks_for_a_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = [f for f in setup(tmp_path) if f not in ("--model-name", "org/m")]
    with FakeServer(as_json({"data": [{"id": "a"}, {"id": "b"}]})) as server:
        assert main([*flags, "--model", server.url]) == 2
    assert "2 models (a, b); name one with --model-name" in capsys.readouterr().err


@pytest.mark.parametrize("suite", ["octothinker", "megascience"])
def test_suites_are_commands(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(model(ROOT / "configs" / f"{suite}.json", right)) as server:
        arguments = [suite, "--model", server.url, "--output-dir", str(tmp_path), "--dry-run"]
        assert main(arguments) == 0
    names = list(read_configs([ROOT / "configs" / f"{suite}.json"]))
    assert capsys.readouterr().out.splitlines()[1:] == [f"org/fake-7b {name}" for name in names]


def benchmark(name: str) -> Benchmark:
    nothing: Any = None
    return Benchmark(name, "", "en", ("cot",), nothing, nothing, nothing, nothing)


@given(models=st.integers(0, 9), benchmarks=st.integers(1, 5), count=st.integers(1, 12))
def test_shards_lose_nothing_and_share_nothing(models: int, benchmarks: int, count: int) -> None:
    targets = [Target(f"m{i}", (f"m{i}",)) for i in range(models)]
    pairs = [(benchmark(f"b{i}"), "cot") for i in range(benchmarks)]
    parts = [units_of(targets, pairs, Shard(i, count)) for i in range(count)]
    names = [(u.target.name, u.benchmark.name) for part in parts for u in part]
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
def test_a_servers_model_name_leads_nowhere_else(parts: list[str], dirs: tuple[str, ...]) -> None:
    assert safe_dirs(parts) == dirs


def test_checkpoints_stand_in_the_order_of_their_numbers() -> None:
    names = ["step-10", "step-2", "final", "step-100"]
    assert sorted(names, key=in_order) == ["final", "step-2", "step-10", "step-100"]


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
def test_a_folder_of_checkpoints_is_swept_and_no_server_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = install(tmp_path, monkeypatch, ANSWERS_LIKE_VLLM)
    starts = tmp_path / "starts"
    monkeypatch.setenv("STARTS", str(starts))
    for step in ("step-2", "step-10"):
        (run / step).mkdir()
        (run / step / "config.json").write_text("{}")
    flags = [f for f in setup(tmp_path) if f not in ("--model-name", "org/m")]
    assert main([*flags, "--model", str(run)]) == 0
    lines = starts.read_text().splitlines()
    assert [Path(line.split()[1]).name for line in lines] == ["step-2", "step-10"]
    assert not any(alive(int(line.split()[0])) for line in lines)
    found = sorted((tmp_path / "out").rglob("metrics.json"))
    assert [p.parts[-4] for p in found] == ["step-10", "step-2"]
    assert load(found[0]) == {"n_samples": 4, "accuracy": 0.25}
    # Everything is answered: grading again starts no server.
    assert main([*flags, "--model", str(run)]) == 0
    assert len(starts.read_text().splitlines()) == 2


def test_a_local_model_without_vllm_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ckpt").mkdir()
    (tmp_path / "ckpt" / "config.json").write_text("{}")
    monkeypatch.setenv("PATH", str(tmp_path))
    flags = [f for f in setup(tmp_path) if f not in ("--model-name", "org/m")]
    assert main([*flags, "--model", str(tmp_path / "ckpt")]) == 2
    assert "pip install vllm" in capsys.readouterr().err
