"""inspect_ai with its mock model; runs in its environment. JSON on stdin, JSON on stdout."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import inspect_ai
from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate

ROOT = Path(__file__).resolve().parents[3]
FOLDER = tempfile.TemporaryDirectory()  # removed at the end
HERE = Path(FOLDER.name)


def add_entry_point():
    """Make gradebox look installed: its entry point is read from pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    value = re.search(r"entry-points\.inspect_ai\]\n(.*)\n", text)[1].replace('"', "")
    info = HERE / "gradebox-0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: gradebox\nVersion: 0\n")
    (info / "entry_points.txt").write_text(f"[inspect_ai]\n{value}\n")
    url = {"url": ROOT.as_uri(), "dir_info": {"editable": True}}
    (info / "direct_url.json").write_text(json.dumps(url))
    sys.path.insert(0, str(HERE))
    os.environ["PYTHONPATH"] = f"{HERE}{os.pathsep}{ROOT / 'src'}"


def output(text):
    usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    found = ModelOutput.from_content("mockllm/model", text)
    found.usage = usage
    return found


def rows_file(rows):
    path = HERE / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def summary(log):
    assert log.status == "success", log.error.message
    (scores,) = log.results.scores
    return {
        "metrics": {name: one.value for name, one in scores.metrics.items()},
        "unscored": scores.unscored_samples,
        "scores": [
            {"id": sample.id, **json.loads(score.model_dump_json())}
            for sample in log.samples
            for score in (sample.scores or {}).values()
        ],
    }


def model_of(answers):
    """Return a mock model that answers with the value of the longest key in the prompt."""

    def answer(messages, *_):
        prompt = messages[-1].text
        keys = [key for key in answers if key in prompt]
        return output(answers[max(keys, key=len)] if keys else "no program")

    return get_model("mockllm/model", custom_outputs=answer)


def programs(url, rows, answers):
    """Evaluate the registered task; its snippet of three lines."""
    add_entry_point()
    arguments = {"dataset": rows_file(rows)}
    (log,) = inspect_ai.eval(
        "gradebox/programs",
        task_args=arguments,
        model=model_of(answers),
        log_dir=str(HERE),
        display="none",
    )
    return summary(log)


def rescored(url, rows, answers):
    """Evaluate without a scorer, then score the log with the command `inspect score`."""
    add_entry_point()
    from gradebox.inspect_ai import problems

    path = rows_file(rows)
    task = Task(dataset=problems(path), solver=generate())
    (log,) = inspect_ai.eval(task, model=model_of(answers), log_dir=str(HERE), display="none")
    command = [sys.executable, "-m", "inspect_ai", "score", log.location, "--overwrite"]
    command += ["--scorer", "gradebox/gradebox_share", "-S", f"dataset={path}", "--display", "none"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    return summary(read_eval_log(log.location))


def with_rows(url, rows, answers, **settings):
    """Evaluate samples that hold their problem, with a scorer of these settings."""
    from gradebox.inspect_ai import gradebox_scorer

    samples = [Sample(id=row["id"], input=row["id"], metadata={"problem": row}) for row in rows]
    if url:
        settings["servers"] = url
    task = Task(dataset=samples, solver=generate(), scorer=gradebox_scorer(**settings))
    (log,) = inspect_ai.eval(task, model=model_of(answers), log_dir=str(HERE), display="none")
    return summary(log)


def self_check(url, only=""):
    """Run inspect's own checks of sandboxes on ours; return why those failed that did."""
    from inspect_ai.util._sandbox import self_check as checks

    add_entry_point()
    from gradebox.inspect_ai import GradeboxSandboxEnvironment

    failed, limiter = {}, anyio.CapacityLimiter(3)

    async def check(name):
        async with limiter:
            try:
                await getattr(checks, name)(GradeboxSandboxEnvironment())
            except Exception as error:  # noqa: BLE001 - whatever a check raises
                failed[name] = f"{type(error).__name__}: {error}"[:400]

    async def run():
        async with anyio.create_task_group() as tasks:
            for name in names:
                tasks.start_soon(check, name)

    names = [name for name in checks.__all__ if only in name]
    anyio.run(run)
    return {"checks": len(names), "failed": failed}


def commands(url, steps):
    """Run steps in the sandbox of one sample: [method, arguments]; return values or errors."""
    from gradebox.inspect_ai import GradeboxSandboxEnvironment

    async def run():
        environment, answers = GradeboxSandboxEnvironment(), []
        for method, arguments in steps:
            try:
                found = await getattr(environment, method)(**arguments)
            except Exception as error:  # noqa: BLE001 - the errors are what is tested
                found = {"raised": type(error).__name__}
            is_result = hasattr(found, "returncode")
            answers.append([found.returncode, found.stdout, found.stderr] if is_result else found)
        return answers

    return anyio.run(run)


def agent(url, calls):
    """Evaluate one sample in `--sandbox gradebox` whose model calls tools; return their answers."""
    add_entry_point()
    from inspect_ai.solver import use_tools
    from inspect_ai.tool import bash, python

    outputs = [ModelOutput.for_tool_call("mockllm/model", *call) for call in calls]
    for one in outputs:
        one.usage = output("").usage
    model = get_model("mockllm/model", custom_outputs=[*outputs, output("done")])
    sample = Sample(input="Begin.", files={"data/in.txt": "from the sample"})
    solver = [use_tools(bash(timeout=20), python(timeout=20)), generate()]
    task = Task(dataset=[sample], solver=solver, sandbox="gradebox")
    (log,) = inspect_ai.eval(task, model=model, log_dir=str(HERE), display="none")
    assert log.status == "success", log.error.message
    return [
        one.error.message if one.error else one.text
        for one in log.samples[0].messages
        if one.role == "tool"
    ]


given = json.load(sys.stdin)
print(json.dumps(globals()[given.pop("what")](**given)))
