"""Values of programs are interpreted in workers, within limits."""

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from gradebox.checkers.values import judging
from gradebox.checkers.values.codec import Side, pack
from gradebox.checkers.values.judging import ValueJudge
from gradebox.checkers.workers.pool import CRASHED, Outcome
from gradebox.sandbox.errors import SandboxError

COLLIDING = [i * ((1 << 61) - 1) for i in range(1, 20_001)]  # all have the hash 0
HEX = "f" * 400_000


def message(*nodes: Any) -> bytes:
    return json.dumps({"cells": [[0]], "nodes": list(nodes)}, separators=(",", ":")).encode()


# Made when they are wanted: they take half a second.
HOSTILE: dict[str, Callable[[], bytes]] = {
    "a set of numbers that collide": lambda: message(
        ["s", *(["i", format(n, "x")] for n in COLLIDING)]
    ),
    "keys that collide": lambda: message(
        ["d", *(c for n in COLLIDING for c in (["i", f"{n:x}"], 0))]
    ),
    "a fraction": lambda: message(["l", ["Q", format(3**1_200_000, "x"), format(7**700_000, "x")]]),
    "whole numbers": lambda: message(["l", *[["i", HEX]] * 4]),
    "a complex number": lambda: message(["l", ["c", "9" * 400_000, "1"]]),
    "a decimal": lambda: message(["l", ["D", "9" * 400_000]]),
    "deep tuples": lambda: message(*(["t", [i + 1]] for i in range(20_000)), ["t"]),
    "deep lists": lambda: message(*(["l", [i + 1]] for i in range(20_000)), ["l"]),
    "brackets": lambda: b"[" * 1_000_000,
    "a long number": lambda: b'{"cells":[' + b"9" * 1_000_000 + b'],"nodes":[]}',
}


@pytest.mark.slow(seconds=6)
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_result_costs_the_grader_nothing(what):
    output = HOSTILE[what]()
    ValueJudge("value").check(b"", b"{}", b"1")  # starts a worker
    began = time.process_time()
    check = ValueJudge("value").check(b"", output, b"[1]")
    assert check.outcome == "rejected"
    assert time.process_time() - began < 0.5  # 3 to 60 s in this process


@pytest.mark.slow(seconds=2)
@pytest.mark.parametrize("what", ["a set of numbers that collide", "a fraction"])
def test_a_result_that_cannot_be_compared_within_the_limit_is_wrong(what, monkeypatch):
    monkeypatch.setattr(judging, "CPU_S", 0.1)
    check = ValueJudge("value").check(b"", HOSTILE[what]() + b" ", b"[1]")
    assert (check.outcome, check.message) == (
        "rejected",
        "the result cannot be compared within 0.1 s of CPU time",
    )


@pytest.mark.slow(seconds=2)
def test_an_expected_value_that_cannot_be_compared_is_unclear(monkeypatch):
    # the kernel looks at its clock once in up to 10 ms of a run: reading this takes 300 ms
    monkeypatch.setattr(judging, "CPU_S", 0.01)
    monkeypatch.setattr(judging, "CPU_S_PER_MB", 0)
    expected = json.dumps([[i] for i in range(1_000_000)]).encode()
    check = ValueJudge("value").check(b"", b'{"cells":[1],"nodes":[]}' + b" " * 4_000_000, expected)
    assert check.outcome == "unclear"
    assert "the expected value cannot be compared within 0.01 s" in check.message


def test_a_worker_ended_by_the_machine_is_no_verdict(monkeypatch):
    monkeypatch.setattr(judging.ValuePool, "ask", lambda *_: Outcome(False, CRASHED))
    with pytest.raises(SandboxError, match="ended from outside"):
        ValueJudge("value").check(b"", b"{}", b"1")


@pytest.mark.parametrize(
    "value", [1, "é", [1, [2.5, None]], {"a": [True]}, [], {}, -(2**80), 1e300]
)
def test_the_expected_value_itself_needs_no_worker(value, monkeypatch):
    monkeypatch.setattr(judging.ValuePool, "ask", None)
    output = json.dumps(pack([value], Side(), shared=False), separators=(",", ":")).encode()
    for name in ("value", "value-reference", "wrapped", "printed-reference"):
        assert ValueJudge(name).check(b"", output, json.dumps(value).encode()).accepted
