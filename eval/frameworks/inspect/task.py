"""Data sets as samples of inspect_ai, and a task of them: `gradebox/programs`."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.solver import generate

from gradebox.eval.frameworks.inspect.scorer import gradebox_scorer
from gradebox.eval.models.answers.code_prompts import prompts


def problems(
    dataset: str,
    *,
    split: str = "test",
    language: str = "python",
    prompt_file: str | None = None,
    limit: int | None = None,
) -> MemoryDataset:
    """Return the problems of a data set as samples, for `gradebox_scorer` of the same data set.

    dataset      as for --dataset: a .jsonl or .parquet file, a folder, or a name on the hub
    language     of programs, for rows that leave it open
    prompt_file  a template as of `gradebox sample`; None: its own

    Raises InputError when the data set can't be read.
    """
    found = prompts(dataset, split, language, prompt_file)
    samples = [
        Sample(id=name, input=prompt, metadata={"language": of_row})
        for name, of_row, prompt in islice(found, limit)
    ]
    return MemoryDataset(samples, name=Path(dataset).stem, location=dataset)


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
