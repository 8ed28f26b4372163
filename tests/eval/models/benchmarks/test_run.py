"""Benchmark runs: outputs, resuming, failures, programs, the user's own functions."""

import json
import sys

import pytest

from gradebox.eval.cli.commands.run_benchmarks import main
from gradebox.eval.models.benchmarks import pal, registry
from gradebox.eval.models.benchmarks.run import outcome_of
from testing.rows import named_rows
from tests.eval.models.benchmarks.run_inputs import (
    GSM,
    PAL,
    answer_sum,
    load,
    make_run,
    outputs,
)
from tests.eval.models.fake_server import Answer, Call, FakeServer, chat, status


def test_the_documented_files(tmp_path, capsys):
    flags = make_run(tmp_path)
    with FakeServer(answer_sum) as server:
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
    assert one["outcome"] == "equal" and facts["outcomes"]["equal"] == 4
    assert facts["few_shot_examples"] == "gradebox's own, not comparable with a paper's"
    assert facts["sample_data"] is False


def test_sft_tasks_use_chat(tmp_path):
    entry = GSM | {"tasks": ["sft"], "few_shot_prompt": "SFTGSM0ShotPrompt"}
    flags = make_run(tmp_path, entry)
    with FakeServer(answer_sum) as server:
        assert main([*flags, "--model", server.url, "--limit", "1", "--seed", "7"]) == 0
        (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.body["seed"] == 7 and call.body["temperature"] == 0.0
    (message,) = call.body["messages"]
    assert message["content"].startswith("Question: 0 plus 1?\n")


def test_benchmarks_without_their_file_are_skipped_on_demand(tmp_path, capsys):
    flags = make_run(tmp_path)
    missing = GSM | {"test_path": "nowhere.jsonl"}
    (tmp_path / "config.json").write_text(json.dumps({"gsm": GSM, "other": missing}))
    with FakeServer(answer_sum) as server:
        assert main([*flags, "--model", server.url]) == 2
        assert server.calls == []
        assert "--skip-missing" in capsys.readouterr().err
        assert main([*flags, "--model", server.url, "--skip-missing"]) == 0
    shown = capsys.readouterr().out
    assert "skipped, no test file: nowhere.jsonl" in shown
    assert "org/m gsm: 1.0000 (4 graded)" in shown


def test_failed_requests_are_in_no_figure_and_are_retried(tmp_path, capsys):
    flags = make_run(tmp_path)

    def one_fails(call: Call) -> Answer:
        return status(400) if "Q: 1 plus" in call.body["prompt"] else answer_sum(call)

    with FakeServer(one_fails) as server:
        assert main([*flags, "--model", server.url]) == 3
    assert "1 failed" in capsys.readouterr().out
    assert load(outputs(tmp_path) / "metrics.json") == {"n_samples": 3, "accuracy": 1.0}
    with FakeServer(answer_sum) as server:
        assert main([*flags, "--model", server.url]) == 0
        assert len(server.calls) == 1
    assert load(outputs(tmp_path) / "metrics.json")["n_samples"] == 4
    with FakeServer(answer_sum) as server:
        assert main([*flags, "--model", server.url]) == 0
        assert server.calls == []
        assert main([*flags, "--model", server.url, "--fresh"]) == 0
        assert len(server.calls) == 4


HOSTILE = named_rows(__file__, "hostile")


@pytest.mark.slow
def test_programs_run_in_the_sandbox_and_hostile_ones_are_wrong(tmp_path, monkeypatch):
    monkeypatch.setattr(pal, "CPU_S", 1.0)
    rows = [
        {"id": name, "question": f"{name} plus 1?", "answer": "1"} for name in [*HOSTILE, "good"]
    ]
    flags = make_run(tmp_path, PAL, rows)
    marker = tmp_path / "escaped"
    escape = f"    try: open({str(marker)!r}, 'w')\n    except OSError: pass\n"
    good = f"def solution():\n{escape}    return 2 - 1"

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
    assert found["prints the marker itself"]["prediction"] == ["-1"]
    assert found["good"]["prediction"] == ["1"]


def test_user_examples_replace_the_included_ones(tmp_path):
    flags = make_run(tmp_path)
    shots = tmp_path / "shots"
    shots.mkdir()
    (shots / "CoTGSMPrompt.txt").write_text("Q: mine?\nA: The answer is {question}.\n")
    with FakeServer(answer_sum) as server:
        arguments = [*flags, "--model", server.url, "--limit", "1", "--few-shot-dir", str(shots)]
        assert main(arguments) == 0
        (call,) = server.calls
    # Braces inside the examples are not filled in.
    assert call.body["prompt"] == "Q: mine?\nA: The answer is {question}.\n\n\nQ: 0 plus 1?\nA:"
    assert load(outputs(tmp_path) / "run.json")["few_shot_examples"] == "the user's"


def test_user_functions_are_registered(tmp_path, monkeypatch):
    (tmp_path / "my_benchmark.py").write_text(
        "from gradebox.eval.models.benchmarks.registry import register\n"
        "register('eval_fn', 'always', lambda prediction, sample, equality: True)\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    flags = make_run(tmp_path, GSM | {"eval_fn": "always"})
    with FakeServer(chat("nothing")) as server:
        assert main([*flags, "--model", server.url, "--register", "my_benchmark"]) == 0
    assert load(outputs(tmp_path) / "metrics.json")["accuracy"] == 1.0
    del registry.TABLES["eval_fn"]["always"]


@pytest.mark.parametrize(
    ("right", "prediction", "compared", "finish_reason", "outcome"),
    [
        (True, ["1"], ["not read", "equal"], "stop", "equal"),
        (False, ["1"], ["different"], "stop", "different"),
        (False, ["1", "n 2"], ["different", "not read"], "stop", "not read"),
        (False, ["1"], ["timed out"], "stop", "timed out"),
        (False, [" "], [], "stop", "no answer"),
        (False, [], [], "length", "cut"),
    ],
)
def test_a_prediction_has_an_outcome(right, prediction, compared, finish_reason, outcome):
    assert outcome_of(right, prediction, compared, finish_reason) == outcome
