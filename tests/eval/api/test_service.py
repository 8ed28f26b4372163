"""POST /grade on a real server with a scripted sandbox, and the Client that calls it."""

import asyncio
import json
import os
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import requests

import gradebox
from gradebox.eval.api.rewards import make_codeforces
from gradebox.eval.api.service import REQUEST_FLAGS, GradeService, open_service
from gradebox.eval.common.errors import Retry
from gradebox.eval.results.records import fields_of
from gradebox.sandbox.errors import BadRequest, SandboxUnavailable
from gradebox.sandbox.server.settings import ServerSettings
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from testing.rows import rows
from tests.at_once import AtOnce
from tests.eval.api.serving import answered_by, serving
from tests.eval.problems.dataset_rows import call_row

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


def run_program(call: Call) -> Any:
    return call.stdin if call.source.startswith("echo") else b"no"


@contextmanager
def answering(answer: Callable[[int, bytes], tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    """Run a server that answers the n-th POST with `answer(n, body)`."""
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

    with answered_by(Handler) as url:
        yield url


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradebox.eval.api.batch.Retry", partial(Retry, first_s=0.001))


@pytest.fixture
def url() -> Iterator[str]:
    with serving(FakeSandbox(run_program)) as address:
        yield address


# ---- the route ---------------------------------------------------------------------------


def test_a_request_is_answered_with_records(url):
    body = {"solutions": [{"code": "echo"}, {"code": "wrong"}], "problem": ROW}
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    assert answer.status_code == 200
    assert [r["verdict"] for r in answer.json()["records"]] == ["AC", "WA"]


def test_json_texts_of_any_field_count_as_parts_of_a_request(url):
    many = "[" + "[]," * 1_000_000 + "[]]"
    apps = {"problem_id": 1, "input_output": many, "solutions": "", "difficulty": "x"}
    deep = {"id": "x", "verification_info": {"test_cases": many}, "prompt": "?"}
    for row in (apps, deep):
        body = {"solutions": [{"code": "echo"}], "problem": row}
        assert requests.post(f"{url}/grade", json=body, timeout=30).status_code == 413


def test_a_client_may_be_a_process_with_many_open_files(url):
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, limits[1]), limits[1]))
    files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1024)]
    try:
        records = gradebox.Client(url, patience_s=5).grade({"code": "echo"}, ROW)
        assert [r["status"] for r in records] == ["passed"]
    finally:
        for file in files:
            os.close(file)
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_request_may_name_a_problem_of_the_dataset(tmp_path):
    (tmp_path / "p.jsonl").write_text(json.dumps(ROW) + "\n")
    with serving(FakeSandbox(run_program), str(tmp_path / "p.jsonl")) as url:
        body = {"solutions": [{"code": "echo"}], "problem": "1/A"}
        answer = requests.post(f"{url}/grade", json=body, timeout=30)
        assert [r["status"] for r in answer.json()["records"]] == ["passed"]
        client = gradebox.Client(url)
        records = client.grade([{"id": "1A", "code": "echo"}, {"id": "7/Z", "code": "echo"}])
        assert [r["status"] for r in records] == ["passed", "invalid"]


