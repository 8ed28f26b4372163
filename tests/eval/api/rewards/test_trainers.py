"""The rewards of TRL and OpenRLHF, called as these trainers call them."""

import asyncio
import inspect
from typing import Any

import pytest

from gradebox.eval.api.rewards import NotGraded
from gradebox.eval.api.rewards.values import answer_of
from gradebox.eval.common.errors import InputError
from gradebox.openrlhf import make_reward_func
from gradebox.trl import reward
from tests.eval.api.rewards.conftest import TESTS, fenced

WORDS = ["echo", "half", "fault", "none at all"]


class Logs:
    """What a trainer is given to log."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {}
        self.metrics: dict[str, float] = {}

    def log_extra(self, column: str, values: list[Any]) -> None:
        self.columns[column] = values

    def log_metric(self, name: str, value: float) -> None:
        self.metrics[name] = value


def ask(function: Any, completions: list[Any], logs: Logs, **columns: Any) -> Any:
    """Call a reward as TRL 1.16 does."""
    count = len(completions)
    return asyncio.run(
        function(
            prompts=["Echo."] * count,
            completions=completions,
            completion_ids=[[0]] * count,
            trainer_state=object(),
            environments=[object()] * count,
            log_extra=logs.log_extra,
            log_metric=logs.log_metric,
            **{name: [value] * count for name, value in columns.items()},
        )
    )


def test_trl_is_given_rewards_verdicts_and_metrics(fake):
    function, logs = reward("partial", grader=fake), Logs()
    assert inspect.iscoroutinefunction(function)
    assert function.__name__ == "gradebox"
    completions = [fenced(w) if " " not in w else w for w in WORDS]
    assert ask(function, completions, logs, official_tests=TESTS) == [1.0, 0.5, None, -1.0]
    assert logs.columns == {"verdict": ["AC", "WA", "error", "no_code"]}
    assert logs.metrics == {"faults": 0.25, "pass_rate": 0.5}


def test_trl_names_the_columns_of_its_data_set(fake):
    names = {"tests": "checks", "time_limit": "seconds", "language": "lang"}
    function, logs = reward("pass_fail", grader=fake, columns=names), Logs()
    columns = {"seconds": 1.0, "lang": "cpp", "language": "Deutsch", "prompt_id": 7}
    messages = [[{"role": "assistant", "content": fenced(w, "cpp")}] for w in ("echo", "half")]
    inputs = {"inputs": [t["input"] for t in TESTS], "outputs": [t["output"] for t in TESTS]}
    for tests in (TESTS, inputs):
        assert ask(function, messages, logs, checks=tests, **columns) == [1.0, 0.0]
    with pytest.raises(InputError, match="no column checks"):
        ask(function, messages, logs, official_tests=TESTS, **columns)


def test_openrlhf_is_given_scalars_for_one_sample(fake):
    function = make_reward_func(grader=fake)
    prompt = "<|im_start|>user\nEcho:\n```python\necho\n```<|im_end|>\n<|im_start|>assistant\n"
    given = function([prompt + fenced("half") + "<|im_end|>"], [prompt], [TESTS])
    logs = {"pass_rate": 0.5, "passed": 0.0}
    assert given == {"rewards": 0.0, "scores": 0.5, "extra_logs": logs}
    no_code = function([prompt + "I echo."], [prompt], [TESTS])
    assert no_code["rewards"] == -1.0
    two = function([fenced("echo"), fenced("wrong")], ["", ""], [TESTS, TESTS])
    assert (two["rewards"], two["scores"]) == ([1.0, 0.0], [1.0, 0.0])


def test_openrlhf_is_given_no_reward_for_a_fault(fake):
    with pytest.raises(NotGraded):
        make_reward_func(grader=fake)([fenced("fault")], [""], [TESTS])


@pytest.mark.parametrize(
    ("query", "prompt", "answer"),
    [
        ("<s>Add.\n```\n1\n```</s>", "Add.", "\n```\n1\n```</s>"),
        (
            "".join(map(str, range(50))) + "answer\n",
            "".join(map(str, range(-9, 50))),
            "answer\n",
        ),
        ("nothing of it", "a prompt", "nothing of it"),
    ],
)
def test_the_answer_is_what_follows_the_prompt(query, prompt, answer):
    assert answer_of(query, prompt) == answer
