"""The nouns of a benchmark run.

Benchmark   one entry of a configuration
Sample      one question of it, whatever its file's format was
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

Task = Literal["cot", "pal", "sft"]
Language = Literal["en", "zh"]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Sample:
    """One question.

    id         unique within its file ("" : the row's number is taken)
    question   what the model is asked, the options of a choice included
    answers    what is right: one text, or several that belong together
    options    the options of a choice, in the order of their letters
    reference  a worked solution, when the file has one
    extra      further fields an evaluation needs or a reader may want (unit, subject, …)
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
        """The right answer of a question that has one."""
        return self.answers[0]


class Equality(Protocol):
    """Whether two math answers are the same; never raises, never hangs."""

    def equal(self, reference: str, answer: str) -> bool: ...


Process = Callable[[Row], Sample]
Extract = Callable[[str, Sample], "list[str]"]
Evaluate = Callable[["list[str]", Sample, Equality], bool]


@dataclass(frozen=True)
class Prompt:
    """How a question is put to a model.

    shots   the worked examples before it, "" when there are none
    frame   how the question stands after them; `{question}` is filled in
    stop    texts that end an answer
    intro   what stands before everything, "" when nothing does
    own     the examples are the user's (else they are ours, and figures made with them
            cannot be compared with a paper's)
    """

    name: str
    frame: str
    shots: str = ""
    stop: tuple[str, ...] = ()
    intro: str = ""
    own: bool = False

    def format(self, question: str) -> str:
        """The whole text. Only the frame's own {question} is filled in."""
        parts = (self.intro, self.shots, self.frame.replace("{question}", question.strip()))
        return "\n\n\n".join(part for part in parts if part)

    @property
    def has_shots(self) -> bool:
        return bool(self.shots)


@dataclass(frozen=True)
class Benchmark:
    """One entry of a configuration, its names looked up."""

    name: str
    test_path: str
    language: Language
    tasks: tuple[Task, ...]
    process: Process
    extract: Extract
    evaluate: Evaluate
    prompt: Prompt