def test_a_missing_dataset_is_reported_at_the_start():
    with pytest.raises(BadRequest, match=r"nowhere\.jsonl' does not exist"):
        open_service(FakeSandbox(run_program), ServerSettings(dataset="nowhere.jsonl"))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ([], ("Expected `object`, got `array`", "docs/server.md")),
        ({}, ("missing required field `solutions`",)),
        ({"solutions": [{}, 1], "problem": ROW}, ("got `int`", "$.solutions[1]")),
        ({"solutions": []}, ("--dataset", "give the problem's row")),
        ({"solutions": [], "problem": 3}, ("Expected `str | object | null`", "$.problem")),
        ({"solutions": [], "problems": [3]}, ("Expected `object`", "$.problems[0]")),
        ({"solutions": [], "problems": ROW}, ("Expected `array | null`", "$.problems")),
        ({"solutions": [], "probelm": ROW}, ("unknown field `probelm`",)),
        ({"solutions": [], "problem": ROW, "flags": {"checker": "python:/etc/passwd"}},
         ("cannot set the flag 'checker'", "stop_on_first_failure")),
        ({"solutions": [], "problem": ROW, "flags": {"cache": "/tmp"}}, ("flag 'cache'",)),
        ({"solutions": [], "problem": ROW, "flags": {"compare": 1}}, ("--compare 1", "open-r1")),
        ({"solutions": [], "problem": ROW, "flags": {"compare": "no"}}, ("--compare 'no'",)),
        ({"solutions": [], "problem": ROW, "flags": {"repeat": 10**6}}, ("1000000", "at most 16")),
        ({"solutions": [], "problem": ROW, "flags": {"repeat": True}}, ("True", "whole number")),
        ({"solutions": [], "problem": ROW, "flags": {"time_limit_scale": 2}}, ("2", "python=2")),
        ({"solutions": [], "problem": ROW, "flags": {"time_limit_scale": {"python": "2"}}},
         ("--time-limit-scale", "python=2")),
        ({"solutions": [], "problem": {**ROW, "time_limit": 1000}}, ("1000 s", "at most 120")),
        ({"solutions": [], "problem": {**ROW, "time_limit": 100},
          "flags": {"time_limit_scale": {"python": 2}}}, ("200 s", "at most 120")),
        ({"solutions": [], "problem": {**ROW, "memory_limit": 10**5}}, ("100000 MB", "most 4096")),
        ({"solutions": [], "problem": ROW, "time_limit_s": "1"}, ("float", "$.time_limit_s")),
        ({"solutions": [{}] * 5000, "problem": ROW}, ("5000", "4096", "several")),
        ({"solutions": [{}] * 4096, "problem": {**ROW, "official_tests": TESTS * 10},
          "flags": {"repeat": 16}}, ("1966080 cases", "at most 100000")),
        ({"solutions": [{}] * 1000, "problem": ROW, "flags": {"max_stored_output": 1 << 20}},
         ("3145728000 stored bytes", "at most 536870912", "lower max")),
        ({"solutions": [], "problem": ROW, "flags": {"max_stored_output": 1 << 21}}, ("1048576",)),
    ],
)  # fmt: skip
def test_wrong_requests_are_refused(url, body, words):
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    assert answer.status_code == 400
    message = answer.json()["message"]
    assert [word for word in words if word not in message] == [], message


JUDGE = {"role": "checker", "protocol": "kattis", "args": [], "extra_args": [], "name": "x",
         "full_points": None, "language": "python", "files": {"main.py": "echo"}}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "status"),
    rows(__file__, "judge_of_a"),
)
def test_a_judge_of_a_request_is_used_or_makes_its_problem_unusable(url, change, status):
    row = {**ROW, "judge_program": {**JUDGE, **change}}
    body = {"solutions": [{"code": "wrong"}], "problem": row}
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    [record] = answer.json()["records"]
    assert record["status"] == status, record
    assert (record["status"] == "invalid") == ("is unusable: judge_program" in record["error"])


def test_a_problem_is_kept_under_a_name_of_its_contents(url):
    def keep(row: Any, **more: Any) -> Any:
        return requests.post(f"{url}/problems", json={"problem": row, **more}, timeout=30)

    name = keep(ROW).json()["problem"]
    assert name == keep(dict(reversed(ROW.items()))).json()["problem"]
    assert name != keep(OTHER).json()["problem"]
    body = {"solutions": [{"code": "echo"}], "problem": name}
    answer = requests.post(f"{url}/grade", json=body, timeout=30).json()
    assert [record["status"] for record in answer["records"]] == ["passed"]
    unknown = requests.post(f"{url}/grade", json={**body, "problem": "kept:1"}, timeout=30)
    assert (unknown.status_code, unknown.json()) == (200, {"missing": "kept:1"})
    for row, more in ((3, {}), (ROW, {"judge": "lenient"}), ({**ROW, "time_limit": "x"}, {})):
        assert keep(row, **more).status_code == 400
    assert "time_limit" in keep({**ROW, "time_limit": "x"}).json()["message"]


