"""Extract answers to Chinese questions: 答案是 …, 答案为 …, 答案：…"""

from __future__ import annotations

import re

from gradebox.eval.models.answers.boxed import all_boxed
from gradebox.eval.models.benchmarks.extraction.free_answers import last_single
from gradebox.eval.models.benchmarks.extraction.markers import (
    after_thinking,
    before,
    last_match,
    last_number,
)
from gradebox.eval.models.benchmarks.extraction.split import split_commas
from gradebox.eval.models.benchmarks.sample import Extract, Sample

NEXT_QUESTION = ("\n问题 ", "问题：")
_ANSWER_IS = re.compile(r"答案(?:就)?(?:应该)?(?:是|为|：|:)\s*[：:]?\s*")
_BRACKETED = re.compile(r"[(（]([A-D]+)[)）]")
_LETTERS = re.compile(r"(?<![A-Za-z])[A-D](?:[,，;；、和 ]*[A-D])*(?![A-Za-z])")


def _announced_line(output: str) -> str | None:
    """Return the rest of the line after the first 答案是: a base model continues after it."""
    match = _ANSWER_IS.search(output)
    if match is None:
        return None
    line = output[match.end() :].partition("\n")[0]
    return line.strip().rstrip("。.").strip()


def cmath(output: str, sample: Sample) -> list[str]:
    """Return the last number after 答案是, else the last stated answer."""
    text = before(after_thinking(output), *NEXT_QUESTION)
    line = _announced_line(text)
    if line is None:
        return last_single(text, sample)
    number = last_number(line)
    return [number] if number is not None else []


def cloze(output: str, sample: Sample) -> list[str]:
    """Return the answers after 答案是, one for each blank; else the boxed ones."""
    text = before(after_thinking(output), *NEXT_QUESTION)
    line = _announced_line(text)
    # Semicolons separate answers; commas do so only when there is no semicolon.
    separators = ";；" if line is not None and re.search("[;；]", line) else "，,"
    found = all_boxed(text) if line is None else split_commas(line, separators)
    return [stripped for part in found if (stripped := part.strip().strip("$").strip())]


def choice(output: str, sample: Sample) -> list[str]:
    """Return the letters after 答案是, else the last boxed ones, else the last in brackets."""
    text = before(after_thinking(output), *NEXT_QUESTION)
    line = _announced_line(text)
    for part in [line] if line is not None else all_boxed(text)[-1:]:
        match = _LETTERS.search(part)
        if match:
            return [match[0]]
    bracketed = last_match(_BRACKETED, text) if line is None else None
    return [bracketed[1]] if bracketed else []


EXTRACTION_FUNCTIONS: dict[str, Extract] = {
    "extract_cmath_few_shot_test": cmath,
    "extract_agieval_gaokao_mathcloze_few_shot_cot_test": cloze,
    "extract_agieval_gaokao_mathqa_few_shot_cot_test": choice,
    "extract_mmmlu_zh_math": choice,
}
