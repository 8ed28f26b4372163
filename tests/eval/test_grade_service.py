"""POST /grade on a real server over a scripted sandbox, and the Client that calls it."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import requests

import gradebox
from eval.grade_service import open_service
from eval.retry import Retry
from eval.rewards import make_codeforces
from sandbox.errors import BadRequest
from sandbox.server.serve import serve
from sandbox.server.settings import Ceilings, ServerSettings
from tests.at_once import AtOnce
from tests.fakes.scripted_sandbox import Call, FakeSandbox, ready

TESTS = [{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2, 3)]
ROW = {"id": "1/A", "time_limit": 1.0, "official_tests": TESTS}
OTHER = {"id": "2/B", "official_tests": TESTS[:1]}
SOLUTIONS = [
    {"id": "1/A", "code": "echo"},
    {"id": "2/B", "code": "wrong", "sample_id": "w"},
    {"id": "1/A", "completion": "no code"},
    {"id": "9/Z", "code": "echo"},
    {"id": "2/B", "code": "echo", "language": "klingon"},
    {"id": "1/A", "completion": "```python\necho\n```"},
    *({"id": "1/A", "code": f"echo {i}"} for i in range(20)),
]


def say(call: Call) -> Any:
    return call.stdin if call.source.startswith("echo") else b"no"


@contextmanager
def serving(box: FakeSandbox, dataset: str | None = None, **settings: Any) -> Iterator[str]:
    """A server in a thread; gives its address."""
    loop = asyncio.new_event_loop()
    stop, ready, ports = asyncio.Event(), threading.Event(), []
    service = open_service(box, dataset, Ceilings())

    def run() -> None:
        asyncio.set_event_loop(loop)
        chosen = ServerSettings(port=0, grace_s=10, **settings)

        def listen(port: int) -> None:
            ports.append(port)
            ready.set()

        loop.run_until_complete(serve(box, chosen, None, grading=service, ready=listen, stop=stop))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield f"http://127.0.0.1:{ports[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)
        service.close()


@contextmanager
def answering(answer: Callable[[int, bytes], tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    """A server that answers the n-th POST with what `answer` says."""
    counts = iter(range(10**6))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status, headers, raw = answer(next(counts), body)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(raw))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eval.batch.Retry", partial(Retry, first_s=0.001))
    monkeypatch.setattr("eval.client.LEFT_OUT_S", 0.05)


@pytest.fixture
def url() -> Iterator[str]:
    with serving(FakeSandbox(say)) as address:
        yield address


# ---- the route ---------------------------------------------------------------------------


def test_solutions_and_a_problem_in_records_out(url: str):
    body = {"solutions": [{"code": "echo"}, {"code": "wrong"}], "problem": ROW}
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    assert answer.status_code == 200
    assert [r["verdict"] for r in answer.json()["records"]] == ["AC", "WA"]


def test_a_problem_may_be_named_when_the_server_has_a_dataset(tmp_path: Path):
    (tmp_path / "p.jsonl").write_text(json.dumps(ROW) + "\n")
    with serving(FakeSandbox(say), str(tmp_path / "p.jsonl")) as url:
        body = {"solutions": [{"code": "echo"}], "problem": "1/A"}
        answer = requests.post(f"{url}/grade", json=body, timeout=30)
        assert [r["status"] for r in answer.json()["records"]] == ["passed"]
        client = gradebox.Client(url)
        records = client.grade([{"id": "1A", "code": "echo"}, {"id": "7/Z", "code": "echo"}])
        assert [r["status"] for r in records] == ["passed", "invalid"]


def test_a_dataset_that_is_not_there_is_told_at_the_start():
    with pytest.raises(BadRequest, match=r"nowhere\.jsonl' does not exist"):
        open_service(FakeSandbox(say), "nowhere.jsonl", Ceilings())


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], "the request is a list of 0 elements: an object is needed"),
        ({}, "solutions is None: a list of objects is needed"),
        ({"solutions": [{}, 1], "problem": ROW}, "solutions[1] is 1: a list of objects is needed"),
        ({"solutions": []}, "this server has no --dataset: give the problem's row"),
        ({"solutions": [], "problem": 3}, "problem is 3: a row or an id is needed"),
        ({"solutions": [], "problems": [3]}, "problems has an element that is no object"),
        ({"solutions": [], "problems": ROW}, "problems is a dict of 3 elements: a list of rows"),
        ({"solutions": [], "probelm": ROW}, "unknown field 'probelm': known: "),
        ({"solutions": [], "problem": ROW, "flags": {"checker": "python:/etc/passwd"}},
         "flag 'checker' can't be set by a request"),
        ({"solutions": [], "problem": ROW, "flags": {"cache": "/tmp"}}, "be set by a request"),
        ({"solutions": [], "problem": ROW, "flags": {"compare": 1}}, "flag compare can't be 1"),
        ({"solutions": [], "problem": ROW, "flags": {"compare": "no"}}, "--compare 'no'"),
        ({"solutions": [], "problem": ROW, "flags": {"repeat": 10**6}}, "number, at most 16,"),
        ({"solutions": [], "problem": {**ROW, "time_limit": 1000}}, "over this server's 120 s"),
        ({"solutions": [], "problem": {**ROW, "time_limit": 100},
          "flags": {"time_limit_scale": {"python": 2}}}, "over this server's 120 s"),
        ({"solutions": [], "problem": {**ROW, "memory_limit": 10**5}}, "server's 4096 MB"),
        ({"solutions": [], "problem": ROW, "time_limit_s": "1"}, "time_limit_s is '1': seconds"),
        ({"solutions": [{}] * 5000, "problem": ROW}, "at most 4096 fit a request"),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(url: str, body: Any, words: str):
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    assert answer.status_code == 400
    assert words in answer.json()["message"]


def test_a_server_without_a_service_says_so():
    from tests.sandbox.backends import served

    with served(FakeSandbox(say)) as url:
        answer = requests.post(f"{url}/grade", json={}, timeout=30)
    assert (answer.status_code, "does not grade" in answer.text) == (400, True)


# ---- the client ----------------------------------------------------------------------------


def unmeasured(records: list[dict[str, Any]]) -> Any:
    return [{k: v for k, v in r.items() if k != "sandbox"} for r in records]


def test_the_records_are_those_of_a_grader_here(url: str):
    with gradebox.Grader(sandbox=FakeSandbox(say), max_stored_output=0) as grader:
        here = grader.grade(SOLUTIONS, [ROW, OTHER])
    client = gradebox.Client(url, max_stored_output=0)
    assert unmeasured(client.grade(SOLUTIONS, [ROW, OTHER])) == unmeasured(here)
    again = asyncio.run(client.grade_async(SOLUTIONS, [ROW, OTHER]))
    assert unmeasured(again) == unmeasured(here)


def test_rewards_come_from_elsewhere_as_well(url: str):
    answers = ["```python\necho\n```", "```python\nwrong\n```", "no code"]
    reward = make_codeforces("pass_fail", grader=gradebox.Client(url))
    assert reward(answers, official_tests=[TESTS] * 3) == [1.0, 0.0, -1.0]


def test_a_token_is_sent_and_a_missing_one_is_told():
    with serving(FakeSandbox(say), token="secret") as url:
        records = gradebox.Client(url, token="secret").grade([{"code": "echo"}], ROW)
        assert records[0]["status"] == "passed"
        with pytest.raises(gradebox.InputError, match="401"):
            gradebox.Client(url).grade([{"code": "echo"}], ROW)


@pytest.mark.slow
def test_what_a_full_server_refuses_waits_here():
    """One place, no queue: most requests are refused at first, and all are answered."""

    def slow(call: Call) -> Any:
        time.sleep(0.01)
        return call.stdin

    with serving(FakeSandbox(slow), slots=1, queue=0) as url:
        client = gradebox.Client(url, concurrency=4)
        rows = [{"code": f"echo {i}"} for i in range(24)]
        records = client.grade(rows, {**ROW, "official_tests": TESTS[:1]})
    assert [r["status"] for r in records] == ["passed"] * 24


def test_no_more_requests_at_once_than_allowed():
    at_once = AtOnce()

    def count(_: int, body: bytes) -> tuple[int, dict[str, str], bytes]:
        at_once.entered()
        at_once.wait_for(2)
        time.sleep(0.02)  # in which one too many would come
        at_once.left()
        return 400, {}, b'{"message": "enough"}'

    with answering(count) as url:
        client = gradebox.Client(url, concurrency=2)

        def call() -> None:
            with pytest.raises(gradebox.InputError, match="enough"):
                client.grade([{"code": f"echo {i}"} for i in range(40)], ROW)

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert at_once.most == 2


@pytest.mark.slow
def test_a_dead_server_is_left_out(url: str):
    with answering(lambda n, body: (200, {}, b"")) as dead:
        pass  # its port answers no more
    client = gradebox.Client([dead, url])
    records = client.grade([{"code": f"echo {i}"} for i in range(40)], ROW)
    assert [r["status"] for r in records] == ["passed"] * 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("status", "raw", "wait"),
    [
        (500, b'{"message": "the sandbox failed"}', "9" * 9),
        (200, b"<html>", "9" * 9),
        (200, b'{"records": []}', "9" * 9),
        (200, b'{"records": [7]}', "9" * 9),
        (200, b'{"records": [{"status": "passed"}]}', "9" * 9),
        (302, b"", "9" * 9),
        (429, b"{}", "9" * 9),
        (503, b"{}", "\u00b2"),
    ],
)
def test_what_is_no_answer_becomes_an_error_and_no_verdict(status: int, raw: bytes, wait: str):
    headers = {"Location": "http://127.0.0.1:1/"} if status == 302 else {"Retry-After": wait}
    with answering(lambda n, body: (status, headers, raw)) as url:
        client = gradebox.Client(url, patience_s=0.3)
        (record,) = client.grade([{"code": "echo"}], ROW)
    assert (record["status"], record["verdict"]) == ("error", "ER")
    assert record["error"].startswith("not graded: ")


@pytest.mark.parametrize("field", ["status", "verdict", "details"])
def test_a_record_that_fits_nothing_is_no_verdict(url: str, field: str):
    body = {"solutions": [{"code": "echo"}], "problem": ROW}
    good = requests.post(f"{url}/grade", json=body, timeout=30).json()
    good["records"][0][field] = ["passed"]
    raw = json.dumps(good).encode()
    with answering(lambda n, sent: (200, {}, raw)) as liar:
        (record,) = gradebox.Client(liar, patience_s=0.2).grade([{"code": "echo"}], ROW)
    assert record["status"] == "error"


def test_nothing_stays_open_between_calls(url: str):
    client = gradebox.Client(url)
    client.grade([{"code": "echo"}], ROW)
    before = threading.active_count()
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        client.grade([{"code": "echo"}], ROW)
    assert threading.active_count() <= before + 2  # the server's own pool
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 8  # noqa: PTH208


def test_wrong_use_is_told():
    with pytest.raises(
        gradebox.InputError, match="url 'host:2000': give addresses such as http://"
    ):
        gradebox.Client(["http://other:2000", "host:2000"])
    with pytest.raises(gradebox.InputError, match="urls: none: give addresses such as http://host"):
        gradebox.Client([])


def test_a_time_limit_is_sent():
    box = FakeSandbox(lambda call: ready(call.stdin, wall_s=5.0), slots=1)
    with serving(box) as url:
        records = gradebox.Client(url).grade(
            [{"code": f"echo {i}"} for i in range(3)], ROW, time_limit_s=3.0
        )
    assert [r["status"] for r in records] == ["error"] * 3
