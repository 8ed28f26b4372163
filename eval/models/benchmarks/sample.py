"""The data of a benchmark run.

Benchmark   an entry of a configuration
Sample      a question, whatever the format of its file
Prompt      how a question is put to a model
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gradebox.eval.models.answers.equality import MathEquality

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

Task = Literal["cot", "pal", "sft"]
Language = Literal["en", "zh"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Sample:
    """A question.

    id         unique in its file; "" takes the number of the row
    question   the text for the model, including the options of a choice
    answers    the right answer, or several that belong together
    options    the options of a choice, in the order of their letters
    reference  a worked solution, when the file has one
    extra      fields that an eval function or a reader needs (unit, subject, …)
    """

    dataset: str
    id: str
    question: str
    answers: tuple[str, ...]
    options: tuple[str, ...] = ()
    reference: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def answer(self) -> str:
        """Return the first right answer."""
        return self.answers[0]


Process = Callable[[Row], Sample]
Extract = Callable[[str, Sample], "list[str]"]
Evaluate = Callable[["list[str]", Sample, MathEquality], bool]


@dataclass(frozen=True)
class Prompt:
    """How a question is put to a model.

    frame   the question's frame; `{question}` is filled in
    shots   worked examples before it
    stop    texts that end an answer
    intro   text before everything else
    own     the examples are the user's. Figures made with gradebox's examples can't be compared
            with a paper's.
    """

    name: str
    frame: str
    shots: str = ""
    stop: tuple[str, ...] = ()
    intro: str = ""
    own: bool = False

    def format(self, question: str) -> str:
        """Return the whole text. `{question}` inside examples is not filled in."""
        parts = (self.intro, self.shots, self.frame.replace("{question}", question.strip()))
        return "\n\n\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Benchmark:
    """An entry of a configuration with its functions and its prompt."""

    name: str
    test_path: str
    language: Language
    tasks: tuple[Task, ...]
    process: Process
    extract: Extract
    evaluate: Evaluate
    prompt: Prompt
