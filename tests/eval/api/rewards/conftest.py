"""A grader over a scripted sandbox, and one over a real sandbox."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.common.errors import Retry
from gradebox.sandbox.errors import SandboxError
from testing.fakes.scripted_sandbox import Call, FakeSandbox
from tests.sandbox.backends import open_backend

TESTS = [{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2, 3, 4)]


def run_word(call: Call) -> Any:
    """Run a program of one word: `echo`, `wrong`, `half` (right up to 2), `fault` (of the box)."""
    word = call.source.split()[0]
    number = int(call.stdin)
    if word == "fault" or (word == "fault_late" and number > 2):
        return SandboxError("the box died")
    right = word in ("echo", "fault_late") or (word == "half" and number <= 2)
    return call.stdin if right else b"no"


def compile_error(source: str) -> bytes | None:
    return b"main.cpp: no" if source.startswith("broken") else None


def fenced(word: str, tag: str = "python") -> str:
    return f"Here it is.\n```{tag}\n{word}\n```\n"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Grader]:
    monkeypatch.setattr("gradebox.eval.api.batch.Retry", partial(Retry, first_s=0.001))
    with Grader(sandbox=FakeSandbox(run_word, compile_error), max_stored_output=0) as grader:
        yield grader


@pytest.fixture(scope="module")
def real() -> Iterator[Grader]:
    with open_backend("box") as box, Grader(sandbox=box, max_stored_output=0) as grader:
        yield grader
