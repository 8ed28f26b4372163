"""The reward function of OpenRLHF, from 0.11 on: a file of yours with

    from gradebox.openrlhf import make_reward_func
    reward_func = make_reward_func(servers=["http://cpu-1:2000"])

for `--reward.remote_url reward.py`. A fault of the machine is retried, then raised: OpenRLHF then
has no reward for that sample. This module has a `reward_func` with every default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradebox.eval.api.rewards.trl import NotGraded, score_one
from gradebox.eval.api.rewards.values import answer_of
from gradebox.eval.common.errors import InputError

__all__ = ["InputError", "NotGraded", "make_reward_func", "reward_func"]


def make_reward_func(mode: str = "pass_fail", **settings: Any) -> Callable[..., dict[str, Any]]:
    """Return a `reward_func(queries, prompts, labels)`.

    settings  of `gradebox.rewards.CodeforcesReward`: servers, patience_s, language, time_limit_s
              of a completion (300: a program that uses it up has failed)

    A label is a problem: {"inputs", "outputs"}, a list of tests, a row of a data set, the JSON
    of any of these. `rewards` are those of the mode, `scores` the shares of the tests passed.
    It raises NotGraded for a fault of the machine, InputError for an unusable label.
    """

    def reward_func(
        queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any], **_: Any
    ) -> dict[str, Any]:
        scores = [
            score_one(answer_of(query, prompt), label, None, {"mode": mode, **settings})
            for query, prompt, label in zip(queries, prompts, labels, strict=True)
        ]
        return {
            "rewards": _one_or_all([score.reward for score in scores]),
            "scores": _one_or_all([score.pass_rate for score in scores]),
            "extra_logs": {
                "pass_rate": _one_or_all([score.pass_rate for score in scores]),
                "passed": _one_or_all([float(score.verdict == "AC") for score in scores]),
            },
        }

    return reward_func


def _one_or_all(values: list[float]) -> Any:
    """Return a single value as it is: OpenRLHF puts what it gets into a tensor of one item."""
    return values[0] if len(values) == 1 else values


reward_func = make_reward_func()
