"""OpenRLHF's remote reward: POST /get_reward.

    {"query": [prompt + answer], "prompts": […], "labels": [problem]}
        ─▶ {"rewards": [1.0], "scores": [0.75], "extra_logs": {"pass_rate": [0.75], …}}

A label is what `gradebox.rewards.compute_score` takes as ground truth: a problem as a row or its
JSON, tests, {"inputs", "outputs"}, or an id in the server's data set. A sample that could not be
graded is answered with 503; OpenRLHF then asks again, and goes on without a reward at last.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gradebox.eval.api.dialects.bodies import Body
from gradebox.eval.api.dialects.grades import grade_one
from gradebox.eval.api.dialects.programs import Programs
from gradebox.eval.api.grading_calls import GradingCalls
from gradebox.eval.api.rewards.columns import batches_of
from gradebox.eval.api.rewards.values import reward_of
from gradebox.eval.api.rewards.verl import columns_of
from gradebox.sandbox.common.cancellation import Cancellation
from gradebox.sandbox.errors import BadRequest
from gradebox.sandbox.server.plugins import Route


def routes(calls: GradingCalls, _programs: Programs) -> Mapping[tuple[str, str], Route]:
    """Return the routes of this dialect."""

    def get_reward(body: Any, cancelled: Cancellation) -> tuple[int, Any]:
        request = Body(body)
        queries = request.texts("query")
        prompts = request.texts("prompts", [""] * len(queries))
        labels = request.list_of("labels")
        if not len(queries) == len(prompts) == len(labels):
            raise request.invalid(
                "labels", "value_error", "query, prompts and labels must have the same length"
            )
        rewards, scores = [], []
        for query, prompt, label in zip(queries, prompts, labels, strict=True):
            reward, share = _score(calls, answer_of(query, prompt), label, cancelled)
            rewards.append(reward)
            scores.append(share)
        passed = [float(reward == 1.0) for reward in rewards]
        logs = {"pass_rate": scores, "passed": passed}
        return 200, {"rewards": rewards, "scores": scores, "extra_logs": logs}

    return {("POST", "/get_reward"): get_reward}


def answer_of(query: str, prompt: str) -> str:
    """Return what follows the prompt; all of a query in which the prompt does not occur."""
    at = query.find(prompt)
    return query if at < 0 else query[at + len(prompt) :]


def _score(
    calls: GradingCalls, answer: str, label: Any, cancelled: Cancellation
) -> tuple[float, float]:
    """Return the reward and the share of the tests that passed."""
    columns = columns_of([label], [None])
    language = columns.pop("language", None)
    (batch,) = batches_of([answer], language, columns, by_id=calls.has_dataset)
    problem = next(iter(batch.problems.values()), None)
    graded = grade_one(calls, batch.solutions[0], problem, cancelled, max_stored_output=0)
    reward = reward_of(graded.record, "pass_fail")
    if reward is None:
        why = graded.record["error"] or graded.record["status"]
        raise BadRequest(f"the label's problem gives no reward: {why}")
    tests = graded.tests
    share = sum(test["passed"] is True for test in tests) / len(tests) if tests else 0.0
    return reward, share
