"""`import gradebox`: its names, their import cost, and grading with a scripted sandbox."""

import asyncio
import inspect
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import gradebox
from gradebox.eval.common.errors import Retry
from gradebox.eval.results.records import read_records
from gradebox.sandbox.errors import SandboxError
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready

ROOT = Path(__file__).resolve().parents[3]
TESTS = [{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2, 3)]
ROW = {"id": "1/A", "time_limit": 1.0, "official_tests": TESTS}
ROWS = [ROW, {"id": "2/B", "official_tests": TESTS[:1]}, {"id": "3/C", "official_tests": []}]
SOLUTIONS = [
    {"id": "1/A", "code": "echo"},
    {"id": "1/A", "code": "wrong", "sample_id": "w"},
    {"id": "1/A", "code": "echo"},
    {"id": "2/B", "completion": "no code"},
    {"id": "3/C", "code": "echo"},
    {"id": "9/Z", "code": "echo"},
    {"id": "2/B", "code": "fault"},
    {"id": "1a", "code": "broken"},
]
STATUSES = ["passed", "failed", "passed", "failed", "no_tests", "invalid", "error", "failed"]


def run_program(call: Call) -> Any:
    if call.source.startswith("fault"):
        return SandboxError("the box died")
    return call.stdin if call.source.startswith("echo") else b"no"


def compile_error(source: str) -> bytes | None:
    return b"main.py: no" if source == "broken" else None


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gradebox.eval.api.batch.Retry", partial(Retry, first_s=0.001))


@pytest.fixture
def grader() -> Iterator[gradebox.Grader]:
    with gradebox.Grader(sandbox=FakeSandbox(run_program, compile_error)) as made:
        yield made


# ---- the names ---------------------------------------------------------------------------


PUBLIC = """
BadRequest Case Client CompileError Execution Grader InputError Limits Record SandboxError close
grade grade_async latest_records open_sandbox read_records rewards run run_async to_frame
"""


def test_the_public_names():
    assert sorted(gradebox.__all__) == sorted(PUBLIC.split())
    for name in gradebox.__all__:
        assert getattr(gradebox, name) is not None
    assert set(gradebox.__all__) <= set(dir(gradebox))
    with pytest.raises(AttributeError, match="module 'gradebox' has no attribute 'gread'"):
        gradebox.gread  # noqa: B018


def test_sync_and_async_have_the_same_signature():
    for one, other in (("grade", "grade_async"), ("run", "run_async")):
        plain, twin = getattr(gradebox, one), getattr(gradebox, other)
        assert inspect.signature(plain) == inspect.signature(twin)
        assert inspect.iscoroutinefunction(twin) and plain.__doc__ and twin.__doc__


def test_importing_loads_no_large_library():
    heavy = ["pandas", "datasets", "pyarrow", "requests", "numpy", "asyncio", "eval", "sandbox"]
    code = f"import gradebox, sys; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == "[]"


# ---- grading -----------------------------------------------------------------------------


def test_each_solution_has_its_record_in_order(grader):
    records = grader.grade(SOLUTIONS, ROWS)
    assert [r["status"] for r in records] == STATUSES
    assert [r["line"] for r in records] == list(range(1, 9))
    assert [r["solution_id"] for r in records[:3]] == ["1", "w", "3"]
    assert [r["sample_i"] for r in records] == [0, 1, 2, 0, 0, 0, 1, 3]
    assert records[7]["problem_id"] == "1/A"  # another spelling
    assert "unknown problem '9/Z': not among the 3 given" in records[5]["error"]


def test_the_records_are_those_of_a_run(tmp_path):
    import json

    from gradebox.eval.cli.run import run_grading
    from gradebox.eval.grading.options import Options

    (tmp_path / "p.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]))
    lines = [s for s in SOLUTIONS if s["id"] in ("1/A", "2/B") and s.get("code") != "fault"]
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    box = FakeSandbox(run_program, compile_error)
    options = Options(
        solutions_path=tmp_path / "s.jsonl",
        dataset=str(tmp_path / "p.jsonl"),
        results_dir=tmp_path / "r",
    )
    run = list(read_records(run_grading(options, sandbox=box).files[0].folder))
    with gradebox.Grader(tmp_path / "p.jsonl", sandbox=box) as by_dataset:
        assert by_dataset.grade(lines) == run
        assert by_dataset.grade(tmp_path / "s.jsonl") == run
        assert by_dataset.grade(lines, ROWS) == run


def test_solutions_need_not_name_the_only_problem(grader):
    assert [r["status"] for r in grader.grade([{"code": "echo"}], ROW)] == ["passed"]
    assert [r["status"] for r in grader.grade({"code": "echo"}, {**ROW, "id": None})] == ["passed"]


def test_a_problem_may_change_its_tests_under_the_same_id(grader):
    other = {**ROW, "official_tests": [{"input": "1\n", "output": "5\n"}]}
    found = [grader.grade([{"code": "echo"}], row)[0]["status"] for row in (ROW, other, ROW, other)]
    assert found == ["passed", "failed", "passed", "failed"]


def test_an_invalid_row_affects_no_other(grader):
    first, second = grader.grade(["print(5)", {"code": "echo"}], ROW)
    assert (first["status"], second["status"]) == ("invalid", "passed")
    assert first["error"] == (
        "line 1: 'print(5)' is not a row: an object with `code` or `completion` is needed"
    )


def test_a_row_cannot_name_a_file_of_this_machine(grader):
    rows = [{**ROW, "interactor": "testlib:/etc/passwd"}, {**ROW, "checker": "python:/etc/passwd"}]
    statuses = [grader.grade([{"code": "no"}], row)[0] for row in rows]
    assert [r["status"] for r in statuses] == ["unsupported", "invalid"]
    assert "comes from the problem, which may only name a built-in" in statuses[1]["error"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda g: gradebox.Grader(fresh=True), "unknown flag 'fresh': a grader takes "),
        (lambda g: gradebox.Grader(compare="loose"), "--compare 'loose': choose one of"),
        (lambda g: gradebox.Grader(repeat="2"), "--repeat '2': give a whole number"),
        (lambda g: gradebox.Grader(workers=True), "--workers True: give a whole number"),
        (lambda g: gradebox.Grader(stop_on_first_failure="no"), "'no': give True or False"),
        (lambda g: g.grade(None, ROW), "solutions is None: rows, or the path of a file"),
        (lambda g: g.grade([{"code": "x"}]), "no problems: give `problems` rows to this call"),
        (lambda g: g.grade([{"code": "x"}], ROW, time_limit_s=0), "time_limit_s 0: give seconds"),
        (lambda g: g.grade([], "other.jsonl"), "make another Grader for another dataset"),
        (lambda g: g.grade([], [3]), "the problem is 3: a row of columns is needed"),
        (lambda g: g.grade([], 3), "the problem is 3: a row of columns is needed"),
    ],
)
def test_wrong_use_is_reported(grader, call, words):
    with pytest.raises(gradebox.InputError, match=words):
        call(grader)


