"""A fake model that gives chosen answers in the form that each prompt asks for."""

from collections.abc import Callable
from pathlib import Path

from gradebox.eval.models.benchmarks.registry import CONFIGS, read_configs
from gradebox.eval.models.benchmarks.sample import (
    EXAMPLE_DATA,
    Benchmark,
    Sample,
    Task,
    find_file,
    read_samples,
)
from gradebox.eval.models.benchmarks.texts import split_power_of_ten
from tests.eval.models.fake_server import Answer, Call, chat

CONFIG_FILES = sorted(CONFIGS.glob("*.json"))

WRONG_LETTER = dict(zip("ABCDEFGHIJ", "BAABBBBBBB", strict=True))

# Questions and answers that a base model invents after its answer.
INVENTED = {
    "\nProblem:": "\n\nProblem:\nAnother?\n\nSolution:\nThe final answer is (A) $99$.",
    "\nQ:": "\n\nQ: Another?\nA: The answer is 99.",
    "\n问题：": "\n\n问题：另一题\n解答：答案是 99。",
    "User:": "",
}


def write_output(benchmark: Benchmark, task: Task, sample: Sample, answers: tuple[str, ...]) -> str:
    """Return the model's output with these answers."""
    _, exponent = split_power_of_ten(sample.extra.get("unit") or "")
    if exponent:
        answers = (f"{answers[0]} \\times 10^{{{exponent}}}",)
    if task == "pal":
        return program(answers)
    if task == "sft":
        return tuned(benchmark, answers)
    boxed = "\\boxed{" in benchmark.prompt.intro
    stop = benchmark.prompt.stop[0]
    if benchmark.language == "zh":
        line = f"所以答案是 {';'.join(answers)}。"
    elif sample.dataset == "pubmedqa" or answers[0] in WRONG_LETTER:
        line = f"The final answer is ({answers[0]}). I hope it is correct."
    elif boxed:
        line = f"Hence \\boxed{{{', '.join(answers)}}}."
    elif stop == "\nQ:":
        line = f"Hence it is so. The answer is {answers[0]}."
    else:
        line = f"Final Answer: The final answer is ${', '.join(answers)}$. I hope it is correct."
    return f"First 17, then 4.\n{line}{INVENTED[stop]}"


def program(answers: tuple[str, ...]) -> str:
    texts = ", ".join(repr(a) for a in answers)
    return f"def solution():\n    print('working')\n    return [{texts}]\n"


def tuned(benchmark: Benchmark, answers: tuple[str, ...]) -> str:
    if answers[0] in WRONG_LETTER and "Answer: X" in benchmark.prompt.intro:
        return f"<think>A? B? C? 99</think>It is so because of it.\n\nAnswer: {answers[0]}"
    return f"<think>\\boxed{{99}}?</think>It is so.\n\\[ \\boxed{{{', '.join(answers)}}} \\]"


AnswerChoice = Callable[[Sample], tuple[str, ...]]


def model(
    config: Path, choose: AnswerChoice, data_dir: Path = EXAMPLE_DATA
) -> Callable[[Call], Answer]:
    """Return a handler that answers every question of a configuration."""
    by_prompt: dict[str, str] = {}
    for benchmark in read_configs([config]).values():
        path = find_file(benchmark.test_path, data_dir)
        assert path is not None
        for task in benchmark.tasks:
            for sample in read_samples(benchmark, path):
                output = write_output(benchmark, task, sample, choose(sample))
                by_prompt[benchmark.prompt.format(sample.question)] = output

    def handler(call: Call) -> Answer:
        if call.path.endswith("/models"):
            return Answer(body=b'{"data": [{"id": "org/fake-7b"}]}')
        body = call.body
        prompt = body["messages"][0]["content"] if "messages" in body else body["prompt"]
        return chat(by_prompt[prompt])

    return handler


def right(sample: Sample) -> tuple[str, ...]:
    return sample.answers
