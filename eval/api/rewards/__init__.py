"""Rewards for training, made from the records that a run would write.

    completions + dataset columns ─▶ solutions, problems ─ grade ─▶ records ─ reward_of ─▶ floats

values.py has the table of rewards; docs/rewards.md shows how trainers use it.
"""

from gradebox.eval.api.rewards.trl import (
    CodeforcesReward,
    Grades,
    NotGraded,
    Score,
    codeforces,
    codeforces_async,
    make_codeforces,
    make_codeforces_async,
)
from gradebox.eval.api.rewards.values import (
    COMPILE_ERROR,
    MODES,
    NO_CODE,
    SHARE_WEIGHT,
    Mode,
    Reward,
    reward_of,
)

__all__ = [
    "COMPILE_ERROR",
    "MODES",
    "NO_CODE",
    "SHARE_WEIGHT",
    "CodeforcesReward",
    "Grades",
    "Mode",
    "NotGraded",
    "Reward",
    "Score",
    "codeforces",
    "codeforces_async",
    "make_codeforces",
    "make_codeforces_async",
    "reward_of",
]
