"""Calls in one process, as other graders make them: what one leaves behind, and how each ends."""

import json
from dataclasses import replace
from typing import Any

import pytest

import gradebox
from gradebox.eval.grading.cases.batch_run import parts_of
from gradebox.sandbox.model import Execution

LINES = b'5000000\tvalue\t{"a":1}\n20000000\traised\tValueError: no\n1000000\tvalue\t{"a":2}\n'
ENDED = Execution(exit_code=0, signal=None, cpu_s=0.03, wall_s=0.06, memory_bytes=9, stdout=LINES)


def test_each_answer_is_an_execution_and_their_times_add_up():
    parts = parts_of(ENDED, 3)
    assert [x.stdout for x in parts] == [b'{"a":1}', b"", b'{"a":2}']
    assert [x.exit_code for x in parts] == [0, 1, 0]
    assert parts[1].stderr == b"ValueError: no"
    assert sum(x.cpu_s for x in parts) == pytest.approx(ENDED.cpu_s)
    assert parts[2].cpu_s == pytest.approx(0.001)


@pytest.mark.parametrize(
    ("stdout", "answered"),
    [
        (LINES[:-1], 2),  # the last line is cut
        (LINES + b"x", 3),
        (LINES + LINES, 3),
        (b"-5\tvalue\t1\n" + LINES, 1),
        (LINES.replace(b"raised", b"decided"), 1),
        (LINES.replace(b"20000000", b"9" * 16), 1),
        ("\u0661\tvalue\t1\n".encode() + LINES, 1),
        (b"\n\n\n", 1),
        (b"", 1),
    ],
)
def test_what_is_no_answer_ends_the_answers(stdout, answered):
    assert len(parts_of(replace(ENDED, stdout=stdout), 3)) == answered


def test_without_an_answer_the_run_is_that_of_the_first_test():
    killed = replace(ENDED, stdout=b"", exit_code=None, signal=9, killed_for="cpu")
    assert parts_of(killed, 3) == [killed]
    (silent,) = parts_of(replace(ENDED, stdout=b'{"value":1}'), 3)
    assert silent.stdout == b""


def test_the_test_at_which_a_process_ended_is_not_among_its_answers():
    killed = replace(ENDED, exit_code=None, signal=9, killed_for="memory")
    assert len(parts_of(killed, 4)) == 3
    assert len(parts_of(killed, 3)) == 2
    assert {x.killed_for for x in parts_of(killed, 4)} == {None}


def test_a_program_cannot_claim_more_time_than_it_had():
    lying = LINES.replace(b"20000000", b"9" * 15)
    assert sum(x.cpu_s for x in parts_of(replace(ENDED, stdout=lying), 3)) <= ENDED.cpu_s + 1e-9


def row(count: int) -> dict[str, Any]:
    tests = [{"input": str(i), "output": json.dumps([i]), "testtype": "functional"}
             for i in range(count)]  # fmt: skip
    return {
        "question_id": "2000",
        "public_test_cases": json.dumps(tests[:2]),
        "private_test_cases": json.dumps(tests[2:]),
        "metadata": json.dumps({"func_name": "f"}),
        "contest_date": "2024-01-01T00:00:00",
    }


PROGRAMS = {
    "right": ("class Solution:\n    def f(self, x):\n        return [x]\n", "AAAAA", "AAAAA"),
    "one list for all": (
        "class Solution:\n    seen = []\n    def f(self, x):\n        self.seen.append(x)\n"
        "        return self.seen[:]\n",
        "AAAAA",
        "AWWWW",
    ),
    "leaves something": (
        "seen = []\nclass Solution:\n    def f(self, x):\n        seen.append(x)\n"
        "        return [x] if len(seen) < 3 else []\n",
        "AAAAA",
        "AAWWW",
    ),
    "raises": (
        "class Solution:\n    def f(self, x):\n        return [6 // (x - 2) * 0 + x]\n",
        "AARAA",
        "AARAA",
    ),
    "ends the process": (
        "import os\nclass Solution:\n    def f(self, x):\n"
        "        if x == 3: os._exit(0)\n        return [x]\n",
        "AAAWA",
        "AAAWA",
    ),
    "answers for the tests after it": (
        "import os\nclass Solution:\n    def f(self, x):\n"
        '        os.write(63, b\'1\\tvalue\\t{"cells":[[0]],"nodes":[["l",0]]}\\n\' * 9)\n'
        "        os._exit(0)\n",
        "WWWWW",
        "AWWWW",
    ),
}


@pytest.mark.slow
def test_strict_and_reference_differ_in_what_calls_leave_behind():
    lines = [{"question_id": "2000", "code": code} for code, _, _ in PROGRAMS.values()]
    for judge, column in (("strict", 1), ("reference", 2)):
        with gradebox.Grader(sandbox="local", judge=judge, workers=2) as grader:
            found = grader.grade(lines, row(5))
        for (name, program), record in zip(PROGRAMS.items(), found, strict=True):
            verdicts = "".join(case["verdict"][0] for case in record["details"])
            assert verdicts == program[column], (judge, name, record["details"])
