"""Reward functions in verl's forms: one completion a call, and a batch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from gradebox.eval.api.rewards.columns import PROBLEM_COLUMNS, plain
from gradebox.eval.api.rewards.trl import CodeforcesReward, Grades
from gradebox.eval.api.rewards.values import DEFAULT_MODE, Mode, Reward
from gradebox.eval.common.errors import InputError, shown
from gradebox.eval.problems.row import TESTS_COLUMN


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
    """Return the score of one completion.

    ground_truth  the problem: a row of columns or its JSON; a list of tests or its JSON;
                  {"inputs": […], "outputs": […]}; or an id in the grader's dataset
    extra_info    further columns (`time_limit`, `language`, …)
    fault         returned instead of None, because verl writes scores into a tensor
    """
    reward = CodeforcesReward(mode, grader=grader)
    (score,) = reward([solution_str], **_columns([ground_truth], [extra_info]))
    return fault if score is None else score


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
    """Do the same as `compute_score` without blocking the event loop."""
    reward = CodeforcesReward(mode, grader=grader)
    (score,) = await reward.async_call([solution_str], **_columns([ground_truth], [extra_info]))
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
    """Return the scores of a batch (`reward_model.reward_manager=batch`), using all cores."""
    reward = CodeforcesReward(mode, grader=grader)
    return reward(solution_strs, **_columns(ground_truths, extra_infos))


def _columns(
    truths: Sequence[Any], infos: Sequence[Mapping[str, Any] | None]
) -> dict[str, list[Any]]:
    """Return problems as columns, with None where a problem lacks one."""
    rows = [{**(info or {}), **_problem(t)} for t, info in zip(truths, infos, strict=True)]
    names = ("language", "problem_id", *PROBLEM_COLUMNS)
    return {name: [row.get(name) for row in rows] for name in names if any(name in r for r in rows)}


def _problem(truth: Any) -> dict[str, Any]:
    """Return the columns of a ground truth. Raises InputError."""
    truth = plain(truth)
    if isinstance(truth, str):
        text = truth.strip()
        if not text.startswith(("{", "[")):
            return {"id": text}
        try:
            truth = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(
                f"ground_truth {shown(text)} is not JSON ({error}); give a problem, its tests or "
                "its id"
            ) from None
    if isinstance(truth, list):
        return {TESTS_COLUMN: truth}
    if not isinstance(truth, Mapping):
        raise InputError(f"ground_truth is {shown(truth)}; give a problem, its tests or its id")
    if "inputs" in truth and "outputs" in truth:
        tests = {"input": plain(truth["inputs"]), "output": plain(truth["outputs"])}
        return {**truth, TESTS_COLUMN: tests}
    return dict(truth)
