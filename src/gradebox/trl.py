"""The reward of TRL's trainers, from 1.16 on.

    from gradebox.trl import reward
    GRPOTrainer(reward_funcs=[reward(columns={"tests": "ground_truth"}, time_limit_s=120)], …)

TRL awaits it beside other async rewards. A fault of the machine is None, which TRL leaves out of
the group. Logged: the column `verdict`, the metrics `pass_rate` and `faults`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradebox.eval.api.rewards import Mode

__all__ = ["reward"]


def reward(mode: Mode = "weighted_sum", **settings: Any) -> Callable[..., Any]:
    """Return a coroutine function for `reward_funcs`.

    settings  of `gradebox.rewards.CodeforcesReward`: columns (names of the data set's tests,
              language and limits), language, servers or grader, time_limit_s of a batch, name
    """
    from gradebox.eval.api.rewards import make_codeforces_async

    return make_codeforces_async(mode, **{"name": "gradebox", **settings})
