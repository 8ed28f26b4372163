"""SandboxFusion's client 0.3.7 against our server."""

import base64
import time

import pytest

ENVIRONMENT = "fusion"
pytestmark = pytest.mark.frameworks
MBPP = {
    "id": 3,
    "content": "Add.",
    "labels": {},
    "test_list": ["assert add(1, 2) == 3", "assert add(0, 0) == 0"],
}
CONFIG = {"dataset_type": "MBPPDataset", "provided_data": MBPP}
ADD = "```python\ndef add(a, b):\n    return a + b\n```"


@pytest.mark.parametrize(
    ("fields", "status", "run_status", "code"),
    [
        ({"code": "print(input())", "language": "python", "stdin": "a"}, "Success", "Finished", 0),
        ({"code": "exit(3)", "language": "python"}, "Failed", "Finished", 3),
        ({"code": "int main() { return 0; }", "language": "cpp"}, "Success", "Finished", 0),
        (
            {"code": "while True: pass", "language": "python", "run_timeout": 1},
            "Failed",
            "TimeLimitExceeded",
            None,
        ),
        # dies while its input is written, which their image answers with SandboxError
        (
            {"code": "import os; os._exit(1)", "language": "python", "stdin": "x" * 4_000_000},
            "Failed",
            "Finished",
            1,
        ),
    ],
)
def test_programs_run(client, server, fields, status, run_status, code):
    answer = client.call("run_code", server.url, **fields)
    assert answer["status"] == status
    assert (answer["run_result"]["status"], answer["run_result"]["return_code"]) == (
        run_status,
        code,
    )


def test_files_go_in_and_come_back(client, server):
    data = base64.b64encode(b"7").decode()
    answer = client.call(
        "run_code",
        server.url,
        code="import h; open('out', 'w').write(open('d/in').read() * h.N)",
        language="python",
        files={"d/in": data, "h.py": base64.b64encode(b"N = 3").decode()},
        fetch_files=["out", "missing"],
    )
    assert answer["files"] == {"out": base64.b64encode(b"777").decode()}


def test_a_row_is_submitted(client, server):
    request = {"dataset": "mbpp", "id": 3, "completion": ADD, "config": CONFIG}
    answer = client.call("submit", server.url, **request)
    assert (answer["accepted"], answer["extracted_type"]) == (True, "fenced")
    wrong = {**request, "completion": "```python\nimport os\nos._exit(0)\n```"}
    assert client.call("submit", server.url, **wrong)["accepted"] is False


def test_128_clients_get_right_answers(client, server):
    assert client.call("many", server.url, count=128, clients=128) == {"right": 128}


def test_a_killed_server_is_asked_again(client, start_server):
    server = start_server()
    asked = {"code": "import time; time.sleep(2); print(1)", "language": "python"}
    process = client.start("run_code", server.url, attempts=5, **asked)
    deadline = time.monotonic() + 60
    while not server.present() and time.monotonic() < deadline:
        time.sleep(0.05)
    server.kill()
    start_server(server.port)
    assert client.read(process)["run_result"]["stdout"] == "1\n"


def test_a_server_that_stays_away_is_an_exception_or_a_rejection(client, start_server):
    server = start_server()
    server.kill()
    answer = client.call("run_code", server.url, code="1", language="python", attempts=2)
    assert "ConnectionError" in answer["raised"]
    request = {"dataset": "mbpp", "id": 3, "completion": ADD, "config": CONFIG}
    assert client.call("submit_safe", server.url, **request)["accepted"] is False
