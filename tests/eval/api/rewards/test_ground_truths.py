"""Ground truths in every form, scored by verl's functions."""

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from gradebox.eval.api.grader import Grader
from gradebox.eval.api.rewards import NotGraded
from gradebox.eval.common.errors import InputError
from gradebox.verl import compute_score, compute_score_async
from testing.fakes.scripted_sandbox import FakeSandbox, ready
from testing.rows import rows
from tests.eval.api.rewards.conftest import TESTS, fenced

TRUTHS: dict[str, Any] = {
    "row": {"official_tests": TESTS, "time_limit": 1.0},
    "JSON of a row": json.dumps({"official_tests": TESTS}),
    "tests": TESTS,
    "JSON of tests": json.dumps(TESTS),
    "inputs and outputs": {
        "inputs": [t["input"] for t in TESTS],
        "outputs": [t["output"] for t in TESTS],
    },
    "array, as pandas reads parquet": np.array(TESTS, dtype=object),
    "another data set's row": {
        "name": "x",
        "description": "Echo.",
        "public_tests": {
            "input": [t["input"] for t in TESTS],
            "output": [t["output"] for t in TESTS],
        },
        "private_tests": {"input": [], "output": []},
        "generated_tests": {"input": [], "output": []},
        "solutions": {"language": [], "solution": []},
    },
}
ADD = "```python\ndef add(a, b):\n    return a + b\n```"
EXIT = "```python\nimport os\nos._exit(0)\n```"
CALLS = {
    "lines of JSON": {"inputs": ["1\n2", "[1]\n[2]"], "outputs": ["3", "[1, 2]"], "fn_name": "add"},
    "values": {"inputs": [[1, 2], [[1], [2]]], "outputs": [3, [1, 2]], "fn_name": "add"},
    "asserts": {"assert_case": ["assert add(1, 2) == 3", "assert add('a', 'b') == 'ab'"]},
}


@pytest.mark.parametrize("form", TRUTHS)
def test_every_form_of_the_ground_truth(fake, form):
    for word, score, rate in (("echo", 1.1, 1.0), ("half", 0.05, 0.5), ("wrong", 0.0, 0.0)):
        given = compute_score("codeforces", fenced(word), TRUTHS[form], None, grader=fake)
        assert given["score"] == pytest.approx(score)
        assert given["pass_rate"] == rate


@pytest.mark.slow
@pytest.mark.parametrize("form", CALLS)
def test_calls_and_statements(real, form):
    right = compute_score("taco", ADD, CALLS[form], grader=real)
    assert right == {"score": 1.1, "pass_rate": 1.0, "verdict": "AC", "error": ""}
    assert compute_score("taco", EXIT, CALLS[form], grader=real)["pass_rate"] == 0.0


def test_extra_info_has_further_columns(fake):
    info = {"language": "cpp", "split": "train", "index": 3}
    python = compute_score("x", fenced("echo"), TESTS, info, grader=fake)
    assert (python["score"], python["verdict"]) == (-1.0, "no_code")
    assert compute_score("x", fenced("echo", "cpp"), TESTS, info, grader=fake)["score"] == 1.1


@pytest.mark.parametrize("mode", ["pass_fail", "partial", "weighted_sum"])
@pytest.mark.parametrize("word", ["fault", "fault_late"])
def test_a_fault_raises_or_is_the_callers_value(fake, mode, word):
    with pytest.raises(NotGraded, match="not the program's fault"):
        compute_score("x", fenced(word), TESTS, grader=fake, mode=mode)
    given = compute_score("x", fenced(word), TESTS, grader=fake, mode=mode, fault=-7)
    assert (given["score"], given["verdict"]) == (-7.0, "ER")
    wrong = compute_score("x", fenced("wrong"), TESTS, grader=fake, mode=mode, fault=-7)
    assert wrong["score"] == 0.0


def test_async_scores_are_the_same(fake):
    words = ["echo", "half", "wrong", "fault"]

    async def gathered() -> list[dict[str, Any]]:
        calls = [
            compute_score_async("x", fenced(word), TESTS, grader=fake, fault=-7) for word in words
        ]
        return list(await asyncio.gather(*calls))

    assert asyncio.run(gathered()) == [
        compute_score("x", fenced(word), TESTS, grader=fake, fault=-7) for word in words
    ]


@pytest.mark.parametrize(
    ("truth", "words"),
    rows(__file__, "invalid_ground_truth"),
)
def test_an_invalid_ground_truth_is_refused(fake, truth, words):
    with pytest.raises(InputError, match=words):
        compute_score("x", fenced("echo"), truth, grader=fake)
    assert compute_score("x", fenced("echo"), truth, grader=fake, fault=-7)["score"] == -7.0


@pytest.mark.parametrize("answer", ["", "\ud800", "```python\n\0\n```", "```\n" * 4000, "<think>"])
def test_no_answer_raises(fake, answer):
    given = compute_score("x", answer, TESTS, grader=fake)
    assert given["score"] <= 0


@pytest.mark.parametrize("mode", ["partial", "weighted_sum"])
def test_a_program_that_uses_up_the_time_of_its_completion_has_failed(mode):
    box = FakeSandbox(lambda call: ready(b"no", wall_s=9.0))
    with Grader(sandbox=box, workers=1) as grader:
        tests = TESTS * 5
        given = compute_score(
            "x", fenced("sleep"), tests, grader=grader, mode=mode, time_limit_s=20
        )
    assert (given["score"], given["verdict"]) == (0.0, "TLE")
    assert "20 s a core was used up" in given["error"]
    assert len(box.calls) < 5
