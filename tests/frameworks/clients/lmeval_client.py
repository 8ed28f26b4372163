"""The command lm_eval with a stub model; runs in its environment. JSON on stdin, JSON on stdout."""

import contextlib
import json
import os
import sys
import tempfile
from pathlib import Path

os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"
ANSWERS = {}  # by a part of the prompt


def register_stub():
    from lm_eval.api.model import LM
    from lm_eval.api.registry import register_model

    @register_model("answers")
    class Answers(LM):
        """Answers a prompt with the longest key of ANSWERS in it."""

        tokenizer_name = "answers"

        def __init__(self, **settings):
            super().__init__()

        def generate_until(self, requests, disable_tqdm=False):
            return [self.answer(request.arguments[0]) for request in requests]

        def answer(self, prompt):
            keys = [key for key in ANSWERS if key in prompt]
            return ANSWERS[max(keys, key=len)] if keys else "nothing"

        def loglikelihood(self, requests, disable_tqdm=False):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood


def run(url, task, rows, model="answers", answers=None, **settings):
    """Run a task of ours on rows; return its results and the samples' prompts and targets."""
    from lm_eval.__main__ import cli_evaluate

    from gradebox.lm_eval import FOLDER

    if model == "answers":
        register_stub()
    ANSWERS.update(answers or {})
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        local = {
            "include": f"{FOLDER}/{task}.yaml",
            "task": "local",
            "dataset_path": "json",
            "dataset_name": None,
            "dataset_kwargs": {"data_files": {"test": str(here / "rows.jsonl")}},
            **settings,
        }
        (here / "tasks").mkdir()
        (here / "tasks/local.yaml").write_text(json.dumps(local))
        words = f"--model {model} --tasks local --include_path {here}/tasks --log_samples"
        sys.argv = ["lm_eval", *words.split(), "--output_path", f"{here}/out"]
        with contextlib.redirect_stdout(sys.stderr):
            cli_evaluate()
        (results,) = (here / "out").rglob("results_*.json")
        (samples,) = (here / "out").rglob("samples_*.jsonl")
        lines = [json.loads(line) for line in samples.read_text().splitlines()]
        return {
            "results": json.loads(results.read_text())["results"]["local"],
            "prompts": [one["arguments"]["gen_args_0"]["arg_0"] for one in lines],
            "targets": [one["target"] for one in lines],
        }


def same_words(url, task, theirs, keys):
    """Return, for the keys, the settings of a task of ours and of the harness's own."""
    import lm_eval
    from lm_eval.tasks._yaml_loader import load_yaml

    from gradebox.lm_eval import FOLDER

    harness = Path(lm_eval.__file__).parent / "tasks" / theirs
    files = (FOLDER / f"{task}.yaml", harness)
    return [
        {key: config[key] for key in keys if key in config}
        for config in (load_yaml(file, resolve_func=False) for file in files)
    ]


given = json.load(sys.stdin)
print(json.dumps(globals()[given.pop("what")](**given)))
