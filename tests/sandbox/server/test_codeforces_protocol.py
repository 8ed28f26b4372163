"""The Codeforces package's protocol: judged after the run, with no secret in the box."""

from typing import Any

import pytest

from gradebox.sandbox import Execution
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from testing.rows import rows

SECRET = "4242 the expected answer"
CHECKER = "import sys\nprint(1)  # the checker's secret\n"


def case(**more: Any) -> dict[str, Any]:
    """Return a request like open-r1's."""
    files = {
        "main.python": "print(input())",
        "input.txt": "1 2\r\n3\r\n",
        "correct_output.txt": SECRET,
        "grader_config": "TIME_LIMIT=1.5\nMEMORY_LIMIT=64\nINPUT_MODE=stdio",
        **more.pop("files", {}),
    }
    listed = [{"name": n, "content": c} for n, c in files.items() if c is not None]
    return {"language": "cf_python3", "version": "*", "files": listed, **more}


def answering(answer: Execution | bytes) -> FakeSandbox:
    return FakeSandbox(script=lambda call: answer)


def test_the_solution_gets_its_input_and_nothing_else(start):
    server = start(answering(b"x"))
    server.post(**case(files={"checker.py": CHECKER}))
    first = server.sandbox.calls[0]
    assert first.stdin == b"1 2\n3\n"
    assert dict(first.files) == {"main.python": b"print(input())"}
    assert first.args == ("main.python",)
    assert dict(first.program.files) == {"main.py": b""}
    held = repr((first.program, first.stdin, first.files, first.args))
    assert SECRET not in held and "secret" not in held


def test_the_limits_come_from_the_config(start):
    server = start(answering(b"x"))
    server.post(**case(run_timeout=11_500))
    limits = server.sandbox.calls[0].limits
    assert (limits.cpu_s, limits.wall_s, limits.memory_bytes) == (1.5, 6.5, 64 << 20)


def test_input_and_output_by_file(start):
    def script(call: Call) -> Execution:
        assert call.stdin == b""
        assert call.files["input.txt"] == b"1 2\n3\n"
        assert call.collect == ("output.txt",)
        return ready("ignored", files={"output.txt": SECRET.encode()})

    server = start(FakeSandbox(script=script))
    by_file = {"grader_config": "TIME_LIMIT=1\nINPUT_MODE=file"}
    assert server.post(**case(files=by_file)).json()["run"]["stdout"] == "1\n"


@pytest.mark.parametrize(
    ("fields", "code", "words"),
    rows(__file__, "failures"),
)
def test_failures_exit_as_the_package_does(start, fields, code, words):
    run = start(answering(ready(SECRET, **fields))).post(**case()).json()["run"]
    assert (run["stdout"], run["code"], run["status"]) == ("0\n", code, "RE")
    assert words in run["stderr"]


def test_the_checker_runs_separately_and_decides(start):
    def script(call: Call) -> Execution | bytes:
        if "secret" not in call.source:
            return b"another right answer"
        held = {*call.files.values(), call.stdin}
        assert any(SECRET.encode() in h for h in held)
        assert any(b"another right answer" in h for h in held)
        return b"1\n"

    server = start(FakeSandbox(script=script))
    run = server.post(**case(files={"checker.py": CHECKER})).json()["run"]
    assert (run["stdout"], run["stderr"]) == ("1\n", "Output is correct (checker)\n")
    assert len(server.sandbox.calls) == 2


def test_a_failing_checker_gives_no_verdict(start):
    def script(call: Call) -> Execution | bytes:
        return ready(exit_code=1, stderr=b"boom") if "secret" in call.source else b"x"

    run = (
        start(FakeSandbox(script=script)).post(**case(files={"checker.py": CHECKER})).json()["run"]
    )
    assert (run["stdout"], run["code"]) == ("0\n", 1)
    assert "no verdict" in run["stderr"]


def test_plain_cpp17_is_not_the_protocol(start):
    files = [{"name": "main.cpp", "content": "int main() {}"}]
    run = start(answering(b"42")).post(language="c++17", version="*", files=files).json()["run"]
    assert run["stdout"] == "42"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ("TIME_LIMIT=soon", "TIME_LIMIT is 'soon'"),
        ("TIME_LIMIT=-1", "TIME_LIMIT is '-1'"),
        ("TIME_LIMIT=nan", "TIME_LIMIT is 'nan'"),
        ("TIME_LIMIT=$(id)", "TIME_LIMIT is '$(id)'"),
        ("TIME_LIMIT=99999", "TIME_LIMIT of 99999 is over this server's limit of 120"),
        ("MEMORY_LIMIT=99999", "MEMORY_LIMIT of 99999 is over this server's limit of 4096"),
    ],
)
def test_invalid_configs_are_refused(start, config, message):
    answer = start().post(**case(files={"grader_config": config}))
    assert answer.status_code == 400
    assert message in answer.json()["message"]
