"""Servers that hang, fail, lie or go away while they grade whole solutions."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
import requests

import gradebox
from gradebox.eval.common.errors import Retry
from gradebox.sandbox.piston.gradebox_server import PROTOCOL
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from tests.eval.api.serving import answered_by, serving

TESTS = [{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2)]
ROW = {"id": "1/A", "official_tests": TESTS}
RIGHT = [{"code": "echo"}]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Retry, "call", lambda self, action, what: action())
    monkeypatch.setattr("gradebox.sandbox.piston.fleet.ATTEMPTS", 2)
    monkeypatch.setattr("gradebox.sandbox.piston.fleet.FIRST_PAUSE_S", 0.01)


def good() -> dict[str, Any]:
    """Return the answer of a server to RIGHT."""
    with serving(FakeSandbox()) as url:
        body = {"solutions": RIGHT, "problem": ROW}
        answer: dict[str, Any] = requests.post(f"{url}/grade", json=body, timeout=150).json()
    return answer


@contextmanager
def answering(answer: Callable[[], Any], **about: Any) -> Iterator[str]:
    """Run a server that calls itself ours and answers every POST with a JSON value."""
    ours = {"message": "Piston", "gradebox": {"protocol": PROTOCOL, "sandbox": {}, **about}}
    runtimes = [{"language": "python", "version": "3.11.7", "aliases": []}]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.reply(ours if self.path == "/" else runtimes)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.reply(answer())

        def reply(self, value: Any) -> None:
            raw = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    with answered_by(Handler) as url:
        yield url


def graded(url: str, **flags: Any) -> dict[str, Any]:
    with gradebox.Grader(endpoint=[url], no_check_dataset=True, **flags) as grader:
        [record] = grader.grade(RIGHT, ROW)
    return record


CASE_CHANGES: list[tuple[str, Any]] = [
    ("input_bytes", 3),
    ("input_sha256", '"},{"x":"'),
    ("input_sha256", 7),
    ("transcript", 7),
    ("memory_bytes", 1.5),
    ("exit_code", "0"),
    ("signal", [1]),
    ("contended", None.__class__.__name__),
    ("contended", []),
    ("checker", "text"),
    ("checker", {"stdout": 1.5}),
    ("verdict", "GOOD"),
    ("stderr", None),
]


def test_a_good_answer_is_a_record():
    answer = good()
    with answering(lambda: answer) as url:
        record = graded(url)
    assert (record["verdict"], record["sandbox"]["backend"]) == ("AC", "piston")
    assert [c["output"] for c in record["details"]] == ["1\n", "2\n"]


@pytest.mark.parametrize(("field", "value"), CASE_CHANGES, ids=str)
def test_a_case_that_no_run_can_have_is_no_verdict(field, value):
    answer = good()
    answer["records"][0]["details"][1][field] = value
    with answering(lambda: answer) as url:
        record = graded(url)
    assert (record["status"], record["verdict"], record["details"]) == ("error", "ER", [])


@pytest.mark.parametrize(
    "change",
    [
        lambda answer: answer["records"][0]["details"].pop(),
        lambda answer: answer["records"].append(answer["records"][0]),
        lambda answer: answer.update(records={}),
        lambda answer: answer.update(records=None, missing="kept:1"),
        lambda answer: answer["records"][0].update(schema=1),
    ],
)
def test_an_answer_to_something_else_is_no_verdict(change):
    answer = good()
    change(answer)
    with answering(lambda: answer) as url:
        assert graded(url)["verdict"] == "ER"


@pytest.mark.parametrize(
    "fields", [{"cpu_s": "1"}, {"cpu_s": -1}, {"memory_bytes": 1e400}, {"log": 5}, {"more": {}}]
)
def test_odd_figures_of_the_compiler_are_left_out(fields):
    answer = good()
    answer["records"][0]["compile"].update(fields)
    with answering(lambda: answer) as url:
        record = graded(url)
    compiled = record["compile"]
    assert (record["verdict"], set(compiled)) == ("AC", {"ok", "log", "cpu_s", "memory_bytes"})
    assert isinstance(compiled["log"], str)
    assert compiled["cpu_s"] is None or compiled["cpu_s"] >= 0


def test_a_server_of_another_version_is_refused():
    other = pytest.raises(gradebox.InputError, match="gradebox of another version")
    with answering(dict, protocol=PROTOCOL + 1) as url, other:
        graded(url)


def test_a_request_that_a_server_refuses_is_an_error_with_its_words():
    with serving(FakeSandbox()) as url:
        record = graded(url, repeat=17)
    assert record["status"] == "error"
    assert "the flag repeat is 17; a request may set at most 16" in record["error"]


def test_a_grader_that_is_closed_waits_for_no_answer():
    """The server ends the request too: its second case never runs."""
    began, go_on = threading.Event(), threading.Event()

    def wait(call: Call) -> Any:
        began.set()
        assert go_on.wait(150)
        return call.stdin

    box = FakeSandbox(wait, slots=1)
    found: list[Any] = []
    with serving(box) as url:
        grader = gradebox.Grader(endpoint=[url], no_check_dataset=True)
        thread = threading.Thread(target=lambda: found.extend(grader.grade(RIGHT, ROW)))
        thread.start()
        assert began.wait(150)
        grader.close()
        thread.join(150)
        assert not thread.is_alive()
        assert not go_on.is_set()
        while requests.get(f"{url}/health", timeout=9).json()["present"]:
            time.sleep(0.01)
        go_on.set()
    assert [(r["status"], r["error"]) for r in found] == [("error", "the grader was closed")]
    assert len(box.calls) == 1


@pytest.mark.slow(seconds=1)
def test_another_server_grades_in_place_of_one_that_ended():
    with serving(FakeSandbox()) as there:
        with serving(FakeSandbox()) as gone:
            grader = gradebox.Grader(endpoint=[gone, there], no_check_dataset=True).warm_up()
        [record] = grader.grade(RIGHT, ROW)
        grader.close()
    assert record["verdict"] == "AC"


def test_a_time_limit_ends_the_batch():
    box = FakeSandbox(lambda call: ready(call.stdin, wall_s=5.0), slots=1)
    rows = [{"code": f"echo {i}"} for i in range(3)]
    with serving(box) as url, gradebox.Grader(endpoint=[url], workers=1) as grader:
        records = grader.grade(rows, ROW, time_limit_s=3.0)
    assert {record["status"] for record in records} == {"error"}
    assert all("time limit" in record["error"] for record in records)
