"""The prompts that configurations name, from the table eval/models/data/prompts.json.

    "frames"     the text around a question, and the texts that end its answer
    "few_shot"   name → frame, file of worked examples, number of them that is taken (0: all)
    "letters"    name → the letters that a tuned model may choose from
    "zero_shot"  name → frame, text before it, texts that end the answer

The worked examples (eval/models/data/few_shot/) were written for this project. Figures made with
them can't be compared with a paper's, whose examples differ. `--few-shot-dir` takes the user's:
a file `<Name>.txt` there replaces the examples of the prompt of that name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradebox.eval.common.errors import InputError
from gradebox.eval.common.paths import DATA
from gradebox.eval.models.benchmarks.sample import Prompt

_EXAMPLES_SEPARATOR = "\n\n\n"


def _read_examples(file: str, count: int) -> str:
    """Return the first `count` worked examples of a file, all of them for 0."""
    if not file:
        return ""
    text = (DATA / "few_shot" / f"{file}.txt").read_text("utf-8")
    examples = text.strip().split(_EXAMPLES_SEPARATOR)
    return _EXAMPLES_SEPARATOR.join(examples[:count] if count else examples)


def with_user_examples(prompt: Prompt, folder: Path) -> Prompt:
    """Return the prompt with the examples of the folder's `<Name>.txt`, if there is one."""
    path = folder / f"{prompt.name}.txt"
    if not folder.is_dir():
        raise InputError(f"--few-shot-dir {folder}: no such folder; give one with <Name>.txt files")
    if not path.is_file():
        return prompt
    try:
        return replace(prompt, shots=path.read_text("utf-8").strip(), own=True)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--few-shot-dir: {path}: {error}") from None


def _read_prompts() -> Iterator[Prompt]:
    table: dict[str, Any] = json.loads((DATA / "prompts.json").read_text("utf-8"))
    for name, (frame, file, count) in table["few_shot"].items():
        found = table["frames"][frame]
        yield Prompt(name, found["text"], _read_examples(file, count), tuple(found["stop"]))
    for name, letters in table["letters"].items():
        intro = table["letters_intro"].replace("{letters}", letters)
        yield Prompt(name, table["letters_frame"], intro=intro)
    for name, found in table["zero_shot"].items():
        yield Prompt(
            name, found["frame"], stop=tuple(found.get("stop", ())), intro=found.get("intro", "")
        )


PROMPTS: dict[str, Prompt] = {prompt.name: prompt for prompt in _read_prompts()}
