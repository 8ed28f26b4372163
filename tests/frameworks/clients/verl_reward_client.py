"""verl's reward managers, loaded by its own functions; runs in its environment. JSON in and out."""

import asyncio
import json
import logging
import os
import sys

import numpy as np
import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

logging.disable(logging.CRITICAL)


class Tokenizer:
    """A token is a character."""

    def decode(self, tokens, skip_special_tokens=True):
        return "".join(chr(int(token)) for token in tokens)


def rewards(url, answers, truth, name=None, kwargs=None, manager="naive", source="codecontests"):
    """Return what a manager gives for each answer; a text is the error that it raised.

    name    the function of gradebox.verl; None: verl's own, with reward.sandbox_fusion.url
    kwargs  reward_kwargs of the function
    """
    config = OmegaConf.create(
        {
            "reward": {
                "num_workers": 1,
                "custom_reward_function": {
                    "path": name and "pkg://gradebox.verl",
                    "name": name,
                    "reward_kwargs": kwargs or {},
                },
                "sandbox_fusion": {
                    "url": None if name else url + "/run_code",
                    "max_concurrent": 4,
                    "memory_limit_mb": 512,
                },
                "reward_manager": {"source": "register", "name": manager},
            },
            "data": {"max_response_length": 512, "reward_fn_key": "data_source"},
        }
    )

    async def all_of_them():
        loaded = load_reward_manager(config, Tokenizer())
        return await asyncio.gather(
            *(loaded.run_single(sample(answer, truth, source)) for answer in answers),
            return_exceptions=True,
        )

    found = asyncio.run(all_of_them())
    return [f"{type(one).__name__}: {one}" if isinstance(one, Exception) else one for one in found]


def sample(answer, truth, source):
    tokens = torch.tensor([list(map(ord, answer))])
    return DataProto.from_dict(
        tensors={"responses": tokens, "attention_mask": torch.ones_like(tokens)},
        non_tensors={
            "data_source": np.array([source], dtype=object),
            "reward_model": np.array([{"ground_truth": json.dumps(truth)}], dtype=object),
            "extra_info": np.array([{"index": 0, "time_limit": 1.0}], dtype=object),
        },
    )


if __name__ == "__main__":
    given = json.load(sys.stdin)
    print("\n" + json.dumps(globals()[given.pop("what")](**given), default=float), flush=True)
    os._exit(0)  # verl's multiprocessing manager may outlive the answer
