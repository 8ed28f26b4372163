"""The score of one completion, for trainers that ask for one at a time.

completion, ground truth ─ grade ─▶ Score(reward, pass_rate, verdict, error)
    └─ a fault of the machine: NotGraded     an unusable ground truth: InputError
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gradebox.eval.api.batch import ran_out_of_time
from gradebox.eval.api.rewards.problems import columns_of
from gradebox.eval.api.rewards.trl import CodeforcesReward, verdict_of
from gradebox.eval.api.rewards.values import FAILED, Mode, reward_of, share_of
from gradebox.eval.common.errors import InputError

TIME_LIMIT_S = 300.0


class NotGraded(RuntimeError):
    """The machine failed, not the program. It was retried: leave the sample out."""


@dataclass(frozen=True)
class Score:
    """What became of one completion.

    reward     by the table of values.py
    pass_rate  share of the tests passed; those behind a first failure may not have been run
    verdict    AC, WA, TLE, …; "no_code" without a program
    error      why, for people; "" when there is nothing to say
    """

    reward: float
    pass_rate: float
    verdict: str
    error: str = ""


def score_one(
    completion: Any, truth: Any, info: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Score:
    """Return the score of a completion.

    truth     a problem in any form of problems.py
    info      further columns (`time_limit`, `language`, …)
    settings  of CodeforcesReward. A program that uses up `time_limit_s`, which is 300 without
              it, has failed

    Raises NotGraded for a fault of the machine, InputError for an unusable ground truth.
    """
    reward = _reward(settings)
    (record,) = reward.records([completion], columns_of([truth], [info]))
    return score_of(record, reward.mode)


async def score_one_async(
    completion: Any, truth: Any, info: Mapping[str, Any] | None, settings: Mapping[str, Any]
) -> Score:
    """Do the same as `score_one` without blocking the event loop."""
    reward = _reward(settings)
    (record,) = await reward.records_async([completion], columns_of([truth], [info]))
    return score_of(record, reward.mode)


def score_of(record: Mapping[str, Any], mode: Mode) -> Score:
    """Return the score of the record of a completion that was graded by itself."""
    error = str(record["error"] or "")
    if ran_out_of_time(record):
        return Score(FAILED, 0.0, "TLE", error)
    reward = reward_of(record, mode)
    if reward is not None:
        share = share_of(record["details"])
        return Score(reward, share or 0.0, verdict_of(record), error)
    why = error or f"the problem has the status {record['status']}"
    if record["status"] in ("no_tests", "invalid", "unsupported"):
        raise InputError(f"the ground truth gives no reward: {why}")
    raise NotGraded(f"not graded, which is not the program's fault: {why}")


def _reward(settings: Mapping[str, Any]) -> CodeforcesReward:
    return CodeforcesReward(**{"time_limit_s": TIME_LIMIT_S, **settings})
