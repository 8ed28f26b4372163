"""OpenRLHF's remote reward: POST /get_reward.

    {"query": [prompt + answer], "prompts": […], "labels": [problem]}
        ─▶ {"rewards": [1.0], "scores": [0.75], "extra_logs": {"pass_rate": [0.75], …}}

A label is a ground truth as for the reward functions (rewards/columns.py): a row, tests, or an id
in the server's data set. A sample that could not be graded is answered with 503; OpenRLHF then
asks again, and goes on without a reward at last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from gradebox.eval.api.dialects.common import BODY, Invalid, grade_one, read
from gradebox.eval.api.dialects.programs import ProgramRunner
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.api.rewards.columns import problem_of
from gradebox.eval.api.rewards.values import answer_of, reward_of
from gradebox.eval.problems.row.tests import TESTS_COLUMN
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.body import check_structure, structure_bytes
from gradebox.sandbox.server.settings import Route


class _Asked(msgspec.Struct):
    query: list[str]
    labels: list[Any]
    prompts: list[str] | None = None


def routes(calls: GradingCalls, _programs: ProgramRunner) -> Mapping[tuple[str, str], Route]:
    """Return the routes of this dialect."""

    def get_reward(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        asked = read(_Asked, body)
        prompts = [""] * len(asked.query) if asked.prompts is None else asked.prompts
        if not len(asked.query) == len(prompts) == len(asked.labels):
            raise Invalid((*BODY, "labels"), "query, prompts and labels must have the same length")
        rewards, scores = [], []
        for query, prompt, label in zip(asked.query, prompts, asked.labels, strict=True):
            reward, share = _score(calls, answer_of(query, prompt), label, cancelled)
            rewards.append(reward)
            scores.append(share)
        passed = [float(reward == 1.0) for reward in rewards]
        logs = {"pass_rate": scores, "passed": passed}
        return 200, {"rewards": rewards, "scores": scores, "extra_logs": logs}

    return {("POST", "/get_reward"): get_reward}


def _score(
    calls: GradingCalls, answer: str, label: Any, cancelled: Cancellation
) -> tuple[float, float]:
    """Return the reward and the share of the tests that passed."""
    solution: dict[str, Any] = {"completion": answer}
    found = _problem(label)
    problem = None if isinstance(found, str) else found
    if problem is None:
        solution["problem_id"] = found
    elif problem.get("language"):
        solution["language"] = problem["language"]
    graded = grade_one(calls, solution, problem, cancelled, max_stored_output=0)
    reward = reward_of(graded.record, "pass_fail")
    if reward is None:
        why = graded.record["error"] or graded.record["status"]
        raise BadRequest(f"the label's problem gives no reward: {why}")
    tests = graded.tests
    share = sum(test["passed"] is True for test in tests) / len(tests) if tests else 0.0
    return reward, share


def _problem(label: Any) -> Mapping[str, Any] | str:
    """Return a label's problem as a row, or its id in the server's data set."""
    if isinstance(label, str):
        check_structure(structure_bytes(label.encode("utf-8", "surrogatepass")))
    row = problem_of(label)
    if row.get(TESTS_COLUMN) is None and isinstance(row.get("id"), str):
        return str(row["id"])
    return row
