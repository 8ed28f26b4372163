"""Judge0's API: statuses, what waits and what is kept, what is refused."""

import base64
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from gradebox.eval.api.dialects import judge0
from gradebox.eval.api.dialects.judge0_submission import answered, languages_of, read_submission
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.server.incoming import STRUCTURE_BYTES
from gradebox.sandbox.server.settings import Ceilings
from testing.fakes.scripted_sandbox import FakeSandbox, ready
from testing.rows import named_rows
from tests.eval.api.dialects.conftest import Served

PYTHON = {"source_code": "print(1)", "language_id": 71}
NOW = "/submissions?wait=true"

# how a program ended → status, exit_signal, message
ENDS: dict[str, tuple[Any, tuple[int, int | None, str | None]]] = {
    "well": (ready("1 \n\n"), (3, None, None)),
    "wrong": (ready("2\n"), (4, None, None)),
    "over its time, not its extra": (ready("1", cpu_s=5.5), (5, None, "Time limit exceeded")),
    "wall": (ready(killed_for="wall"), (5, None, "Time limit exceeded (wall clock)")),
    "memory": (ready(killed_for="memory"), (12, 9, "Memory limit exceeded")),
    "output": (ready(killed_for="output"), (8, 25, "Caught fatal signal 25")),
    "disk": (ready(killed_for="disk"), (12, 9, "A limit of the sandbox was exceeded")),
    "SIGSEGV": (ready(exit_code=None, signal=11), (7, 11, "Caught fatal signal 11")),
    "SIGFPE": (ready(exit_code=None, signal=8), (9, 8, "Caught fatal signal 8")),
    "SIGABRT": (ready(exit_code=None, signal=6), (10, 6, "Caught fatal signal 6")),
    "SIGKILL": (ready(exit_code=None, signal=9), (12, 9, "Caught fatal signal 9")),
    "exit": (ready(exit_code=3), (11, None, "Exited with error status 3")),
    "the machine": (SandboxError("no cgroup"), (13, None, "no cgroup")),
}


@pytest.mark.parametrize("end", ENDS)
def test_how_a_program_ended_is_a_status(start, end):
    outcome, expected = ENDS[end]
    path = NOW + "&fields=status,exit_signal,message"
    status, answer = start(lambda call: outcome).post(path, {**PYTHON, "expected_output": "1"})
    assert status == 201
    assert (answer["status"]["id"], answer["exit_signal"], answer["message"]) == expected


def test_what_does_not_compile_has_no_run(start):
    box = FakeSandbox(compile_log=lambda source: b"x" * 1_000_000)
    _, answer = start(box).post(NOW, {"source_code": "x", "language_id": 54})
    assert answer["status"] == {"id": 6, "description": "Compilation Error"}
    assert (answer["compile_output"], answer["stdout"], answer["time"]) == ("x" * 65536, None, None)


def test_limits_and_arguments_reach_the_program(start):
    box = FakeSandbox(lambda call: ready("1\n", stderr=b"\xff"))
    given = {"cpu_time_limit": "2", "cpu_extra_time": 0.5, "wall_time_limit": 7}
    given |= {"memory_limit": 4096, "max_processes_and_or_threads": 3, "max_file_size": 2}
    body = {**PYTHON, **given, "command_line_arguments": "a 'b c'", "language_id": "71"}
    status, answer = start(box).post(NOW, body)
    limits = box.calls[0].limits
    assert (limits.cpu_s, limits.wall_s, limits.processes) == (2.5, 7, 3)
    assert (limits.memory_bytes, limits.output_bytes) == (4 << 20, 2048)
    assert box.calls[0].args == ("a", "b c")
    assert answer["error"] == "stderr is not UTF-8; ask with base64_encoded=true"
    assert status == 201


def ended(served: Served, token: str) -> dict[str, Any]:
    while True:
        _, answer = served.get(f"/submissions/{token}?fields=*&base64_encoded=true")
        if answer["status_id"] > 2:
            return dict(answer)
        time.sleep(0.01)


def test_a_token_leads_to_the_result(start):
    served = start(lambda call: ready(call.stdin))
    texts = {"source_code": "1", "stdin": "é\0", "expected_output": "é"}
    body = {name: base64.encodebytes(text.encode()).decode() for name, text in texts.items()}
    status, created = served.post("/submissions?base64_encoded=true", {**body, "language_id": 71})
    assert (status, list(created)) == (201, ["token"])
    answer = ended(served, created["token"])
    assert base64.b64decode(answer["stdout"]).decode() == "é\0"
    assert answer["status"]["id"] == 3
    assert answer["language"] == {"id": 71, "name": "Python (3.11.0)"}
    assert (answer["cpu_time_limit"], answer["time"], answer["memory"]) == ("5.000", "0.010", 1024)


