"""Run what docs/frameworks.md says to paste, in its framework. JSON on stdin, JSON on stdout.

Each function has the module that was pasted, completions and tests, and returns the rewards.
"""

import asyncio
import importlib.util
import json
import sys
import tempfile
import types
from pathlib import Path


def lighteval(paste, completions, tests):
    from lighteval.models.model_output import ModelResponse
    from lighteval.tasks.requests import Doc

    doc = Doc(query="", choices=[""], gold_index=0, specific={**tests, "fn_name": None})
    compute = paste.lcb.lcb_codegen_metric.compute_sample
    found = [compute(model_response=ModelResponse(text=[one]), doc=doc) for one in completions]
    return [value for one in found for value in one.values()]


def dspy(paste, completions, tests):
    from dspy import Evaluate, Example, Prediction

    examples = [Example(answer=one, tests=tests).with_inputs("answer") for one in completions]
    evaluate = Evaluate(devset=examples, metric=paste.passes, num_threads=2, max_errors=1)
    results = evaluate(lambda answer: Prediction(answer=answer)).results
    return [float(accepted) for _, _, accepted in results]


def smolagents(paste, completions, tests):
    from smolagents import ToolCallingAgent, models

    def said(name, arguments):
        call = models.ChatMessageToolCallFunction(name=name, arguments=arguments)
        calls = [models.ChatMessageToolCall(id="1", type="function", function=call)]
        return models.ChatMessage(role="assistant", content="given up", tool_calls=calls)

    def accepted(completion):
        program = completion.split("```")[1].removeprefix("python\n")
        answer = said("final_answer", {"answer": program})
        steps = iter([said("run_python", {"program": "print(6 * 7)"}), answer, answer])
        model = models.Model(model_id="scripted")
        model.generate = lambda *_, **__: next(steps)
        agent = ToolCallingAgent(
            [paste.run_python], model, final_answer_checks=[paste.passes], verbosity_level=0
        )
        result = agent.run("add", max_steps=2)
        assert agent.memory.steps[1].observations.strip() == "42"
        return float(result == program)

    return [accepted(one) for one in completions]


def skyrl(paste, completions, tests):
    import skyrl_gym

    extras = {"reward_spec": {"ground_truth": tests}}
    return [skyrl_gym.make("programs", extras=extras).step(one)["reward"] for one in completions]


def areal(paste, completions, tests):
    async def rewards():
        reward = paste.AsyncRewardWrapper(paste.reward_fn, timeout_seconds=100)
        calls = [reward("", f"{one}<|im_end|>", [], [], ground_truth=tests) for one in completions]
        return await asyncio.gather(*calls)

    return asyncio.run(rewards())


def _without_init(package):
    """Make a package whose modules are imported without it: AReaL's begins with torch and ray."""
    found = types.ModuleType(package)
    (place,) = importlib.util.find_spec("areal").submodule_search_locations
    found.__path__ = [str(Path(place, *package.split(".")[1:]))]
    return found


if __name__ == "__main__":
    given = json.load(sys.stdin)
    what, text = given.pop("what"), given.pop("text")
    del given["url"]
    if what == "areal":
        names = ("areal", "areal.api", "areal.utils")
        sys.modules |= {name: _without_init(name) for name in names}
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        Path(folder, "pasted.py").write_text(text)
        import pasted

        print("\n" + json.dumps(globals()[what](pasted, **given)))
