"""Answers to Chinese questions: 答案是 …, 答案为 …, 答案：…"""

from __future__ import annotations

import re

from eval.benchmarks.extraction.marks import (
    after_thinking,
    all_boxed,
    before,
    last_match,
    last_number,
)
from eval.benchmarks.extraction.numbers import last_single
from eval.benchmarks.extraction.split import split_commas
from eval.benchmarks.model import Sample
from eval.benchmarks.registry import named

NEXT = ("\n问题 ", "问题：")
_ANSWER = re.compile(r"答案(?:就)?(?:应该)?(?:是|为|：|:)\s*[：:]?\s*")
_BRACKETED = re.compile(r"[(（]([A-D]+)[)）]")
_LETTER = re.compile(r"(?<![A-Za-z])[A-D](?:[,，;；、和 ]*[A-D])*(?![A-Za-z])")


def said(output: str) -> str | None:
    """The rest of the line after the first 答案是; the first, since a base model goes on."""
    match = _ANSWER.search(output)
    if match is None:
        return None
    line = output[match.end() :].partition("\n")[0]
    return line.strip().rstrip("。.").strip()


@named("answer_extraction_fn", "extract_cmath_few_shot_test")
def cmath(output: str, sample: Sample) -> list[str]:
    """The last number after 答案是, else the last answer that is stated."""
    text = before(after_thinking(output), *NEXT)
    line = said(text)
    if line is None:
        return last_single(text, sample)
    number = last_number(line)
    return [number] if number is not None else []


@named("answer_extraction_fn", "extract_agieval_gaokao_mathcloze_few_shot_cot_test")
def cloze(output: str, sample: Sample) -> list[str]:
    """What stands after 答案是, one text a blank; else what is boxed."""
    text = before(after_thinking(output), *NEXT)
    line = said(text)
    # Answers stand apart by semicolons; only without one do commas part them.
    marks = ";；" if line is not None and re.search("[;；]", line) else "，,"
    found = all_boxed(text) if line is None else split_commas(line, marks)
    return [bare for part in found if (bare := part.strip().strip("$").strip())]


@named(
    "answer_extraction_fn",
    "extract_agieval_gaokao_mathqa_few_shot_cot_test",
    "extract_mmmlu_zh_math",
)
def choice(output: str, sample: Sample) -> list[str]:
    """The letter after 答案是, else the boxed one, else the last in brackets."""
    text = before(after_thinking(output), *NEXT)
    line = said(text)
    places = [line] if line is not None else all_boxed(text)[-1:]
    for place in places:
        match = _LETTER.search(place)
        if match:
            return [match[0]]
    bracketed = last_match(_BRACKETED, text) if line is None else None
    return [bracketed[1]] if bracketed else []
