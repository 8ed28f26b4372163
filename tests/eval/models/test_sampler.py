"""Sampling: concurrency, rate limit, constant memory, resumed runs."""

import errno
import json
import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebox.eval.common.errors import InputError
from gradebox.eval.models import (
    CallError,
    Request,
    RequestOutcome,
    RetryPolicy,
    Sampler,
    SamplerOptions,
)
from gradebox.eval.models.response_file import ResponseFile, discard_responses, read_lines
from gradebox.eval.models.servers import OpenAIChat
from tests.eval.models.fake_server import Answer, Call, FakeServer, chat, status

FAST = SamplerOptions(
    concurrency=4, retry=RetryPolicy(first_s=0.01, max_retries=1), call_timeout_s=20.0
)


def make_requests(count: int, samples: int = 1) -> list[Request]:
    return [
        Request(f"p{i}", s, messages=({"role": "user", "content": f"q{i}"},), seed=s)
        for i in range(count)
        for s in range(samples)
    ]


def run_into(path: Path, server: OpenAIChat, requests: list[Request]) -> int:
    """Ask for the missing responses; return the number of failed calls."""
    with ResponseFile(path, parameters=server.parameters) as file:
        return file.ask_missing(requests, server, FAST, "test").failed


def test_concurrency_and_every_request_sent_once():
    outcomes: list[RequestOutcome] = []

    def all_four_together(call: Call) -> Answer:
        assert server.at_once.wait_for(4)
        return Answer(body=chat("x").body, delay_s=0.02)

    with FakeServer(all_four_together) as server:
        Sampler(OpenAIChat(server.url, "m"), FAST).run(make_requests(20, 2), outcomes.append)
        assert len(server.calls) == 40
        assert server.at_once.most == 4
    assert {o.request.resume_key for o in outcomes} == {r.resume_key for r in make_requests(20, 2)}


def test_an_interval_spaces_calls(monkeypatch):
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("gradebox.eval.models.sampler.time", SimpleNamespace(monotonic=lambda: 9.0))
    monkeypatch.setattr("asyncio.sleep", sleep)
    options = replace(FAST, interval_s=0.05)
    with FakeServer(chat("x")) as server:
        Sampler(OpenAIChat(server.url, "m"), options).run(make_requests(3), lambda o: None)
    assert [seconds for seconds in waits if seconds] == [pytest.approx(0.05), pytest.approx(0.1)]


def test_an_error_in_on_outcome_ends_the_run():
    def broken(outcome: RequestOutcome) -> None:
        raise RuntimeError("disk full")

    with FakeServer(chat("x")) as server, pytest.raises(RuntimeError, match="disk full"):
        Sampler(OpenAIChat(server.url, "m"), FAST).run(make_requests(50), broken)


def test_resuming_asks_only_for_missing_responses(tmp_path):
    path = tmp_path / "r.jsonl"

    def every_third_fails(call: Call) -> Answer:
        number = int(call.body["messages"][0]["content"][1:])
        return status(400) if number % 3 == 0 else chat(f"a{number}")

    with FakeServer(every_third_fails) as server:
        assert run_into(path, OpenAIChat(server.url, "m"), make_requests(9)) == 3
        failed = path.with_name("r.failed.jsonl")
        assert {r["problem_id"] for r in read_lines(failed)} == {"p0", "p3", "p6"}
    with FakeServer(chat("later")) as server:
        assert run_into(path, OpenAIChat(server.url, "m"), make_requests(9)) == 0
        assert sorted(c.body["messages"][0]["content"] for c in server.calls) == ["q0", "q3", "q6"]
    by_id = {r["problem_id"]: r["response"] for r in read_lines(path)}
    assert by_id == {f"p{i}": "later" if i % 3 == 0 else f"a{i}" for i in range(9)}
    assert not failed.exists()


def test_responses_are_kept_when_the_server_is_lost(tmp_path):
    path = tmp_path / "r.jsonl"
    with FakeServer(chat("x")) as server:
        llm = OpenAIChat(server.url, "m")
        run_into(path, llm, make_requests(5))
    with pytest.raises(CallError):
        run_into(path, llm, make_requests(40))
    assert len(list(read_lines(path))) == 5


@given(cut=st.integers(0, 10_000))
def test_a_truncated_file_loses_only_its_last_line(cut, tmp_path_factory):
    path = tmp_path_factory.mktemp("cut") / "r.jsonl"
    line = {"sample_id": 0, "request_sha256": "00", "response": "é\ud800\n" * 20}
    whole = b"".join(json.dumps(line | {"problem_id": i}).encode() + b"\n" for i in range(9))
    part = whole[: cut % (len(whole) + 1)]
    path.write_bytes(part)
    with ResponseFile(path, parameters={}) as file:
        assert len(file) == part.count(b"\n")
    assert path.read_bytes() == part[: part.rfind(b"\n") + 1]


