"""Reward functions of verl's form: one completion a call, and its batch form."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from eval.input_error import InputError, shown
from eval.problems.row import TESTS_COLUMN
from eval.rewards.columns import PROBLEM_COLUMNS, plain
from eval.rewards.trl import CodeforcesReward, Grades
from eval.rewards.values import DEFAULT_MODE, Mode, Reward


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    mode: Mode = DEFAULT_MODE,
    grader: Grades | None = None,
    fault: Reward = None,
) -> Reward:
    """verl's form, one completion a call.

    ground_truth  the problem: a row of columns or its JSON; a list of tests or its JSON;
                  {"inputs": […], "outputs": […]}; or an id in the grader's dataset
    extra_info    further columns (`time_limit`, `language`, …)
    fault         given instead of None: verl writes the score into a tensor
    """
    scores = compute_scores(
        [data_source], [solution_str], [ground_truth], [extra_info], mode=mode, grader=grader
    )
    return fault if scores[0] is None else scores[0]


async def compute_score_async(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    mode: Mode = DEFAULT_MODE,
    grader: Grades | None = None,
    fault: Reward = None,
) -> Reward:
    """`compute_score` for an event loop."""
    reward = CodeforcesReward(mode, grader=grader)
    columns = _columns([ground_truth], [extra_info])
    (score,) = await reward.async_call([solution_str], **columns)
    return fault if score is None else score


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    *,
    mode: Mode = DEFAULT_MODE,
    grader: Grades | None = None,
    **_: Any,
) -> list[Reward]:
    """verl's batch form (`reward_model.reward_manager=batch`): all cores work on one batch."""
    columns = _columns(ground_truths, extra_infos)
    return CodeforcesReward(mode, grader=grader)(solution_strs, **columns)


def _columns(
    truths: Sequence[Any], infos: Sequence[Mapping[str, Any] | None]
) -> dict[str, list[Any]]:
    """Rows of problems turned into columns, None where a row has none."""
    rows = [{**(info or {}), **_problem(t)} for t, info in zip(truths, infos, strict=True)]
    names = ("language", "problem_id", *PROBLEM_COLUMNS)
    return {name: [row.get(name) for row in rows] for name in names if any(name in r for r in rows)}


def _problem(truth: Any) -> dict[str, Any]:
    """The columns of a ground truth in any of its forms."""
    truth = plain(truth)
    if isinstance(truth, str):
        text = truth.strip()
        if not text.startswith(("{", "[")):
            return {"id": text}
        try:
            truth = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"ground_truth {shown(text)} is not JSON: {error}") from None
    if isinstance(truth, list):
        return {TESTS_COLUMN: truth}
    if not isinstance(truth, Mapping):
        raise InputError(
            f"ground_truth is {shown(truth)}: a problem, its tests or its id is needed"
        )
    if "inputs" in truth and "outputs" in truth:
        tests = {"input": plain(truth["inputs"]), "output": plain(truth["outputs"])}
        return {**truth, TESTS_COLUMN: tests}
    return dict(truth)
