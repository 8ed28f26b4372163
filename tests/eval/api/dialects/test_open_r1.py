"""open-r1's POST /execute_batch: scripts as cells of a notebook, their values as texts."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from gradebox.sandbox.errors import SandboxError
from gradebox.sandbox.model import Execution
from gradebox.sandbox.opening import open_sandbox
from testing.fakes.scripted_sandbox import Call, FakeSandbox, ready
from tests.eval.api.dialects.conftest import Served
from tests.eval.api.serving import serving


def batch(served: Served, *scripts: str, **fields: Any) -> tuple[int, Any]:
    body = {"scripts": scripts, "languages": ["python"] * len(scripts), "timeout": 20, **fields}
    return served.post("/execute_batch", body)


@pytest.fixture(scope="module")
def real() -> Iterator[Served]:
    with open_sandbox("local") as box, serving(box) as url:
        yield Served(url)


CELLS = {  # script → text, stdout, error
    "    x = 2\n    x / 4": ("0.5", "", None),
    "\nprint('a')\nNone": ("a\n", "a\n", None),
    "import os\nos.chdir('/')\n{'a': 1}": ("{'a': 1}", "", None),
    "print(1)\n1 / 0": ("1\n", "1\n", "ZeroDivisionError: division by zero"),
    "import sys; sys.exit(2)": ("", "", "SystemExit: 2"),
    "import os\nos._exit(0)": ("", "", "Ended: ended with exit code 0, signal None"),
    "x = (": ("", "", "SyntaxError: '(' was never closed (<unknown>, line 1)"),
}


@pytest.mark.slow
def test_a_script_runs_as_a_cell(real):
    status, answers = batch(real, *CELLS)
    assert status == 200
    for answer, (text, stdout, why) in zip(answers, CELLS.values(), strict=True):
        execution = answer["execution"]
        assert (answer["text"], answer["exception_str"]) == (text, why)
        assert execution["logs"]["stdout"] == [stdout] * bool(stdout)
        assert [one["text"] for one in execution["results"]] == [text] * (text not in ("", stdout))


def cell(text: str) -> Any:
    def ran(call: Call) -> Execution:
        return ready("out", files=dict.fromkeys(call.collect, text.encode()))

    return ran


ENDS: dict[str, tuple[Any, str]] = {
    "over its time": (lambda call: ready(killed_for="cpu"), "it exceeded its time limit"),
    "over its memory": (lambda call: ready(killed_for="memory"), "it exceeded its memory limit"),
    "an answer that is none": (cell("[1]"), "what it wrote is not the answer of a cell"),
    "an answer of another type": (cell('{"text": 1}'), "what it wrote is not the answer of a cell"),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_script_without_an_answer_counts_as_nothing(start, end):
    script, why = ENDS[end]
    _, (answer,) = batch(start(script), "1")
    assert answer == {"execution": None, "text": "", "exception_str": why}


def test_a_crash_forfeits_the_answer(start):
    text = json.dumps({"text": "1.0", "error": None})

    def ran(call: Call) -> Execution:
        return ready(files=dict.fromkeys(call.collect, text.encode()), exit_code=None, signal=9)

    _, (answer,) = batch(start(ran), "1")
    assert (answer["text"], answer["execution"]["results"]) == ("", [])


def test_other_languages_run_as_programs(start):
    served = start(lambda call: ready(call.source.upper()))
    _, answers = batch(served, "a", "b", "c", languages=["cpp", "java", "cobol"])
    assert [answer["text"] for answer in answers] == ["A", "", ""]
    assert answers[1]["exception_str"].startswith("java is not installed on the server: apt-get")
    assert answers[2]["exception_str"].startswith("unknown language 'cobol'")


def test_scripts_share_the_output_of_a_program(start):
    box = FakeSandbox()
    batch(start(box), *map(str, range(64)))
    assert {call.limits.output_bytes for call in box.calls} == {1 << 20}


def test_a_fault_of_the_machine_is_no_answer(start):
    status, answer = batch(start(lambda call: SandboxError("no cgroup")), "1", "2")
    assert (status, answer) == (503, {"detail": "no cgroup"})


@pytest.mark.parametrize(
    ("fields", "where", "message"),
    [
        ({"languages": []}, "languages", "has 0 elements for 1 scripts"),
        ({"timeout": -1}, "timeout", "must be over 0"),
        (
            {"scripts": [""] * 2000, "languages": [""] * 2000},
            "scripts",
            "has 2000 elements; at most",
        ),
        ({"scripts": [1]}, "scripts", "Expected `str`, got `int`"),
    ],
)
def test_a_wrong_batch_is_refused_in_words(start, fields, where, message):
    status, answer = batch(start(FakeSandbox()), "1", **fields)
    assert (status, answer["detail"][0]["loc"][1]) == (422, where)
    assert answer["detail"][0]["msg"].startswith(message)