def test_a_closed_grader_refuses_calls():
    grader = gradebox.Grader(sandbox=FakeSandbox(run_program))
    grader.close()
    grader.close()
    with pytest.raises(gradebox.InputError, match="the grader is closed: make another one"):
        grader.grade([{"code": "echo"}], ROW)


def test_a_given_sandbox_is_not_used_in_a_forked_child(grader, monkeypatch):
    monkeypatch.setattr("gradebox.eval.api.grader.os.getpid", lambda: 1)
    with pytest.raises(gradebox.InputError, match=r"which forked: give its kind"):
        grader.grade([{"code": "echo"}], ROW)


# ---- time --------------------------------------------------------------------------------


def test_a_time_limit_ends_a_batch():
    box = FakeSandbox(lambda call: ready(call.stdin, wall_s=3.0, cpu_s=0.1))
    with gradebox.Grader(sandbox=box, workers=1) as grader:
        rows = [{"code": f"echo {i}"} for i in range(20)]
        records = grader.grade(rows, ROW, time_limit_s=10.0)
    done = [r for r in records if r["status"] == "passed"]
    assert len(box.calls) == 4  # 12 s exceed 10 s; no run starts after that
    assert len(done) == 1
    left = [r["error"] for r in records if r["status"] == "error"]
    assert len(left) == 19
    assert all("the batch's time limit of 10 s a core was used up" in why for why in left)


def test_waiting_for_a_core_is_not_counted():
    def wait(call: Call) -> Any:
        time.sleep(0.05)  # as a run that waits for its core does
        return ready(call.stdin, wall_s=0.001)

    with gradebox.Grader(sandbox=FakeSandbox(wait), workers=1) as grader:
        records = grader.grade([{"code": f"echo {i}"} for i in range(4)], ROW, time_limit_s=0.02)
    assert [r["status"] for r in records] == ["passed"] * 4


# ---- threads, event loops ------------------------------------------------------------------


def test_many_threads_share_one_grader(grader):
    found: list[list[str]] = []

    def work() -> None:
        for _ in range(5):
            found.append([r["status"] for r in grader.grade(SOLUTIONS, ROWS)])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [STATUSES] * 40


def test_grading_does_not_block_the_event_loop(grader):
    async def main() -> list[list[str]]:
        batches = await asyncio.gather(*(grader.grade_async(SOLUTIONS, ROWS) for _ in range(6)))
        return [[r["status"] for r in records] for records in batches]

    before = threading.active_count()
    assert asyncio.run(main()) == [STATUSES] * 6
    for _ in range(500):  # the last thread may still be ending
        if threading.active_count() <= before:
            break
        time.sleep(0.01)
    assert threading.active_count() <= before


def test_cancelling_stops_the_batch():
    started, go_on = threading.Event(), threading.Event()

    def hold(call: Call) -> Any:
        started.set()
        go_on.wait(30)
        return call.stdin

    box = FakeSandbox(hold)

    async def main(grader: gradebox.Grader) -> None:
        task = asyncio.ensure_future(
            grader.grade_async([{"code": f"echo {i}"} for i in range(50)], ROW)
        )
        while not started.is_set():
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    with gradebox.Grader(sandbox=box, workers=2) as grader:
        asyncio.run(main(grader))
    assert len(box.calls) <= 4


def test_closing_stops_running_batches():
    started, go_on = threading.Event(), threading.Event()

    def hold(call: Call) -> Any:
        started.set()
        go_on.wait(120)
        return call.stdin

    grader = gradebox.Grader(sandbox=FakeSandbox(hold), workers=1)
    records: list[dict[str, Any]] = []
    rows = [{"code": f"echo {i}"} for i in range(20)]
    thread = threading.Thread(target=lambda: records.extend(grader.grade(rows, ROW)))
    thread.start()
    assert started.wait(120)
    closing = threading.Thread(target=grader.close)
    closing.start()
    with pytest.raises(gradebox.InputError, match="the grader is closed"):
        while grader.problem_ids() == []:  # until `close` has stopped the batch
            time.sleep(0.005)
    go_on.set()
    closing.join(120)
    thread.join(120)
    assert [r["status"] for r in records] == ["error"] * 20
    assert records[-1]["error"] == "the grader was closed"
