"""TRL's GRPO loop with our reward; runs in its environment. JSON on stdin, JSON on stdout.

The model is random and tiny, its tokens are whole answers: a step takes milliseconds, and a group
has right, wrong and hanging programs.
"""

import json
import math
import os
import sys
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer

from gradebox.trl import reward

TESTS = {"inputs": ["2 3\n", "10 -4\n"], "outputs": ["5\n", "6\n"]}
SLOW = "```python\nimport time\ntime.sleep(2)\nprint(sum(map(int, input().split())))\n```"
ANSWERS = [
    "```python\nprint(sum(map(int, input().split())))\n```",
    "```python\nprint(5)\n```",
    "```python\nprint(\n```",
    "I would add them.",
]
TEMPLATE = "{% for m in messages %}{{ m['content'] }} {% endfor %}"


def tokenizer_of(answers):
    words = ["<pad>", "<eos>", "add", *answers]
    tokens = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, "<pad>"))
    tokens.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    found = PreTrainedTokenizerFast(
        tokenizer_object=tokens, eos_token="<eos>", pad_token="<pad>", unk_token="<pad>"
    )
    found.chat_template = TEMPLATE
    return found


def grpo(url, steps=3, conversational=True, slow=False, patience_s=60, servers=None):
    """Train and return what was logged, and the rewards and verdicts of all completions."""
    set_seed(1)
    tokenizer = tokenizer_of([SLOW] if slow else ANSWERS)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        num_key_value_heads=2,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    model = Qwen2ForCausalLM(config)
    before = [p.detach().clone() for p in model.parameters()]
    prompt = [{"role": "user", "content": "add"}] if conversational else "add"
    row = {"prompt": prompt, "ground_truth": json.dumps(TESTS), "seconds": 1.0, "lang": "python"}
    columns = {"tests": "ground_truth", "time_limit": "seconds", "language": "lang"}
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model,
            processing_class=tokenizer,
            reward_funcs=[
                reward(
                    "pass_fail",
                    columns=columns,
                    servers=(servers or [url]) if url else None,
                    patience_s=patience_s,
                    time_limit_s=60,
                )
            ],
            args=GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=8,
                num_generations=8,
                max_completion_length=1,
                max_steps=steps,
                learning_rate=0.1,
                use_cpu=True,
                bf16=False,
                report_to=[],
                logging_steps=1,
                save_strategy="no",
                disable_tqdm=True,
            ),
            train_dataset=Dataset.from_list([row] * 4),
        )
        trainer.train()
    moved = any((a != b).any().item() for a, b in zip(before, model.parameters(), strict=True))
    rewards = list(trainer._logs["rewards"]["gradebox"])
    return {
        "moved": moved,
        "logs": [
            {k: v for k, v in one.items() if k in ("pass_rate", "faults", "reward")}
            for one in trainer.state.log_history
            if "loss" in one
        ],
        "rewards": [None if math.isnan(value) else value for value in rewards],
        "verdicts": list(trainer._logs["extra"]["verdict"]),
        "completions": [
            text if isinstance(text, str) else text[0]["content"]
            for text in trainer._logs["completion"]
        ],
    }


given = json.load(sys.stdin)
print("\n" + json.dumps(globals()[given.pop("what")](**given)))
