"""A GRPO loop like TRL's, with a tiny policy: 80 steps against the real grader.

The policy is a table of logits over a few answers to each prompt. Each step samples a group of
completions, requests rewards as TRL does, and moves the logits by the advantages within the
group. The policy must learn, no reward may be lost to a fault, and nothing may leak.
"""

from __future__ import annotations

import gc
import math
import os
import random
import threading
from pathlib import Path
from typing import Any

import pytest

from gradebox.eval.api.rewards import make_codeforces
from gradebox.sandbox.common.cpus import children
from tests.sandbox.backends import open_backend

STEPS, GROUP, RATE = 80, 4, 0.5
PROMPTS = ["Print the sum.", "Print the product."]
TESTS = [
    [{"input": "4 4\n", "output": "8\n"}],
    [{"input": "4 4\n", "output": "16\n"}],
]
ANSWERS = [
    "```python\na, b = map(int, input().split())\nprint(a + b)\n```",
    "```python\na, b = map(int, input().split())\nprint(a * b)\n```",
    "```python\nprint(5)\n```",
    "```python\nimport os\nos._exit(0)\n```",
    "I would add the numbers.",
]
BEST = [0, 1]


class Policy:
    """Softmax over the answers, for each prompt."""

    def __init__(self, seed: int) -> None:
        self.logits = [[0.0] * len(ANSWERS) for _ in PROMPTS]
        self._random = random.Random(seed)

    def probabilities(self, prompt: int) -> list[float]:
        powers = [math.exp(x) for x in self.logits[prompt]]
        return [x / sum(powers) for x in powers]

    def sample(self, prompt: int) -> int:
        return self._random.choices(range(len(ANSWERS)), self.probabilities(prompt))[0]

    def learn(self, prompt: int, answers: list[int], rewards: list[float]) -> None:
        mean = sum(rewards) / len(rewards)
        spread = math.sqrt(sum((r - mean) ** 2 for r in rewards) / len(rewards))
        chances = self.probabilities(prompt)
        for answer, reward in zip(answers, rewards, strict=True):
            advantage = (reward - mean) / (spread + 1e-4)
            for i, chance in enumerate(chances):
                self.logits[prompt][i] += RATE / GROUP * advantage * ((i == answer) - chance)


def counts() -> tuple[int, int, int]:
    """Return the descriptors, threads and children of this process."""
    gc.collect()
    fds = len(list(Path("/proc/self/fd").iterdir()))
    return fds, threading.active_count(), len(children(os.getpid()))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_policy_learns_in_80_steps_without_fault_or_leak():
    policy = Policy(seed=7)
    with open_backend("box") as box:
        from gradebox.eval.api.grader import Grader

        with Grader(sandbox=box, stop_on_first_failure=True, max_stored_output=0) as grader:
            reward = make_codeforces("pass_fail", grader=grader)
            seen: dict[tuple[int, int], set[float]] = {}
            after_warmup = (0, 0, 0)
            for step in range(STEPS):
                prompt = step % len(PROMPTS)
                answers = [policy.sample(prompt) for _ in range(GROUP)]
                rewards = ask(reward, prompt, answers, step)
                assert None not in rewards, f"step {step}: a fault"
                for answer, value in zip(answers, rewards, strict=True):
                    seen.setdefault((prompt, answer), set()).add(value)
                policy.learn(prompt, answers, rewards)
                if step == 20:
                    after_warmup = counts()
            at_the_end = counts()
    assert {key: len(values) for key, values in seen.items() if len(values) != 1} == {}
    assert all(max(policy.probabilities(p)) == policy.probabilities(p)[BEST[p]] for p in (0, 1))
    assert all(policy.probabilities(p)[BEST[p]] > 0.8 for p in (0, 1))
    descriptors, threads, children = (b - a for a, b in zip(after_warmup, at_the_end, strict=True))
    assert threads <= 0
    # one warm box more or less: each has some descriptors and one process
    assert children <= 2
    assert descriptors <= 24


def ask(reward: Any, prompt: int, answers: list[int], step: int) -> Any:
    """Call the reward as TRL does: by keyword, the columns repeated for the group."""
    return reward(
        prompts=[PROMPTS[prompt]] * GROUP,
        completions=[ANSWERS[a] for a in answers],
        completion_ids=[[a] for a in answers],
        official_tests=[TESTS[prompt]] * GROUP,
        time_limit=[2.0] * GROUP,
        id=[f"{prompt}/A"] * GROUP,
        trainer_state={"global_step": step},
    )
