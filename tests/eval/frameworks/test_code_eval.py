"""`gradebox.code_eval.compute`: results in the form of Hugging Face's code_eval."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from gradebox.code_eval import compute
from gradebox.eval.api.grader import Grader
from gradebox.eval.common.errors import InputError, Retry
from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Interaction
from testing.fakes.scripted_sandbox import FakeSandbox
from tests.sandbox.backends import open_backend

ADD = "assert add(2, 3) == 5"
# An instance of a class of the tests cannot cross to another box.
OWN_CLASS = "class Box:\n    value = 7\nassert opened(Box()) == 7"
OPENED = "def opened(box):\n    return box.value"


@pytest.fixture(scope="module")
def grader() -> Iterator[Grader]:
    with open_backend("box") as box, Grader(sandbox=box, drivers=1) as found:
        yield found


@pytest.mark.parametrize(
    ("code", "tests", "result"),
    [
        ("def add(a, b): return a + b", ADD, "passed"),
        ("def add(a, b): return a * b", ADD, f"failed: line 1: {ADD}"),
        ("def add(a, b): return {}[a]", ADD, f"failed: line 1: {ADD}: KeyError: 2"),
        ("", ADD, "failed: line 1: assert add(2, 3) == 5: NameError: name 'add' is not defined"),
        ("", "assert True", "passed"),
        ("1 / 0", "assert True", "failed: exit code 1: ZeroDivisionError: division by zero"),
        ("x = 1", "not ( Python", "failed: exit code 1: SyntaxError: '(' was never closed"),
        (OPENED, OWN_CLASS, "passed"),
        ("def opened(box):\n    return 1", OWN_CLASS, "failed: exit code 1: AssertionError"),
        # a block for running the file is not run, as in the original
        (f"{OPENED}\nif __name__ == '__main__':\n    exit(1)", OWN_CLASS, "passed"),
    ],
)
def test_a_candidate_has_the_result(grader, code, tests, result):
    pass_at, results = compute([[code]], [tests], grader=grader)
    fields = {"task_id": 0, "completion_id": 0, "passed": result == "passed", "result": result}
    assert results == {0: [(0, fields)]}
    assert pass_at == {"pass@1": float(result == "passed")}


def test_a_candidate_that_does_not_compile_says_why(grader):
    _, results = compute([["def add(a, b): return ("]], [ADD], grader=grader)
    assert "'(' was never closed" in results[0][0][1]["result"]


@pytest.mark.slow
@pytest.mark.parametrize("tests", [ADD, OWN_CLASS])
def test_a_limit_of_cpu_time_is_timed_out(grader, tests):
    endless = "def add(a, b):\n    while True: pass\nopened = lambda box: add(1, 2)"
    _, results = compute([[endless]], [tests], timeout=0.3, grader=grader)
    assert results[0][0][1]["result"] == "timed out"


CHEATS = [
    "exit(0)",
    "import os; os._exit(0)",
    "def add(*x): import os; os._exit(0)\nopened = add",
    "print('passed')\nimport sys; sys.stdout.flush()\nadd = opened = print",
    "import builtins\nbuiltins.AssertionError = None\nadd = opened = lambda *x: 0",
]
# Only where the tests run in a box of their own.
APART_CHEATS = [
    "class Any(int):\n    __eq__ = lambda a, b: True\nadd = lambda *x: Any(0)",
    "import sys\nsys.modules['builtins'].__dict__['print'] = 1\nadd = lambda *x: NotImplemented",
]


@pytest.mark.slow
def test_cheats_fail(grader):
    predictions = [[*CHEATS, *APART_CHEATS], CHEATS]
    _, results = compute(predictions, [ADD, OWN_CLASS], grader=grader)
    passed = [one for found in results.values() for _, one in found if one["passed"]]
    assert (passed, len(results[0]), len(results[1])) == ([], 7, 5)


def test_pass_at_k_is_estimated_where_every_task_has_k_candidates(grader):
    right, wrong = "def add(a, b): return a + b", "def add(a, b): return 0"
    predictions = [[right, wrong, wrong], [wrong, right], [wrong] * 4]
    pass_at, results = compute(predictions, [ADD, ADD, "assert add(1, 1) == 2"], grader=grader)
    assert pass_at == {"pass@1": pytest.approx((1 / 3 + 1 / 2) / 3)}
    assert compute(predictions, [ADD] * 3, [2, 3], grader=grader)[0] == {
        "pass@2": pytest.approx((2 / 3 + 1) / 3)
    }
    passed = {task: [one["passed"] for _, one in found] for task, found in results.items()}
    assert passed == {0: [True, False, False], 1: [False, True], 2: [False] * 4}


class Faulty(FakeSandbox):
    """A sandbox in which nothing runs."""

    def interact(self, *args: Any, **kwargs: Any) -> Interaction:
        raise SandboxError("the machine")


def test_a_fault_of_the_machine_raises(monkeypatch):
    monkeypatch.setattr("gradebox.eval.api.batch.Retry", partial(Retry, first_s=0.001))
    fault = SandboxError("the machine")
    faulty = Faulty(lambda call: fault, capabilities=frozenset({"interact"}))
    with (
        Grader(sandbox=faulty, drivers=1) as grader,
        pytest.raises(SandboxError, match="not the program's fault"),
    ):
        compute([["x = 1"]], [ADD], grader=grader)


@pytest.mark.parametrize(
    ("predictions", "references", "options", "message"),
    [
        ([["x"]], [], {}, "1 predictions for 0 references"),
        (["x"], [ADD], {}, "a list of candidates"),
        ([["x"]], [ADD], {"timeout": 0}, "timeout 0"),
    ],
)
def test_unusable_arguments_are_refused(predictions, references, options, message):
    with pytest.raises(InputError, match=message):
        compute(predictions, references, **options)
