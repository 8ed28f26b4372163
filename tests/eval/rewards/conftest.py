"""A grader over a scripted sandbox, and a real one for what only a real box shows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from eval.grader import Grader
from eval.retry import Retry
from sandbox.errors import SandboxError
from tests.fakes.scripted_sandbox import Call, FakeSandbox
from tests.sandbox.backends import open_backend

TESTS = [{"input": f"{n}\n", "output": f"{n}\n"} for n in (1, 2, 3, 4)]


def say(call: Call) -> Any:
    """A program is words: `echo`, `wrong`, `half` (right up to 2), `fault` (the box dies)."""
    word = call.source.split()[0]
    number = int(call.stdin)
    if word == "fault" or (word == "fault_late" and number > 2):
        return SandboxError("the box died")
    right = word in ("echo", "fault_late") or (word == "half" and number <= 2)
    return call.stdin if right else b"no"


def refuse(source: str) -> bytes | None:
    return b"main.cpp: no" if source.startswith("broken") else None


def fenced(word: str, tag: str = "python") -> str:
    return f"Here it is.\n```{tag}\n{word}\n```\n"


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Grader]:
    monkeypatch.setattr("eval.batch.Retry", partial(Retry, first_s=0.001))
    with Grader(sandbox=FakeSandbox(say, refuse), max_stored_output=0) as grader:
        yield grader


@pytest.fixture(scope="module")
def real() -> Iterator[Grader]:
    with open_backend("box") as box, Grader(sandbox=box, max_stored_output=0) as grader:
        yield grader
