"""verl's forms: single completions with every form of ground truth, and batches."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest

from gradebox.eval.api.rewards import compute_score, compute_score_async, compute_scores
from gradebox.eval.common.errors import InputError
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
}


@pytest.mark.parametrize("form", TRUTHS)
def test_every_form_of_the_ground_truth(fake: Any, form: str):
    truth = TRUTHS[form]
    for word, score in (("echo", 1.1), ("half", 0.05), ("wrong", 0.0)):
        given = compute_score("codeforces", fenced(word), truth, None, grader=fake)
        assert given == pytest.approx(score)


def test_extra_info_has_further_columns(fake: Any):
    info = {"language": "cpp", "split": "train", "index": 3}
    assert compute_score("x", fenced("echo"), TESTS, info, grader=fake) == -1.0
    assert compute_score("x", fenced("echo", "cpp"), TESTS, info, grader=fake) == 1.1


def test_a_fault_is_none_or_the_callers_value(fake: Any):
    assert compute_score("x", fenced("fault"), TESTS, grader=fake) is None
    assert compute_score("x", fenced("fault"), TESTS, grader=fake, fault=-7.0) == -7.0
    assert compute_score("x", fenced("wrong"), TESTS, grader=fake, fault=-7.0) == 0.0


def test_async_and_batch_scores_are_the_same(fake: Any):
    words = ["echo", "half", "wrong", "fault"]
    answers = [fenced(word) for word in words]
    batch = compute_scores(["x"] * 4, answers, [TESTS] * 4, [None] * 4, grader=fake)

    async def one_by_one() -> list[float | None]:
        calls = [compute_score_async("x", a, TESTS, grader=fake) for a in answers]
        return list(await asyncio.gather(*calls))

    assert batch == [1.1, 0.05, 0.0, None]
    assert asyncio.run(one_by_one()) == batch


@pytest.mark.parametrize(
    ("truth", "words"),
    [("{not json", "is not JSON"), (7, "ground_truth is 7; give a problem, its tests or its id")],
)
def test_an_invalid_ground_truth_is_refused(fake: Any, truth: Any, words: str):
    with pytest.raises(InputError, match=words):
        compute_score("x", fenced("echo"), truth, grader=fake)
