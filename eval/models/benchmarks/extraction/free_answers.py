"""Extract numbers, expressions and lists of them, and the answers after 答案是."""

from __future__ import annotations

import re

from gradebox.eval.models.answers.equality import all_boxed
from gradebox.eval.models.benchmarks.extraction.texts import (
    after_thinking,
    announced_answer,
    before,
    final_answer,
    last_match,
    last_number,
    split_answers,
    split_commas,
    strip_decoration,
)
from gradebox.eval.models.benchmarks.sample import Extract, Sample

NEXT_PROBLEM = ("Problem:",)
NEXT_QUESTION = ("Q: ", "\nQ:")
NEXT_CHINESE = ("\n问题：",)
_FINAL_ANSWER_COLON = re.compile(r"final answer\**\s*:\**", re.IGNORECASE)
NEXT_CHINESE_QUESTION = ("\n问题 ", "问题：")
_CHINESE_ANSWER_IS = re.compile(r"答案(?:就)?(?:应该)?(?:是|为|：|:)\s*[：:]?\s*")
_BRACKETED = re.compile(r"[(（]([A-D]+)[)）]")
_LETTERS = re.compile(r"(?<![A-Za-z])[A-D](?:[,，;；、和 ]*[A-D])*(?![A-Za-z])")


def stated_answers(text: str) -> list[str]:
    """Return the answers found by the first of these rules that finds one.

    "final answer is X. I hope it is correct", boxes, "the answer is X", the last number.
    """
    final = final_answer(text)
    if final is not None:
        return all_boxed(final) or [final]
    found = all_boxed(text) or announced_answer(text)
    if found:
        return [stripped for answer in found if (stripped := strip_decoration(answer))]
    return _as_list(last_number(text))


def _as_list(answer: str | None) -> list[str]:
    return [] if answer is None else [answer]


def program_result(output: str, sample: Sample) -> list[str]:
    """Return a program's result, split at commas when the question has several answers."""
    result = output.strip()
    if len(sample.answers) > 1:
        return split_commas(result)
    return [result] if result else []


def last_single(output: str, sample: Sample) -> list[str]:
    """Return the last stated answer."""
    return stated_answers(before(after_thinking(output), *NEXT_CHINESE))[-1:]


def math_answers(output: str, sample: Sample) -> list[str]:
    """Return all stated answers, split at "and", and at commas if the question asks for commas."""
    text = before(after_thinking(output), *NEXT_PROBLEM)
    return split_answers(sample.question, stated_answers(text))


def gsm(output: str, sample: Sample) -> list[str]:
    """Return the number that is boxed or announced last, else the last number.

    Words announced on the last line ("The answer is Ben.") come before the last number.
    """
    text = before(after_thinking(output), *NEXT_QUESTION)
    for answer in reversed(all_boxed(text) or announced_answer(text)):
        number = last_number(answer)
        if number is not None:
            return [number]
    words = announced_answer(text.rstrip().rpartition("\n")[2])
    return words or _as_list(last_number(text))


def olympiad(output: str, sample: Sample) -> list[str]:
    """Return what follows the last "Final Answer:", else all stated answers."""
    text = before(after_thinking(output), *NEXT_PROBLEM)
    match = last_match(_FINAL_ANSWER_COLON, text)
    if match is None:
        return stated_answers(text)
    text = text[match.end() :]
    found = stated_answers(text) if "answer is" in text or "boxed" in text else []
    line = strip_decoration(text.strip().partition("\n")[0])
    return found or ([line] if line else [])


def ocw(output: str, sample: Sample) -> list[str]:
    """Return X of "final answer is X. I hope it is correct", else the last stated answer."""
    text = before(after_thinking(output), *NEXT_PROBLEM)
    final = final_answer(text)
    return [final] if final else (all_boxed(text) or announced_answer(text))[-1:]


def scibench(output: str, sample: Sample) -> list[str]:
    """Return the last box, else the last stated answer."""
    return stated_answers(after_thinking(output))[-1:]


def olympic_arena(output: str, sample: Sample) -> list[str]:
    """Return the last box, split at commas when the question has several answers."""
    boxed = all_boxed(after_thinking(output))[-1:]
    return split_answers("separated by commas", boxed) if len(sample.answers) > 1 else boxed


# ---- Chinese ----


def _announced_line(output: str) -> str | None:
    """Return the rest of the line after the first 答案是: a base model continues after it."""
    match = _CHINESE_ANSWER_IS.search(output)
    if match is None:
        return None
    line = output[match.end() :].partition("\n")[0]
    return line.strip().rstrip("。.").strip()


def chinese_number(output: str, sample: Sample) -> list[str]:
    """Return the last number after 答案是, else the last stated answer."""
    text = before(after_thinking(output), *NEXT_CHINESE_QUESTION)
    line = _announced_line(text)
    if line is None:
        return last_single(text, sample)
    number = last_number(line)
    return [number] if number is not None else []


def chinese_blanks(output: str, sample: Sample) -> list[str]:
    """Return the answers after 答案是, one for each blank; else the boxed ones."""
    text = before(after_thinking(output), *NEXT_CHINESE_QUESTION)
    line = _announced_line(text)
    # Semicolons separate answers; commas do so only when there is no semicolon.
    separators = ";；" if line is not None and re.search("[;；]", line) else "，,"
    found = all_boxed(text) if line is None else split_commas(line, separators)
    return [stripped for part in found if (stripped := part.strip().strip("$").strip())]


def chinese_choice(output: str, sample: Sample) -> list[str]:
    """Return the letters after 答案是, else the last boxed ones, else the last in brackets."""
    text = before(after_thinking(output), *NEXT_CHINESE_QUESTION)
    line = _announced_line(text)
    for part in [line] if line is not None else all_boxed(text)[-1:]:
        match = _LETTERS.search(part)
        if match:
            return [match[0]]
    bracketed = last_match(_BRACKETED, text) if line is None else None
    return [bracketed[1]] if bracketed else []


EXTRACTION_FUNCTIONS: dict[str, Extract] = {
    "placeholder": program_result,
    "extract_last_single_answer": last_single,
    "extract_math_few_shot_cot_answer": math_answers,
    "extract_math_answer": math_answers,
    "extract_gsm_few_shot_cot_answer": gsm,
    "extract_olympiad_math_answer": olympiad,
    "extract_ocwcourses_few_shot_answer": ocw,
    "extract_scibench_sft_answer": scibench,
    "extract_olympic_arena_sft_answer": olympic_arena,
    "extract_cmath_few_shot_test": chinese_number,
    "extract_agieval_gaokao_mathcloze_few_shot_cot_test": chinese_blanks,
    "extract_agieval_gaokao_mathqa_few_shot_cot_test": chinese_choice,
    "extract_mmmlu_zh_math": chinese_choice,
}
