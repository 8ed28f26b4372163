"""`gradebox/programs`: a data set of programs as a task of inspect_ai."""

from __future__ import annotations

from typing import Any

from inspect_ai import Task, task
from inspect_ai.solver import generate

from gradebox.eval.frameworks.inspect.samples import problems
from gradebox.eval.frameworks.inspect.scorer import gradebox_scorer


@task
def programs(
    dataset: str = "openai/openai_humaneval",
    language: str = "python",
    servers: str | None = None,
    judge: str = "strict",
) -> Task:
    """Ask for a program for each problem of a data set, and grade it by all tests."""
    settings: dict[str, Any] = {"judge": judge}
    return Task(
        dataset=problems(dataset, language=language),
        solver=generate(),
        scorer=gradebox_scorer(dataset, servers=servers, **settings),
    )
