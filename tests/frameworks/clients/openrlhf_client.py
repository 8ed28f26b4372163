"""OpenRLHF's executor of single turns, with a model that says one thing; JSON in, JSON out.

Of the package only this module is loaded: the rest needs deepspeed, vllm and a GPU.
"""

import asyncio
import importlib
import importlib.util
import json
import sys
import types
from pathlib import Path

folder = Path(importlib.util.find_spec("openrlhf").origin).parent / "utils"
sys.modules["openrlhf.utils"] = types.ModuleType("openrlhf.utils")
sys.modules["openrlhf.utils"].__path__ = [str(folder)]
agent = importlib.import_module("openrlhf.utils.agent")

PROMPT = "<|im_start|>user\nAdd:\n```python\nprint(5)\n```<|im_end|>\n<|im_start|>assistant\n"


class Tokenizer:
    """A token is a character."""

    def __call__(self, text, **_):
        class Ids(list):
            def tolist(self):
                return list(self)

        return {"input_ids": [Ids(map(ord, text))]}

    def decode(self, tokens, **_):
        return "".join(map(chr, tokens))


class Model:
    def __init__(self, answer):
        self._answer = answer

    async def generate(self, *_, **__):
        one = types.SimpleNamespace(
            token_ids=list(map(ord, self._answer + "<|im_end|>")),
            finish_reason="stop",
            logprobs=None,
        )
        return types.SimpleNamespace(outputs=[one])


def samples(url, answers, tests, reward=None):
    """Return {"reward", "scores", "extra_logs"} of each answer.

    reward  "URL" or the path of a file, as --reward.remote_url gets it
    """
    executor = agent.SingleTurnAgentExecutor(reward or url + "/get_reward")
    sampling = types.SimpleNamespace(max_tokens=1000, logprobs=None)

    async def all_of_them():
        label = json.dumps(tests)
        return await asyncio.gather(
            *(
                executor.execute(PROMPT, label, sampling, 9000, Tokenizer(), Model(answer))
                for answer in answers
            )
        )

    found = asyncio.run(all_of_them())
    return [{name: one[name] for name in ("reward", "scores", "extra_logs")} for one in found]


given = json.load(sys.stdin)
print(json.dumps(globals()[given.pop("what")](**given)))