def test_a_run_continues_after_a_full_disk(tmp_path, monkeypatch):
    from gradebox.eval.results import records

    path, real, room = tmp_path / "r.jsonl", os.write, 900

    def write(fd: int, data: bytes) -> int:
        nonlocal room
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = real(fd, bytes(data)[:room])
        room -= written
        return written

    with FakeServer(chat("x")) as server:
        llm = OpenAIChat(server.url, "m")
        monkeypatch.setattr(records.os, "write", write)
        with pytest.raises(InputError, match="No space left on device; free some space"):
            run_into(path, llm, make_requests(20))
        monkeypatch.undo()
        before = len(server.calls)
        assert run_into(path, llm, make_requests(20)) == 0
        assert before < 20
    assert len(list(read_lines(path))) == 20


def test_responses_to_another_prompt_are_rejected(tmp_path):
    path = tmp_path / "r.jsonl"
    with FakeServer(chat("x")) as server:
        run_into(path, OpenAIChat(server.url, "m"), make_requests(2))
        with pytest.raises(InputError, match="p0 sample 0 was answered to another prompt"):
            run_into(path, OpenAIChat(server.url, "m", {"temperature": 1}), make_requests(2))
        assert len(server.calls) == 2


def test_two_runs_cannot_write_one_file(tmp_path):
    path = tmp_path / "r.jsonl"
    with (
        ResponseFile(path, parameters={}),
        pytest.raises(InputError, match="another run is writing"),
    ):
        ResponseFile(path, parameters={})


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    "text",
    [
        "[1]\n",
        "{\n",
        '{"id": 1}\n',
        '{"problem_id": "p", "sample_id": "x"}\n',
        # The last line is incomplete, but not the start of a response.
        '{"problem_id": "p"}\n{"problem_id": "q"}',
        '{"problem_id": "p"}',
        "notes\nmore",
    ],
)
def test_a_file_in_another_format_is_not_changed(tmp_path, text, fresh):
    path = tmp_path / "r.jsonl"
    path.write_text(text)
    other = tmp_path / "before.jsonl"
    other.write_text('{"request_sha256": ""}\n')
    with pytest.raises(InputError, match=r"r\.jsonl line 1"):
        if fresh:
            discard_responses([other, path])
        ResponseFile(path, parameters={})
    assert path.read_text() == text and other.read_text()
    path.write_text("")
    if fresh:
        discard_responses([other, path])
        assert not other.read_text()
    with ResponseFile(path, parameters={}) as file:
        assert len(file) == 0


def test_records_are_in_the_requested_order(tmp_path):
    path = tmp_path / "r.jsonl"
    lines = [
        {"problem_id": name, "sample_id": 0, "request_sha256": "00", "response": text}
        for name, text in (("b", "old"), ("c", "x"), ("a", "y"), ("b", "é"))
    ]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    with ResponseFile(path, parameters={}) as file:
        asked = [("a", 0), ("none", 0), ("a", 1), ("b", 0)]
        assert [r["response"] for r in file.records(asked)] == ["y", "é"]


def test_the_code_grader_reads_responses(tmp_path):
    from gradebox.eval.solutions.reader import read_solutions

    path = tmp_path / "r.jsonl"
    with FakeServer(chat("Thus\n```python\nprint(5)\n```\n")) as server:
        run_into(path, OpenAIChat(server.url, "m"), make_requests(2, 2))
    solutions = list(read_solutions([path]))
    assert sorted(s.solution_id for s in solutions) == ["p0#0", "p0#1", "p1#0", "p1#1"]
    assert {s.code for s in solutions} == {"print(5)\n"}
    assert all(s.error is None for s in solutions)


def test_each_sample_has_its_seed():
    with FakeServer(chat("x")) as server:
        Sampler(OpenAIChat(server.url, "m"), FAST).run(make_requests(1, 3), lambda o: None)
        assert sorted(c.body["seed"] for c in server.calls) == [0, 1, 2]


def test_a_partial_line_is_asked_again(tmp_path):
    path = tmp_path / "r.jsonl"
    with FakeServer(chat("x")) as server:
        llm = OpenAIChat(server.url, "m")
        run_into(path, llm, make_requests(3))
        whole = path.read_bytes()
        path.write_bytes(whole[:-10])
        run_into(path, llm, make_requests(3))
        assert len(server.calls) == 4
    assert len(list(read_lines(path))) == 3


def test_the_last_line_of_a_sample_is_used(tmp_path):
    path = tmp_path / "r.jsonl"
    line = {"problem_id": "p", "sample_id": 0, "request_sha256": "00", "response": "a"}
    path.write_text(json.dumps(line) + "\n" + json.dumps(line | {"response": "b"}) + "\n")
    with ResponseFile(path, parameters={}) as file:
        assert [r["response"] for r in file.records([("p", 0)])] == ["b"]
