"""Answers that are words: yes/no/maybe, an option of a table question."""

from __future__ import annotations

import re

from eval.benchmarks.extraction.letters import plain
from eval.benchmarks.extraction.marks import after_thinking, all_boxed, announced, before
from eval.benchmarks.extraction.numbers import NEXT_PROBLEM, NEXT_QUESTION, stated
from eval.benchmarks.model import Sample
from eval.benchmarks.registry import named

_DECISION = re.compile(r"\((yes|no|maybe)\)", re.IGNORECASE)
_DECISION_SAID = re.compile(
    r"\b(?:answer|decision)(?: is)?[: ]+[\"'(]?(yes|no|maybe)\b", re.IGNORECASE
)


@named("answer_extraction_fn", "extract_pubmedqa")
def decision(output: str, sample: Sample) -> list[str]:
    """The last (yes), (no) or (maybe), else "the answer is yes"."""
    text = before(after_thinking(output), *NEXT_PROBLEM, "Question:")
    found = _DECISION.findall(text) or _DECISION_SAID.findall(plain(text))
    return [found[-1].lower()] if found else []


@named("answer_extraction_fn", "extract_tabmwp_few_shot_answer")
def table_answer(output: str, sample: Sample) -> list[str]:
    """With options: the one that is stated, else the one mentioned last. Else a number."""
    text = before(after_thinking(output), *NEXT_QUESTION)
    if not sample.options:
        return stated(text)[-1:]
    for said in [*reversed(all_boxed(text)), *reversed(announced(text))]:
        for option in sample.options:
            if _words(said) == _words(option):
                return [option]
    mentioned = [(_last_mention(text, o), len(o), o) for o in sample.options]
    place, _, option = max(mentioned)
    return [option] if place >= 0 else []


def _words(text: str) -> list[str]:
    return plain(text).lower().strip().strip(".").split()


def _last_mention(text: str, option: str) -> int:
    """Where the option's words end for the last time, -1 when they are not there."""
    words = r"\s+".join(re.escape(word) for word in option.lower().split())
    if not words:
        return -1
    ends = [m.end() for m in re.finditer(rf"(?<!\w){words}(?!\w)", text.lower())]
    return ends[-1] if ends else -1
