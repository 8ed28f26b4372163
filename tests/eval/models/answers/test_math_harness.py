"""The math harness command with a server on loopback."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gradebox.eval.cli.commands.evaluate import main
from testing.rows import named_rows
from tests.eval.models.fake_server import Answer, Call, FakeServer, as_json, free_url, status


class Done(NamedTuple):
    """What a run of the command left behind."""

    status: int
    out: str
    err: str


Evaluate = Callable[..., Done]


@pytest.fixture
def evaluate(capsys: pytest.CaptureFixture[str]) -> Evaluate:
    """Return a function that runs the command with these arguments."""

    def run(*arguments: str | Path) -> Done:
        status = main([str(argument) for argument in arguments])
        return Done(status, *capsys.readouterr())

    return run


def write_data(folder: Path, name: str, rows: list[Any]) -> None:
    folder.mkdir(exist_ok=True)
    text = "".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in rows)
    (folder / f"{name}.jsonl").write_text(text)


SUMS = [{"id": f"s{i}", "problem": f"{i}+{i}", "answer": str(2 * i)} for i in range(4)]


def flags(tmp_path: Path, url: str, *more: str) -> list[str | Path]:
    return [
        *("--server-url", url, "--data-dir", tmp_path / "data"),
        *("--output-dir", tmp_path / "out", "--retry-delay", "0.01", "--max-retries", "1"),
        *more,
    ]


def answer_even_samples_correctly(call: Call) -> Answer:
    total = sum_of(call.body["prompt"])
    return as_json({"answer": f"\\boxed{{{total if call.body['sample_id'] % 2 == 0 else -1}}}"})


def sum_of(text: str) -> int:
    return sum(int(part) for part in text.split("+"))


def test_accuracy_pass_at_k_and_macro_average(tmp_path, evaluate):
    write_data(tmp_path / "data", "one", SUMS)
    write_data(tmp_path / "data", "two", [{"problem": "1+1", "answer": 3}])
    with FakeServer(answer_even_samples_correctly) as server:
        more = ["--datasets", "one", "two", "--num-samples", "4", "--pass-k", "1", "3"]
        more += ["--extra-field", "temperature=0.5", "--extra-field", "model=m"]
        done = evaluate(*flags(tmp_path, server.url + "/ask", *more))
    assert done.status == 0, done.err
    figures = json.loads((tmp_path / "out" / "metrics.json").read_text())
    one = figures["datasets"]["one"]
    assert (one["problems"], one["answered"], one["failed_requests"]) == (4, 16, 0)
    assert one["accuracy"] == 0.5 and one["pass@1"] == 0.5 and one["pass@3"] == 1.0
    assert figures["datasets"]["two"]["accuracy"] == 0.0
    assert figures["macro_average"] == {"accuracy": 0.25, "pass@1": 0.25, "pass@3": 0.5}
    rows = [line.split() for line in done.out.splitlines()]
    assert ["one", "4", "16", "0", "0.5000", "0.5000", "1.0000"] in rows
    assert ["macro", "average", "0.2500", "0.2500", "0.5000"] in rows
    call = server.calls[0]
    assert call.path == "/ask"
    assert set(call.body) == {"dataset", "prompt", "sample_id", "temperature", "model"}
    assert call.body["temperature"] == 0.5 and call.body["model"] == "m"
    graded = (tmp_path / "out" / "one.graded.jsonl").read_text().splitlines()
    assert sum(json.loads(line)["correct"] for line in graded) == 8


def test_failed_requests_are_in_no_figure_and_are_retried(tmp_path, evaluate):
    write_data(tmp_path / "data", "one", SUMS)

    def first_fails(call: Call) -> Answer:
        return status(500) if call.body["prompt"] == "0+0" else answer_even_samples_correctly(call)

    with FakeServer(first_fails) as server:
        arguments = flags(tmp_path, server.url, "--datasets", "one")
        done = evaluate(*arguments)
        assert done.status == 3
        assert "1 requests failed" in done.out
        figures = json.loads((tmp_path / "out" / "metrics.json").read_text())["datasets"]["one"]
        assert (figures["answered"], figures["failed_requests"]) == (3, 1)
        assert figures["accuracy"] == 1.0
        assert figures["pass@1"] is None, "one problem has no answer: undefined, not 0"
        assert "undefined" in done.out
        before = len(server.calls)
    with FakeServer(answer_even_samples_correctly) as server:
        arguments = flags(tmp_path, server.url, "--datasets", "one")
        done = evaluate(*arguments)
        assert done.status == 0
        assert len(server.calls) == 1 and before == 5
    assert "1.0000" in done.out


def test_a_reply_in_another_format_is_a_failed_request(tmp_path, evaluate):
    write_data(tmp_path / "data", "one", SUMS)
    with FakeServer(as_json({"text": "\\boxed{0}"})) as server:
        arguments = flags(tmp_path, server.url, "--datasets", "one")
        done = evaluate(*arguments)
        assert done.status == 3
        assert "no field 'answer' with a text, only text" in done.err
        done = evaluate(*arguments, "--response-field", "text")
        assert done.status == 0, done.err


BAD = named_rows(__file__, "bad")


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_costs_no_calls(case, tmp_path, evaluate):
    more, rows, words = BAD[case]
    write_data(tmp_path / "data", "one", rows)
    if "--datasets" not in more:
        more = [*more, "--datasets", "one"]
    with FakeServer(as_json({"answer": "1"})) as server:
        done = evaluate(*flags(tmp_path, server.url, *more))
        assert server.calls == []
    assert done.status == 2
    assert words in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "words"),
    [
        (None, "no server answers at"),
        (
            "localhost:8000",
            "is not an address with a port from 1; write it as http://host:port/path",
        ),
        ("ftp://x/", "is not an address"),
        ("http://h:99999/", "Port out of range"),
        ("http://127.0.0.1:0/", "a port from 1"),
    ],
)
def test_a_wrong_address_is_one_line(url, words, tmp_path, evaluate):
    write_data(tmp_path / "data", "one", SUMS)
    arguments = flags(tmp_path, url or free_url(), "--datasets", "one")
    done = evaluate(*arguments)
    assert done.status == 2
    assert words in done.err and "--server-url" in done.err
    assert done.err.count("\n") == 1


def test_responses_of_another_field_are_rejected(tmp_path, evaluate):
    write_data(tmp_path / "data", "one", SUMS)
    with FakeServer(as_json({"answer": "1", "thoughts": "hm"})) as server:
        arguments = flags(tmp_path, server.url, "--datasets", "one")
        assert evaluate(*arguments, "--response-field", "thoughts").status == 0
        done = evaluate(*arguments)
    assert done.status == 2 and "another prompt, model or parameter" in done.err
