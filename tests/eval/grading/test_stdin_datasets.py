"""Rows of APPS' and DeepCoder's kind with the real sandbox, in both ways to judge."""

import json
from typing import Any

import pytest

import gradebox
from tests.sandbox.backends import open_backend

pytestmark = pytest.mark.slow


def row(**tests: Any) -> dict[str, Any]:
    return {"problem_id": 1, "question": "q", "input_output": json.dumps(tests)}


KEYS = row(fn_name="total", inputs=[[{"1": 2, "3": 4}]], outputs=[[{"4": 6}]])
SUMS = row(inputs=["1 2\n3 4\n"], outputs=["3\n7\n"])
ADD = "import sys\nfor line in sys.stdin:\n    print(sum(map(int, line.split())))\n"
CODES = [
    (KEYS, "def total(d):\n    return {sum(d): sum(d.values())}\n", ("passed", "passed")),
    (KEYS, "def total(d: Dict):\n    return [{sum(d): sum(d.values())}]\n", ("passed", "passed")),
    (KEYS, "def total(d):\n    return {sum(d): 7}\n", ("failed", "failed")),
    (KEYS, "import os\ndef total(d):\n    os._exit(0)\n", ("failed", "failed")),
    (SUMS, ADD, ("passed", "passed")),
    (SUMS, ADD.replace("sys.stdin", "list(sys.stdin)[::-1]"), ("failed", "passed")),
    (SUMS, ADD.replace("sum", "min"), ("failed", "failed")),
    (row(inputs=[], outputs=[]), ADD, ("no_tests", "no_tests")),
]


def test_solutions_of_both_kinds_in_both_ways():
    with open_backend("box"):  # skips where no box works
        pass
    found = []
    for judge in ("strict", "reference"):
        with gradebox.Grader(sandbox="local", judge=judge) as grader:
            found.append([grader.grade([{"code": c}], r)[0]["status"] for r, c, _ in CODES])
    assert list(zip(*found, strict=True)) == [wanted for _, _, wanted in CODES]
