"""The equational theories command, and the truth of its example problems."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.cli.commands.run_smoke import main
from gradebox.eval.models.answers.equational import read_implications
from tests.eval.models.fake_server import Answer, Call, FakeServer, Handler, chat, status

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "eval" / "models" / "data" / "equational" / "problems.jsonl"
TRUTH = {p.equation1 + "|" + p.equation2: p.answer for p in read_implications(EXAMPLES)}
KEY = "OPENROUTER_API_KEY"


def equations_of(call: Call) -> tuple[str, str]:
    prompt = call.body["messages"][0]["content"]
    return tuple(re.findall(r"Equation [12]: (.*)", prompt))  # type: ignore[return-value]


def answer_correctly(call: Call) -> Answer:
    assert call.headers["authorization"] == "Bearer sk-test"
    return chat(
        f"Clear.\nVERDICT: {str(TRUTH['|'.join(equations_of(call))]).upper()}", provider="Fake"
    )


def run(
    answer: Answer | Handler, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, list[dict[str, Any]], str]:
    with FakeServer(answer) as server:
        code = main(["--base-url", server.url, "--call-timeout", "20", *arguments])
    shown = capsys.readouterr()
    return code, [json.loads(line) for line in shown.out.splitlines()], shown.err


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, "sk-test")


def test_lines_in_order_and_summary(capsys):
    code, lines, _ = run(answer_correctly, capsys, "--limit", "6", "--models", "gpt-oss-120b")
    assert code == 0
    assert [line["problem_id"] for line in lines[:-1]] == [f"own_{i:02d}" for i in range(1, 7)]
    assert lines[0] == {
        "model": "gpt-oss-120b",
        "problem_id": "own_01",
        "expected_answer": True,
        "correct": True,
        "reason": "Answered TRUE",
        "finish_reason": "stop",
        "tokens_in": 7,
        "tokens_out": 11,
        "actual_provider": "Fake",
        "response_text": "Clear.\nVERDICT: TRUE",
    }
    summary = lines[-1]["summary"]
    assert list(summary)[:3] == ["total_calls", "parseable", "correct"]
    assert (summary["total_calls"], summary["parseable"], summary["correct"]) == (6, 6, 6)
    assert summary["mean_accuracy"] == 1.0


def test_wrong_unparseable_and_truncated_answers_are_counted(capsys):
    _, lines, _ = run(chat("VERDICT: FALSE"), capsys, "--limit", "4", "--models", "gemma-4-31b-it")
    assert [line["correct"] for line in lines[:-1]] == [False, True, False, True]
    assert lines[0]["reason"] == "Answered FALSE, expected TRUE"
    _, lines, _ = run(
        chat("I wonder", finish_reason="length"), capsys, "--limit", "1", "--hide-response"
    )
    assert lines[0]["correct"] is None and "response_text" not in lines[0]
    summary = lines[-1]["summary"]
    assert (summary["total_calls"], summary["unparseable"], summary["truncated"]) == (3, 3, 3)
    assert summary["mean_accuracy"] == 0.0


def test_a_failed_call_is_not_a_wrong_answer(capsys):
    first = read_implications(EXAMPLES)[0]

    def answer(call: Call) -> Answer:
        return (
            status(400)
            if equations_of(call) == (first.equation1, first.equation2)
            else answer_correctly(call)
        )

    code, lines, _ = run(answer, capsys, "--limit", "3", "--models", "gpt-oss-120b")
    assert code == 3
    assert lines[0]["error"] == "RequestRefused" and set(lines[0]) == {
        "model",
        "problem_id",
        "error",
        "message",
    }
    summary = lines[-1]["summary"]
    assert (summary["total_calls"], summary["failed_calls"], summary["correct"]) == (3, 1, 2)
    assert summary["mean_accuracy"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--models", "gpt-oss"], "unknown model 'gpt-oss'; did you mean 'gpt-oss-120b'"),
        (["--problems", "/nowhere.jsonl"], "/nowhere.jsonl: No such file"),
        (["--prompt-file", "/nowhere.txt"], "--prompt-file /nowhere.txt"),
        (["--models-file", "/nowhere.json"], "models file /nowhere.json"),
        (["--base-url", "nonsense"], "is not an address"),
    ],
)
def test_bad_input_is_one_line(arguments, words, capsys):
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert words in shown.err and shown.err.count("\n") == 1
    assert shown.out == ""


def test_a_missing_key_is_reported(monkeypatch, capsys):
    monkeypatch.delenv(KEY)
    assert main(["--limit", "1"]) == 2
    assert "set OPENROUTER_API_KEY" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"equation1": "x = y", "equation2": "x = x"}, "no field 'answer' or 'expected_answer'"),
        ({"equation1": "x = y", "equation2": "x = x", "answer": "perhaps"}, "true or false"),
        ({"equation1": ["x"], "equation2": "x = x", "answer": True}, "is a list, not a text"),
    ],
)
def test_bad_problems(row, words, tmp_path, capsys):
    path = tmp_path / "p.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert main(["--problems", str(path)]) == 2
    assert words in capsys.readouterr().err


def test_a_prompt_without_a_placeholder(tmp_path, capsys):
    path = tmp_path / "prompt.txt"
    path.write_text("Does {{equation1}} imply it?")
    assert main(["--prompt-file", str(path)]) == 2
    assert "has no {{equation2}}" in capsys.readouterr().err


Term = Any


def term(text: str) -> Term:
    """Parse a term of variables, brackets and the left-associative *."""
    tokens = re.findall(r"[a-z()*]", text)

    def atom() -> Term:
        token = tokens.pop(0)
        if token != "(":
            return token
        inner = product()
        tokens.pop(0)
        return inner

    def product() -> Term:
        left = atom()
        while tokens and tokens[0] == "*":
            tokens.pop(0)
            left = (left, atom())
        return left

    return product()


def holds(equation: str, table: list[list[int]]) -> bool:
    """Return whether the equation is true for all values of its variables."""
    left, right = (term(side) for side in equation.split("="))
    names = sorted(set(re.findall("[a-z]", equation)))

    def value(t: Term, at: dict[str, int]) -> int:
        return at[t] if isinstance(t, str) else table[value(t[0], at)][value(t[1], at)]

    choices = itertools.product(range(len(table)), repeat=len(names))
    return all(
        value(left, at) == value(right, at)
        for at in (dict(zip(names, choice, strict=True)) for choice in choices)
    )


@pytest.mark.parametrize("line", EXAMPLES.read_text().splitlines(), ids=lambda x: x[8:14])
def test_example_problems_have_the_right_answer(line):
    """FALSE has a counterexample; TRUE has none among the magmas of two elements."""
    row = json.loads(line)
    if not row["answer"]:
        assert holds(row["equation1"], row["counterexample"])
        assert not holds(row["equation2"], row["counterexample"])
        return
    for cells in itertools.product((0, 1), repeat=4):
        table = [list(cells[:2]), list(cells[2:])]
        assert not holds(row["equation1"], table) or holds(row["equation2"], table)