def test_an_answer_is_of_one_moment():
    programs = ProgramRunner(FakeSandbox(lambda call: ready("1")), Ceilings())
    listed = languages_of(programs.installed)
    submission = read_submission(PYTHON, listed, programs.ceilings, encoded=False)

    def names() -> Iterator[str]:
        yield "stdout"
        submission.values = submission.run(programs)  # ends while the answer is written
        yield "status_id"

    assert answered(submission.values, names(), encoded=False) == {"stdout": None, "status_id": 2}
    assert answered(submission.values, ["stdout", "status_id"], encoded=False) == {
        "stdout": "1",
        "status_id": 3,
    }
    programs.close()


def test_a_batch_answers_for_each(start, monkeypatch):
    served = start(lambda call: ready("1"))
    rows = [PYTHON, {"language_id": 71}, {**PYTHON, "language_id": 12}]
    status, answer = served.post("/submissions/batch", {"submissions": rows})
    assert (status, answer[1]) == (201, {"source_code": ["can't be blank"]})
    assert answer[2]["language_id"][0].startswith("12 is not served; these are: 10, 25, 31")
    ended(served, answer[0]["token"])
    tokens = f"{answer[0]['token']},x"
    _, found = served.get(f"/submissions/batch?tokens={tokens}&fields=stdout,stderr")
    assert found == {"submissions": [{"stdout": "1", "stderr": None}, None]}
    monkeypatch.setattr(judge0, "ANSWER_CHARS", 19)
    path = f"/submissions/batch?tokens={','.join([answer[0]['token']] * 20)}&fields=stdout"
    assert served.get(path) == (
        413,
        {"error": "the answer has over 19 characters; ask for fewer at once"},
    )
    for path, name in (("/submissions/batch", "submissions"), ("/extra/submissions/batch", "x")):
        status, answer = served.post(path, {name: [{}] * 10_000})
        assert status == 400
        assert answer["error"].endswith("elements: it must have 1 to 20")
    row = dict.fromkeys(map(str, range(STRUCTURE_BYTES // 8)), 1)
    status, answer = served.post("/submissions/batch", {"submissions": [row, row, row, row]})
    assert (status, "JSON outside strings" in answer["message"]) == (413, True)


REFUSED = named_rows(__file__, "refused")


@pytest.mark.parametrize("field", REFUSED)
def test_what_is_not_honoured_is_refused_in_words(start, field):
    value, why = REFUSED[field]
    body = {"source_code": "MQ==", "language_id": 71, field: value}
    status, answer = start(FakeSandbox()).post(NOW + "&base64_encoded=true", body)
    assert (status, list(answer)) == (422, [field])
    assert answer[field][0].startswith(why)


def test_other_requests_are_refused(start):
    served = start(FakeSandbox())
    deleted = requests.delete(served.url + "/submissions/x", timeout=60)
    assert (deleted.status_code, "can't be deleted" in deleted.json()["error"]) == (400, True)
    assert served.get("/submissions/x")[0] == 404
    assert served.get("/submissions/batch")[1]["error"].startswith("tokens has 0 elements")
    assert served.get("/submissions/x?fields=a")[1]["error"].startswith("fields has 'a': there")
    long = {**PYTHON, "stdin": "x" * (4 << 20)}
    status, answer = served.post("/submissions", long)
    assert (status, answer["error"].partition(" are")[0]) == (413, f"{(4 << 20) + 4104} bytes")
    status, answer = served.post(NOW, long)
    assert served.get(f"/submissions/{answer['token']}")[0] == 404
    assert served.get("/languages/9") == (404, {"error": "no language '9' here"})


def test_a_full_queue_refuses_and_old_results_go(start, monkeypatch):
    monkeypatch.setattr(judge0, "QUEUE_MOST", 1)
    monkeypatch.setattr(judge0, "KEPT_BYTES", 1)  # the newest alone
    go = threading.Event()
    served = start(lambda call: ready(b"1" if go.wait(60) else b""))
    first = served.post("/submissions", PYTHON)[1]["token"]
    assert served.post("/submissions", PYTHON)[0] == 503
    go.set()
    ended(served, first)
    second = served.post(NOW + "&fields=token", PYTHON)[1]["token"]
    assert [served.get(f"/submissions/{token}")[0] for token in (first, second)] == [404, 200]
    monkeypatch.setattr(judge0, "KEPT_S", 0.0)
    assert served.get(f"/submissions/{second}")[0] == 404


def test_what_the_sdk_asks_first(start):
    served = start(FakeSandbox())
    assert served.get("/about")[1]["version"] == "1.14.0"
    assert served.get("/extra/about")[1]["version"] == "1.14.0-extra"
    assert {"id": 33, "name": "Python (3.11.0)"} in served.get("/extra/languages")[1]
    assert served.get("/statuses")[1][2] == {"id": 3, "description": "Accepted"}
    config = served.get("/config_info")[1]
    assert (config["max_cpu_time_limit"], config["enable_callbacks"]) == (120, False)


@pytest.mark.parametrize("name", ["X-Auth-Token", "X-API-KEY"])
def test_the_token_is_taken_under_their_names(start, name):
    served = start(FakeSandbox(), token="s3cret")
    for given, expected in (("s3cret", 200), ("", 401), ("Bearer s3cret", 401)):
        answer = requests.get(served.url + "/about", headers={name: given}, timeout=60)
        assert answer.status_code == expected
