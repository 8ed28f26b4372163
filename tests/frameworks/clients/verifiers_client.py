"""verifiers 0.4 loads our taskset and scores with it; JSON in, JSON out."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import verifiers.v1 as vf
from verifiers.v1.configs.agent import AgentConfig
from verifiers.v1.errors import TaskError
from verifiers.v1.trace import AgentInfo, TraceTask
from verifiers.v1.utils.loaders import load_taskset, taskset_config_type


def _taskset(folder, url, given):
    (folder / "our_programs.py").write_text(
        'from gradebox.verifiers import Programs\n\n__all__ = ["Programs"]\n'
    )
    rows = folder / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in given))
    sys.path.insert(0, str(folder))
    task = {"servers": [url], "patience_s": 2} if url else {}
    config = taskset_config_type("our_programs").model_validate(
        {"id": "our_programs", "dataset": str(rows), "task": task}
    )
    return load_taskset(config)


async def _score(task, reply):
    trace = vf.Trace(
        task=TraceTask(type=type(task).__name__, data=task.data),
        agent=AgentInfo(config=AgentConfig()),
        root_reply=reply,
    )
    try:
        await task.score(trace, None)
    except TaskError as error:
        return {"error": str(error)}
    return {
        "rewards": {name: one.value for name, one in trace.rewards.items()},
        "metrics": trace.metrics,
        "verdict": trace.info["gradebox"]["verdict"],
    }


async def _all(url, rows, replies):
    with tempfile.TemporaryDirectory() as folder:
        tasks = list(_taskset(Path(folder), url, rows))
        return {
            "prompts": [task.data.prompt for task in tasks],
            "traced": [task.data.model_dump(mode="json") for task in tasks],
            "valid": [await task.validate(None) for task in tasks],
            "scores": [await _score(tasks[0], reply) for reply in replies],
        }


given = json.load(sys.stdin)
print(json.dumps(asyncio.run(_all(given["url"], given["rows"], given["replies"]))))
