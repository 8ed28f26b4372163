"""Rows of data sets as inspect's samples.

row ─▶ Sample(id, input = prompt, metadata {"language"})      the tests stay with the scorer
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from inspect_ai.dataset import MemoryDataset, Sample

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
