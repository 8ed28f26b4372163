"""`import gradebox` with the real sandbox: one program, fork, no leaks."""

import asyncio
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import gradebox
from gradebox.eval.api.rewards.values import reward_of
from gradebox.sandbox.common.cpus import children
from testing.commands import run_command
from tests.sandbox.backends import needs_box, open_backend

pytestmark = pytest.mark.slow
ROW = {"id": "1/A", "official_tests": [{"input": "2 3\n", "output": "5\n"}]}
RIGHT = "print(sum(map(int, input().split())))"
SOLUTIONS = [{"code": RIGHT}, {"code": "print(1)"}, {"code": "int main( {", "language": "cpp"}]
VERDICTS = ["AC", "WA", "CE"]


@pytest.fixture
def grader() -> Iterator[gradebox.Grader]:
    needs_box()
    with gradebox.Grader(sandbox="local") as made:
        yield made


def verdicts(grader: gradebox.Grader) -> list[str]:
    return [r["verdict"] for r in grader.grade(SOLUTIONS, ROW)]


def test_runs_of_one_program(grader):
    seen = grader.run("print(input()[::-1])", stdin="abc")
    assert (seen.stdout, seen.exit_code) == (b"cba\n", 0)
    again = asyncio.run(grader.run_async("import sys; sys.exit(3)"))
    assert again.exit_code == 3
    stopped = grader.run("while True: pass", limits=gradebox.Limits(cpu_s=0.2, wall_s=10))
    assert stopped.killed_for == "cpu"
    with pytest.raises(gradebox.CompileError, match="the program does not compile: ") as caught:
        grader.run("int main( {", "cpp")
    assert "main.cpp" in caught.value.log
    with pytest.raises(gradebox.BadRequest, match="unknown language 'klingon'"):
        grader.run("x", "klingon")


def test_python_that_does_not_compile_is_a_compile_error_with_its_reward(grader):
    broken, raised = {"code": "x = 1\nprint(x\n"}, {"code": "eval('1 +')"}
    first, second = grader.grade([broken, raised], ROW)
    assert (first["verdict"], second["verdict"]) == ("CE", "RE")
    assert first["error"].startswith("SyntaxError: ")
    assert 'main.py", line 2' in first["compile"]["log"]
    assert {case["reason"] for case in first["details"]} == {"compile_error"}
    assert (float(reward_of(first)), float(reward_of(second))) == (-0.1, 0.0)
    with pytest.raises(gradebox.CompileError, match="SyntaxError"):
        grader.run("print(1")


def test_the_functions_of_the_module():
    with open_backend("box"):
        try:
            records = gradebox.grade(SOLUTIONS, ROW, sandbox="local")
            assert [r["verdict"] for r in records] == VERDICTS
            again = asyncio.run(gradebox.grade_async(SOLUTIONS, ROW, sandbox="local"))
            assert [r["verdict"] for r in again] == VERDICTS
            assert gradebox.run("print(7)", sandbox="local").stdout == b"7\n"
        finally:
            gradebox.close()


def test_a_forked_child_opens_its_own_sandbox(grader):
    """As trainers do: fork with everything open and threads running, grade on both sides."""
    assert verdicts(grader) == VERDICTS
    going = threading.Event()
    noise = threading.Thread(target=lambda: [going.set(), *(verdicts(grader) for _ in range(5))])
    noise.start()
    going.wait()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            signal.alarm(150)  # a child that hangs is a failure, not a hung test
            good = False
            try:
                good = verdicts(grader) == VERDICTS and verdicts(grader) == VERDICTS
            finally:
                os._exit(0 if good else 1)
        children.append(child)
    ends = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    noise.join()
    assert ends == [0, 0, 0]
    assert verdicts(grader) == VERDICTS


def counts() -> tuple[int, int, int]:
    """Return the descriptors, threads and children of this process."""
    gc.collect()
    fds = len(list(Path("/proc/self/fd").iterdir()))
    return fds, threading.active_count(), len(children(os.getpid()))


@pytest.fixture
def before() -> int:
    """Return the children of this process before a grader is opened."""
    return counts()[2]


@pytest.mark.timeout(600)
def test_many_batches_leak_nothing(before, grader):
    batches = 150
    for _ in range(30):
        verdicts(grader)
    warm = counts()
    for i in range(batches):
        row = {**ROW, "id": f"{i}/A"}  # another problem each time, as in training
        assert grader.grade([{"code": RIGHT}], row)[0]["verdict"] == "AC"
    descriptors, threads, children = (b - a for a, b in zip(warm, counts(), strict=True))
    assert threads <= 0
    assert children <= 1  # one more warm box
    assert descriptors <= 12
    grader.close()
    assert counts()[2] <= before  # other tests of this process may have some


def test_grading_a_local_file_imports_no_optional_library(tmp_path):
    (tmp_path / "p.jsonl").write_text(json.dumps(ROW) + "\n")
    code = (
        "import sys, gradebox\n"
        "with gradebox.Grader(dataset=sys.argv[1], sandbox='local') as grader:\n"
        f"    (record,) = grader.grade([{{'id': '1/A', 'code': {RIGHT!r}}}])\n"
        "heavy = [m for m in ('datasets', 'pandas', 'docker') if m in sys.modules]\n"
        "print(record['status'], heavy)\n"
    )
    with open_backend("box"):
        command = [sys.executable, "-c", code, str(tmp_path / "p.jsonl")]
        run = run_command(command)
    assert run.stdout == "passed []\n", run.stderr
