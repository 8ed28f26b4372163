"""The reward functions of verl, from 0.9 on.

    reward.custom_reward_function.path=pkg://gradebox.verl
    reward.custom_reward_function.name=compute_score_async
    +reward.custom_reward_function.reward_kwargs.mode=pass_fail

The manager `remote` takes compute_score only. Both return {"score", "pass_rate", "verdict",
"error"}, all of which verl logs. A fault of the machine is retried; then NotGraded is raised,
or the score is `fault`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.rewards.trl import NotGraded, Score, score_one
from gradebox.eval.common.errors import InputError
from gradebox.sandbox.common.cancellation import asynchronous

__all__ = ["InputError", "NotGraded", "compute_score", "compute_score_async"]
log = logging.getLogger(__name__)


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    *,
    fault: float | None = None,
    reward_router_address: Any = None,
    reward_model_tokenizer: Any = None,
    **settings: Any,
) -> dict[str, Any]:
    """Return the score of a completion.

    ground_truth  {"inputs", "outputs"} with or without "fn_name", {"assert_case"}, a list of
                  tests, a row of a data set, the JSON of any of these, or a problem's id
    extra_info    may have `time_limit` (s), `memory_limit` (MB), `language`
    fault         score when the machine failed or the ground truth is unusable; None: raise
    settings      of `gradebox.rewards.CodeforcesReward`: mode, servers, patience_s, language,
                  time_limit_s of a completion (300: a program that uses it up has failed)

    Raises NotGraded or InputError when `fault` is None.
    """
    try:
        return _values(score_one(solution_str, ground_truth, extra_info, settings))
    except (NotGraded, InputError) as error:
        return _fault(error, fault)


compute_score_async = asynchronous(compute_score)


def _values(score: Score) -> dict[str, Any]:
    return {
        "score": score.reward,
        "pass_rate": score.pass_rate,
        "verdict": score.verdict,
        "error": score.error,
    }


def _fault(error: Exception, fault: float | None) -> dict[str, Any]:
    if fault is None:
        raise error
    log.warning("score %g: %s", fault, error)
    return {"score": float(fault), "pass_rate": 0.0, "verdict": "ER", "error": str(error)}
