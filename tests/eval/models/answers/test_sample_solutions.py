"""Sampling solutions from a server and grading them."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.commands.sample_solutions import main
from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers.code_prompts import read_template, render
from testing.commands import ROOT, run_command
from tests.eval.models.fake_server import Answer, Call, FakeServer, as_json, chat

TEMPLATE = ROOT / "eval" / "models" / "data" / "code" / "prompt.txt"

PROBLEMS: list[dict[str, Any]] = [
    {
        "id": f"1/{name}",
        "title": f"{word} of two",
        "description": f"Find the {word} of two numbers. SECRET is not here.",
        "input_format": "Two numbers.",
        "output_format": "One number.",
        "examples": [{"input": "1 2\n", "output": shown}],
        "note": None,
        "time_limit": 2.0,
        "memory_limit": 256.0,
        "official_tests": [{"input": "3 4\n", "output": hidden}],
        "official_tests_complete": True,
        "generated_checker": None,
        "input_mode": "stdio",
        "tags": [],
        "rating": 800,
    }
    for name, word, shown, hidden in (
        ("A", "sum", "3\n", "7\n"),
        ("B", "product", "2\n", "12\n"),
    )
]
CODE = "Like this.\n```python\na, b = map(int, input().split())\nprint({})\n```\nDone."


def dataset(tmp_path: Path, rows: list[dict[str, Any]] = PROBLEMS) -> Path:
    path = tmp_path / "problems.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def answer_with_sum(call: Call) -> Answer:
    if call.path.endswith("/models"):
        return as_json({"data": [{"id": "m"}]})
    return chat(CODE.format("a + b"))


def flags(tmp_path: Path, url: str, *more: str) -> list[str]:
    return [
        *("--server-url", url, "--dataset", str(dataset(tmp_path)), "--max-retries", "0"),
        *("--output", str(tmp_path / "solutions.jsonl"), *more),
    ]


@pytest.mark.slow
def test_sample_and_grade(tmp_path):
    results = tmp_path / "results"
    with FakeServer(answer_with_sum) as server:
        arguments = flags(tmp_path, server.url, "--num-samples", "2", "--seed", "3", "--grade")
        grader = ["--", "--sandbox", "local", "--results-dir", str(results), "--workers", "1"]
        done = run_command(
            [sys.executable, ROOT / "eval" / "sample_solutions.py", *arguments, *grader],
            timeout=120,
            cwd=tmp_path,
        )
        calls = [c for c in server.calls if c.path.endswith("/chat/completions")]
    assert done.returncode == 0, done.stderr
    assert sorted(c.body["seed"] for c in calls) == [3, 3, 4, 4]
    assert "4 solutions, 4 of them new" in done.stdout
    records = [
        json.loads(line)
        for line in (results / "solutions" / "piston_eval_results.jsonl").read_text().splitlines()
    ]
    assert {(r["problem_id"], r["solution_id"], r["verdict"]) for r in records} == {
        ("1/A", "1/A#0", "AC"),
        ("1/A", "1/A#1", "AC"),
        ("1/B", "1/B#0", "WA"),
        ("1/B", "1/B#1", "WA"),
    }
    metrics = json.loads((results / "solutions" / "piston_eval_metrics.json").read_text())
    assert metrics["pass_at_1"] == 0.5


def test_a_prompt_has_no_tests_checker_or_editorial(tmp_path):
    row = PROBLEMS[0] | {"generated_checker": "CHEAT", "editorial": "CHEAT"}
    row |= {"official_tests": [{"input": "CHEAT", "output": "CHEAT"}]}
    prompt = render(read_template(TEMPLATE), row, "python")
    assert "CHEAT" not in prompt
    assert "# sum of two" in prompt and "Find the sum of two numbers." in prompt
    assert "Input:\n```\n1 2\n```\nOutput:\n```\n3\n```" in prompt
    assert "2 seconds of CPU time and 256 MB" in prompt
    assert "Python 3 program" in prompt and prompt.endswith("```python\n")
    assert "{{" not in prompt and "None" not in prompt


def test_placeholders_in_a_statement_are_not_filled_in():
    row = PROBLEMS[0] | {"description": "Print {{title}}.", "input_mode": "file", "note": "N"}
    row |= {"interaction_format": "Ask."}
    prompt = render(read_template(TEMPLATE), row, "c++17")
    assert "Print {{title}}." in prompt
    assert "reads the file input.txt and writes the file output.txt" in prompt
    assert "## Note\n\nN\n" in prompt and "## Interaction\n\nAsk.\n" in prompt
    assert "C++17 program" in prompt and prompt.endswith("```cpp\n")


@pytest.mark.parametrize(
    ("examples", "shown"),
    [
        ({"input": ["1"], "output": ["2"]}, "Input:\n```\n1\n```\nOutput:\n```\n2\n```"),
        ({"input": None, "output": 3}, "(none)"),
        ("1 2", "(none)"),
    ],
)
def test_formats_of_examples(examples, shown, tmp_path):
    template = tmp_path / "t.txt"
    template.write_text("{{description}} {{examples}}")
    row = {"id": "1/A", "description": "d", "examples": examples}
    assert render(read_template(template), row, "python") == f"d {shown}\n"


def test_local_contract_and_completions(tmp_path):
    with FakeServer(as_json({"text": "print(1)"})) as server:
        more = ("--api", "local", "--response-field", "text", "--fresh")
        assert main(flags(tmp_path, server.url + "/generate", *more)) == 0
        body = server.calls[0].body
        assert server.calls[0].path == "/generate"
        assert body["dataset"] == "codeforces" and body["sample_id"] == 0
    with FakeServer(answer_with_sum) as server:
        assert main(flags(tmp_path, server.url, "--api", "completions", "--fresh")) == 0
        assert server.calls[-1].path == "/v1/completions"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--problems", "9/Z"], "--problems '9/Z' is not in"),
        (["--language", "pythn"], "unknown language 'pythn'; did you mean"),
        (["--prompt-file", "/nowhere"], "--prompt-file /nowhere"),
        (["--", "--k", "5"], "flags for the grader need --grade"),
        pytest.param(*(["--dataset", "/nowhere.jsonl"], "does not exist"), marks=pytest.mark.slow),
        (["--api-key-env", "A_BAD_KEY"], "A_BAD_KEY contains a character"),
    ],
)
def test_bad_input(more, words, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("A_BAD_KEY", "sk-…")
    with FakeServer(answer_with_sum) as server:
        assert main(flags(tmp_path, server.url, *more)) == 2
        assert server.calls == []
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_templates_with_an_unknown_or_missing_placeholder(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("{{description}} {{official_tests}}")
    with pytest.raises(InputError, match=r"\{\{official_tests\}\} is unknown; known are"):
        read_template(path)
    path.write_text("solve it")
    with pytest.raises(InputError, match=r"has no \{\{description\}\}"):
        read_template(path)


@pytest.mark.slow
def test_an_interrupted_run_continues(tmp_path):
    slow = Answer(body=chat(CODE.format("a + b")).body, delay_s=60)

    def second_hangs(call: Call) -> Answer:
        return slow if "product" in json.dumps(call.body) else answer_with_sum(call)

    with FakeServer(second_hangs) as server:
        command = [sys.executable, str(ROOT / "eval" / "sample_solutions.py")]
        running = subprocess.Popen(
            [*command, *flags(tmp_path, server.url, "--model-name", "m")],
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        output = tmp_path / "solutions.jsonl"
        while not (len(server.calls) == 2 and output.exists() and output.stat().st_size):
            assert running.poll() is None
            time.sleep(0.02)
        os.kill(running.pid, signal.SIGTERM)
        _, error = running.communicate(timeout=100)
    assert running.returncode == 130, error
    assert "the same command again" in error
    with FakeServer(answer_with_sum) as server:
        assert main(flags(tmp_path, server.url, "--model-name", "m")) == 0
        assert len(server.calls) == 1
