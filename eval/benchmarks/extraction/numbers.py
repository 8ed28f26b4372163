"""Free answers to math questions: a number, an expression, several of them."""

from __future__ import annotations

import re

from eval.benchmarks.extraction.marks import (
    after_thinking,
    all_boxed,
    announced,
    bared,
    before,
    hoped_answer,
    last_match,
    last_number,
)
from eval.benchmarks.extraction.split import split_answers, split_commas
from eval.benchmarks.model import Sample
from eval.benchmarks.registry import named

NEXT_PROBLEM = ("Problem:",)
NEXT_QUESTION = ("Q: ", "\nQ:")
NEXT_ZH = ("\n问题：",)
_FINAL_ANSWER = re.compile(r"final answer\**\s*:\**", re.IGNORECASE)


def stated(text: str) -> list[str]:
    """Every answer of a text, by the first rule that finds one.

    "final answer is X. I hope it is correct", boxes, "the answer is X", the last number.
    """
    hoped = hoped_answer(text)
    if hoped is not None:
        return all_boxed(hoped) or [hoped]
    found = all_boxed(text) or announced(text)
    if found:
        return [bare for answer in found if (bare := bared(answer))]
    number = last_number(text)
    return [number] if number is not None else []


@named("answer_extraction_fn", "placeholder")
def program_result(output: str, sample: Sample) -> list[str]:
    """For programs: the result as it stands, in parts when several answers are wanted."""
    result = output.strip()
    if len(sample.answers) > 1:
        return split_commas(result)
    return [result] if result else []


@named("answer_extraction_fn", "extract_last_single_answer")
def last_single(output: str, sample: Sample) -> list[str]:
    """The last answer that is stated."""
    return stated(before(after_thinking(output), *NEXT_ZH))[-1:]


@named("answer_extraction_fn", "extract_math_few_shot_cot_answer", "extract_math_answer")
def math_answers(output: str, sample: Sample) -> list[str]:
    """Every answer that is stated, split at commas and "and" as the question asks."""
    text = before(after_thinking(output), *NEXT_PROBLEM)
    return split_answers(sample.question, stated(text))


@named("answer_extraction_fn", "extract_gsm_few_shot_cot_answer")
def gsm(output: str, sample: Sample) -> list[str]:
    """The last number before the next "Q:"; a boxed or announced number comes first.

    A last line that announces words ("The answer is Ben.") gives the words.
    """
    text = before(after_thinking(output), *NEXT_QUESTION)
    for answer in reversed(all_boxed(text) or announced(text)):
        number = last_number(answer)
        if number is not None:
            return [number]
    words = announced(text.rstrip().rpartition("\n")[2])
    if words:
        return words
    number = last_number(text)
    return [number] if number is not None else []


@named("answer_extraction_fn", "extract_olympiad_math_answer")
def olympiad(output: str, sample: Sample) -> list[str]:
    """What follows the last "Final Answer:", else what is stated."""
    text = before(after_thinking(output), *NEXT_PROBLEM)
    last = last_match(_FINAL_ANSWER, text)
    if last is not None:
        text = text[last.end() :]
        found = stated(text) if "answer is" in text or "boxed" in text else []
        line = bared(text.strip().partition("\n")[0])
        return found or ([line] if line else [])
    return stated(text)


@named("answer_extraction_fn", "extract_ocwcourses_few_shot_answer")
def ocw(output: str, sample: Sample) -> list[str]:
    """X of "final answer is X. I hope it is correct", else what is stated last."""
    text = before(after_thinking(output), *NEXT_PROBLEM)
    hoped = hoped_answer(text)
    return [hoped] if hoped else (all_boxed(text) or announced(text))[-1:]


@named("answer_extraction_fn", "extract_scibench_sft_answer")
def scibench(output: str, sample: Sample) -> list[str]:
    """The last box, else the last answer that is stated."""
    return stated(after_thinking(output))[-1:]


@named("answer_extraction_fn", "extract_olympic_arena_sft_answer")
def olympic_arena(output: str, sample: Sample) -> list[str]:
    """The last box, split when several answers are wanted."""
    boxed = all_boxed(after_thinking(output))[-1:]
    return split_answers("separated by commas", boxed) if len(sample.answers) > 1 else boxed