def test_tests_written_as_text_are_counted_too(url):
    """Their JSON is inside a string of the request, which takes little memory itself."""
    rows = [{"id": str(i), "official_tests": "[" + "{}," * 400_000 + "0]"} for i in range(2)]
    body = {"solutions": [{"code": "echo"}], "problems": rows}
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    assert (answer.status_code, "outside strings" in answer.text) == (413, True)


def test_packed_tests_are_refused_because_their_size_is_unknown(url):
    body = {"solutions": [{"code": "x"}], "problem": call_row()}
    answer = requests.post(f"{url}/grade", json=body, timeout=30)
    assert answer.status_code == 400
    assert "give private_test_cases as JSON" in answer.json()["message"]


def test_the_page_of_the_server_names_the_flags_of_requests():
    page = (Path(__file__).resolve().parents[3] / "docs" / "server.md").read_text()
    (row,) = (line for line in page.splitlines() if line.startswith("| `flags`"))
    for name, flag in REQUEST_FLAGS.items():
        most = "" if flag.request_most is None else f" (at most {flag.request_most})"
        assert f"`{name}`{most}" in row, name
    assert row.count("`") == 2 * (1 + len(REQUEST_FLAGS))


# ---- the client ----------------------------------------------------------------------------


def unmeasured(records: list[dict[str, Any]]) -> Any:
    return [{k: v for k, v in r.items() if k != "sandbox"} for r in records]


def test_the_records_are_those_of_a_local_grader(url):
    with gradebox.Grader(sandbox=FakeSandbox(run_program), max_stored_output=0) as grader:
        here = grader.grade(SOLUTIONS, [ROW, OTHER])
    client = gradebox.Client(url, max_stored_output=0)
    assert unmeasured(client.grade(SOLUTIONS, [ROW, OTHER])) == unmeasured(here)
    again = asyncio.run(client.grade_async(SOLUTIONS, [ROW, OTHER]))
    assert unmeasured(again) == unmeasured(here)


def test_rewards_use_a_client(url):
    answers = ["```python\necho\n```", "```python\nwrong\n```", "no code"]
    for reward in (
        make_codeforces("pass_fail", grader=gradebox.Client(url)),
        make_codeforces("pass_fail", servers=[url], time_limit_scale={"python": 2.0}),
    ):
        assert reward(answers, official_tests=[TESTS] * 3) == [1.0, 0.0, -1.0]


def test_a_token_is_sent_and_a_missing_one_is_reported():
    with serving(FakeSandbox(run_program), token="secret") as url:
        records = gradebox.Client(url, token="secret").grade([{"code": "echo"}], ROW)
        assert records[0]["status"] == "passed"
        with pytest.raises(gradebox.InputError, match="401"):
            gradebox.Client(url).grade([{"code": "echo"}], ROW)


@pytest.mark.slow
def test_requests_that_a_full_server_refuses_are_sent_again():
    """With one place and no queue, most requests are refused at first."""

    def slow(call: Call) -> Any:
        time.sleep(0.01)
        return call.stdin

    with serving(FakeSandbox(slow), slots=1, queue=0) as url:
        client = gradebox.Client(url, concurrency=4)
        rows = [{"code": f"echo {i}"} for i in range(24)]
        records = client.grade(rows, {**ROW, "official_tests": TESTS[:1]})
    assert [r["status"] for r in records] == ["passed"] * 24


