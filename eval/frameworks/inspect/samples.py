"""Rows of data sets as inspect's samples.

row ─▶ Sample(id, input = prompt, metadata {"language"})      the tests stay with the scorer
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai.dataset import MemoryDataset, Sample

from gradebox.eval.common.errors import InputError
from gradebox.eval.models.answers import code_prompts


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
    template = code_prompts.read_template(
        Path(prompt_file) if prompt_file else code_prompts.TEMPLATE
    )
    samples: list[Sample] = []
    for row in code_prompts.read_rows(dataset, split, ("verifiable", "default")):
        if limit is not None and len(samples) >= limit:
            break
        name = row.get("id")
        if name is None:
            raise InputError(f"a row of {dataset} has no id")
        of_row = str(row.get("language") or language)
        samples.append(
            Sample(
                id=str(name),
                input=code_prompts.render(template, row, of_row),
                metadata={"language": of_row},
            )
        )
    return MemoryDataset(samples, name=Path(dataset).stem, location=dataset)
