"""verl 0.9.1: its sandbox_fusion utilities against our server."""

import time

import pytest

ENVIRONMENT = "verl"
pytestmark = pytest.mark.frameworks
TESTS = {"inputs": ["1\n", "2\n", "3\n"], "outputs": ["1\n", "4\n", "9\n"]}
SQUARE = "print(int(input()) ** 2)"
CPP = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", n * n); }'


@pytest.mark.parametrize(
    ("code", "tests", "expected"),
    [
        (SQUARE, TESTS, 1.0),
        ("print(4)", TESTS, 1 / 3),
        ("x = (", TESTS, 0.0),
        (
            "def add(a, b):\n    return a + b",
            {"inputs": ["1\n2"], "outputs": ["3"], "fn_name": "add"},
            1.0,
        ),
        ("def add(a, b):\n    return a + b", {"assert_case": ["assert add(1, 2) == 3"]}, 1.0),
    ],
)
def test_completions_are_scored(client, server, code, tests, expected):
    answer = client.call("score", server.url, completion=f"```python\n{code}\n```", tests=tests)
    assert answer["score"] == pytest.approx(expected)


def test_the_reward_manager_finds_the_server(client, server):
    answer = client.call(
        "by_source",
        server.url,
        data_source="codecontests",
        completion=f"```python\n{SQUARE}\n```",
        tests=TESTS,
    )
    assert answer == 1.0


@pytest.mark.parametrize(
    ("code", "language", "result", "status"),
    [
        (CPP, "cpp", True, "success"),
        ("int main() {", "cpp", -4, "compile_error"),
        ("while True: pass", "python", -3, "timeout"),
        ("exit(1)", "python", -2, "runtime_error"),
        ("print(input(), end='x')", "python", False, "wrong_answer"),
    ],
)
def test_each_way_to_fail_has_its_status(client, server, code, language, result, status):
    tests = {"inputs": ["2\n"], "outputs": ["4\n"]}
    answer = client.call("check", server.url, tests=tests, code=code, language=language, timeout=4)
    assert answer["results"] == [result]
    assert answer["metadata"][0]["status"] == status


def test_a_program_is_compiled_once_for_its_tests(client, server):
    code = CPP.replace("int n;", "int n; /* once */")
    tests = {"inputs": ["2\n"] * 20, "outputs": ["4\n"] * 20}
    answer = client.call("check", server.url, tests=tests, code=code, language="cpp")
    compiled = [one["compile_duration"] for one in answer["metadata"]]
    assert answer["results"] == [True] * 20
    assert sum(seconds > 0 for seconds in compiled) == 1


def test_128_clients_get_right_answers(client, server):
    assert client.call("many", server.url, count=128, clients=128) == {"right": 128}


def test_a_server_that_is_gone_is_a_failed_test(client, start_server):
    server = start_server()
    server.kill()
    answer = client.call("check", server.url, tests=TESTS, code=SQUARE)
    assert answer["results"] == [-1, -1, -1]
    assert {one["status"] for one in answer["metadata"]} == {"api_error"}
    scored = client.call("score", server.url, completion=f"```python\n{SQUARE}\n```", tests=TESTS)
    assert scored["score"] == 0.0


def test_a_server_killed_in_the_middle_is_a_failed_test(client, start_server):
    server = start_server()
    code = "import time\ntime.sleep(100)"
    process = client.start("check", server.url, tests=TESTS, code=code, timeout=100)
    deadline = time.monotonic() + 100
    while server.present() < 3 and time.monotonic() < deadline:
        time.sleep(0.2)
    server.kill()
    assert client.read(process)["results"] == [-1, -1, -1]