def test_concurrency_is_limited():
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
                client.grade([{"code": "echo"}], ROW)

        threads = [threading.Thread(target=call) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert at_once.most == 2


@pytest.mark.slow
def test_a_dead_server_is_not_used(url):
    with answering(lambda n, body: (200, {}, b"")) as dead:
        pass  # its port answers no more
    client = gradebox.Client([dead, url])
    records = client.grade([{"code": f"echo {i}"} for i in range(40)], ROW)
    assert [r["status"] for r in records] == ["passed"] * 40


def test_a_server_that_moved_is_not_followed():
    headers = {"Location": "http://127.0.0.1:1/"}
    moved = pytest.raises(gradebox.InputError, match=r"moved to http://127\.0\.0\.1:1/: name that")
    with answering(lambda n, body: (302, headers, b"")) as url, moved:
        gradebox.Client(url).grade([{"code": "echo"}], ROW)


def test_nothing_stays_open_between_calls(url):
    client = gradebox.Client(url)
    client.grade([{"code": "echo"}], ROW)
    before = threading.active_count()
    descriptors = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(20):
        client.grade([{"code": "echo"}], ROW)

    def grew() -> bool:  # the server may close its ends later, and its own pool may be larger
        opened = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
        return threading.active_count() > before + 2 or opened > descriptors + 8

    deadline = time.monotonic() + 60
    while grew() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not grew()


def test_wrong_urls_are_refused():
    with pytest.raises(
        gradebox.InputError, match="url 'host:2000': give addresses such as http://"
    ):
        gradebox.Client(["http://other:2000", "host:2000"])
    with pytest.raises(
        gradebox.InputError, match="urls is empty: give addresses such as http://host"
    ):
        gradebox.Client([])


def test_a_time_limit_is_sent():
    box = FakeSandbox(lambda call: ready(call.stdin, wall_s=5.0), slots=1)
    with serving(box) as url:
        records = gradebox.Client(url).grade(
            [{"code": f"echo {i}"} for i in range(3)], ROW, time_limit_s=3.0
        )
    assert [r["status"] for r in records] == ["error"] * 3


def test_the_grading_of_a_client_that_disconnects_ends():
    began, go_on, ended = threading.Event(), threading.Event(), threading.Event()

    def wait(call: Call) -> Any:
        began.set()
        assert go_on.wait(120)
        return call.stdin

    box = FakeSandbox(wait, slots=1)
    body = json.dumps({"solutions": [{"code": f"echo {i}"} for i in range(50)], "problem": ROW})
    with serving(box) as url:
        host, port = url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            client.sendall(f"POST /grade HTTP/1.1\r\nHost: {host}\r\n{head}{body}".encode())
            assert began.wait(120)
        while requests.get(f"{url}/health", timeout=60).json()["present"]:
            time.sleep(0.01)
        go_on.set()
        while requests.get(f"{url}/health", timeout=60).json()["running"]:
            time.sleep(0.01)
        ended.set()
    assert ended.is_set()
    assert len(box.calls) == 1  # of 150 cases


def test_the_records_of_a_call_are_those_of_the_route(url):
    rows = [{"code": "echo"}, {"code": "wrong"}, {"completion": "none"}]
    box = FakeSandbox(run_program)
    calls = GradeService(box, ServerSettings())
    body = {"solutions": rows, "problem": ROW, "flags": {"stop_on_first_failure": True}}
    answer = requests.post(f"{url}/grade", json=body, timeout=30).json()
    flags = {"stop_on_first_failure": True}
    records = [fields_of(record) for record in calls.grade(rows, [ROW], flags=flags)]
    assert unmeasured(records) == unmeasured(answer["records"])
    with pytest.raises(BadRequest, match="cannot set the flag 'workers'"):
        calls.grade(rows, [ROW], flags={"workers": 3})
    calls.close()
    with pytest.raises(SandboxUnavailable, match="being stopped"):
        calls.grade(rows, [ROW])
