"""What planning costs: each problem is opened once, and each input is read and hashed once."""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gradebox.eval.cli.run import run_grading
from gradebox.eval.grading import resources, session
from gradebox.eval.grading.options import Options
from gradebox.eval.problems import chosen_tests
from gradebox.eval.problems.problem_set import ProblemSet
from testing.fakes.scripted_sandbox import Call, FakeSandbox

Script = Callable[[Call], bytes]
PROBLEMS = 60
SAMPLES = 3


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often the tests of each problem are opened."""
    counts: Counter[str] = Counter()

    def counted(*args: Any) -> Any:
        counts[args[2].id] += 1
        return chosen_tests.open_tests(*args)

    monkeypatch.setattr(session, "open_tests", counted)
    return counts


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> Counter[bytes]:
    """Count how often each piece of a test's contents is hashed."""
    counts: Counter[bytes] = Counter()

    class CountedHash:
        def __init__(self, data: bytes = b"") -> None:
            self._sha = hashlib.sha256()
            self.update(data)
            self.digest, self.hexdigest = self._sha.digest, self._sha.hexdigest

        def update(self, data: bytes) -> None:
            counts[bytes(data)] += 1
            self._sha.update(data)

    monkeypatch.setattr(chosen_tests, "hashlib", SimpleNamespace(sha256=CountedHash))
    return counts


def grade(folder: Path, answer: Script = lambda call: b"yes") -> dict[str, int]:
    """Grade SAMPLES solutions of each problem; return the counts of their statuses."""
    ids = [f"{n}/A" for n in range(1, PROBLEMS + 1)]
    with (folder / "p.jsonl").open("w") as file:
        for number, name in enumerate(ids):
            tests = [{"input": f"input {number} {i}\n", "output": "yes"} for i in range(2)]
            file.write(json.dumps({"id": name, "official_tests": tests}) + "\n")
    with (folder / "s.jsonl").open("w") as file:
        for number, name in enumerate(n for n in ids for _ in range(SAMPLES)):
            file.write(json.dumps({"id": name, "code": f"solution {number}"}) + "\n")
    result = run_grading(
        Options(
            solutions_path=folder / "s.jsonl",
            dataset=str(folder / "p.jsonl"),
            results_dir=folder / "results",
            workers=2,
        ),
        sandbox=FakeSandbox(answer),
    )
    metrics = result.files[0].metrics
    assert metrics is not None
    return dict(metrics["statuses"])


def test_a_problem_is_opened_once_while_its_jobs_are_queued(
    tmp_path: Path, opened: Counter[str]
) -> None:
    def answer(call: Call) -> bytes:
        """Let no program end before all jobs are queued."""
        deadline = time.monotonic() + 30
        while len(opened) < PROBLEMS and time.monotonic() < deadline:
            time.sleep(0.01)
        return b"yes"

    assert grade(tmp_path, answer) == {"passed": PROBLEMS * SAMPLES}
    assert set(opened.values()) == {1}
    assert len(opened) == PROBLEMS


def test_planning_waits_instead_of_opening_a_problem_again_when_few_may_be_open(
    tmp_path: Path, opened: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def small(*args: Any) -> resources.ResourceCache:
        least = resources.IN_MEMORY_BYTES
        return resources.ResourceCache(*args, in_use_bytes=4 * least, unused_bytes=8 * least)

    monkeypatch.setattr(session, "ResourceCache", small)
    assert grade(tmp_path) == {"passed": PROBLEMS * SAMPLES}
    assert set(opened.values()) == {1}


@pytest.mark.slow
def test_each_input_is_hashed_once_for_the_key_and_once_for_the_records(
    tmp_path: Path, hashed: Counter[bytes]
) -> None:
    grade(tmp_path)
    inputs = {data: count for data, count in hashed.items() if data.startswith(b"input ")}
    assert len(inputs) == 2 * PROBLEMS
    assert set(inputs.values()) == {2}


@pytest.mark.slow(seconds=1)
def test_official_tests_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()
    original = ProblemSet.official_tests

    def counted(self: ProblemSet, problem_id: str) -> Any:
        read[problem_id] += 1
        return original(self, problem_id)

    monkeypatch.setattr(ProblemSet, "official_tests", counted)
    grade(tmp_path)
    assert set(read.values()) == {1}
