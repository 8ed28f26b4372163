"""A small benchmark with its configuration and a server that answers it."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.eval.models.fake_server import Answer, Call, chat

GSM = {
    "test_path": "datasets/gsm8k/test.jsonl",
    "language": "en",
    "tasks": ["cot"],
    "process_fn": "process_gsm8k_test",
    "answer_extraction_fn": "extract_gsm_few_shot_cot_answer",
    "eval_fn": "eval_last_single_answer",
    "few_shot_prompt": "CoTGSMPrompt",
}
PAL = GSM | {"tasks": ["pal"], "few_shot_prompt": "PALGSMPrompt"}
ROWS = [{"id": f"q{i}", "question": f"{i} plus 1?", "answer": str(i + 1)} for i in range(4)]


def make_run(tmp_path: Path, entry: dict[str, Any] = GSM, rows: Sequence[Any] = ROWS) -> list[str]:
    """Write a configuration and its data; return the flags that use them."""
    (tmp_path / "data" / "gsm8k").mkdir(parents=True)
    text = "".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in rows)
    (tmp_path / "data" / "gsm8k" / "test.jsonl").write_text(text)
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"gsm": entry}))
    return [
        *("--config", str(config), "--data-dir", str(tmp_path / "data"), "--max-retries", "0"),
        *("--output-dir", str(tmp_path / "out"), "--model-name", "org/m", "--sandbox", "local"),
    ]


def outputs(tmp_path: Path, name: str = "gsm") -> Path:
    return tmp_path / "out" / "org" / "m" / name / "samples"


def load(path: Path) -> Any:
    return json.loads(path.read_text())


def answer_sum(call: Call) -> Answer:
    prompt = call.body["prompt"] if "prompt" in call.body else call.body["messages"][0]["content"]
    first = int(prompt.rpartition(" plus 1?")[0].split()[-1])
    return chat(f"{first} and 1 is it. The answer is {first + 1}.")
