"""Extraction functions: a model's output → the answers in it, a list that is empty without one.

Each takes (output, sample). `EXTRACTION_FUNCTIONS` is the table of the names in configurations:
numbers, expressions, several answers; answers after 答案是; letters of options, yes/no/maybe,
options by their text. `texts` has what they share.

A tuned model's letter is searched by these rules, in the last line and then in the whole text.
Of several matches of a rule the last one counts.

    1. announced    "answer: X", "the correct option is (X)"
    2. boxed        \\boxed{X}, \\boxed{\\text{X}}, \\boxed{(X) its text}
    3. confirmed    "X is correct", "(X) is the right answer"
    4. alone        a line that has only the letter, "X." or "(X)"
then    5. the text of an option: boxed, announced, or the last line

A base model's letter is announced, else the last "(X)".
"""

from __future__ import annotations

import re
from functools import lru_cache

from gradebox.eval.models.answers.equality import all_boxed
from gradebox.eval.models.benchmarks.sample import LETTERS, Extract, Sample
from gradebox.eval.models.benchmarks.texts import (
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


def _reading(find: Extract, *markers: str) -> Extract:
    """Return a function that finds answers after the thoughts and before a marker.

    markers  what begins the question that a base model invents after its answer
    """

    def extract(output: str, sample: Sample) -> list[str]:
        return find(before(after_thinking(output), *markers), sample)

    return extract


def last_single(text: str, sample: Sample) -> list[str]:
    """Return the last stated answer."""
    return stated_answers(text)[-1:]


def math_answers(text: str, sample: Sample) -> list[str]:
    """Return all stated answers, split at "and", and at commas if the question asks for commas."""
    return split_answers(sample.question, stated_answers(text))


def gsm(text: str, sample: Sample) -> list[str]:
    """Return the number that is boxed or announced last, else the last number.

    Words announced on the last line ("The answer is Ben.") come before the last number.
    """
    for answer in reversed(all_boxed(text) or announced_answer(text)):
        number = last_number(answer)
        if number is not None:
            return [number]
    words = announced_answer(text.rstrip().rpartition("\n")[2])
    return words or _as_list(last_number(text))


def olympiad(text: str, sample: Sample) -> list[str]:
    """Return what follows the last "Final Answer:", else all stated answers."""
    match = last_match(_FINAL_ANSWER_COLON, text)
    if match is None:
        return stated_answers(text)
    text = text[match.end() :]
    found = stated_answers(text) if "answer is" in text or "boxed" in text else []
    line = strip_decoration(text.strip().partition("\n")[0])
    return found or ([line] if line else [])


def ocw(text: str, sample: Sample) -> list[str]:
    """Return X of "final answer is X. I hope it is correct", else the last stated answer."""
    final = final_answer(text)
    return [final] if final else (all_boxed(text) or announced_answer(text))[-1:]


def olympic_arena(text: str, sample: Sample) -> list[str]:
    """Return the last box, split at commas when the question has several answers."""
    boxed = all_boxed(text)[-1:]
    return split_answers("separated by commas", boxed) if len(sample.answers) > 1 else boxed


# ---- Chinese ----


def _announced_line(output: str) -> str | None:
    """Return the rest of the line after the first 答案是: a base model continues after it."""
    match = _CHINESE_ANSWER_IS.search(output)
    if match is None:
        return None
    line = output[match.end() :].partition("\n")[0]
    return line.strip().rstrip("。.").strip()


def chinese_number(text: str, sample: Sample) -> list[str]:
    """Return the last number after 答案是, else the last stated answer."""
    line = _announced_line(text)
    if line is None:
        return last_single(before(text, *NEXT_CHINESE), sample)
    number = last_number(line)
    return [number] if number is not None else []


def chinese_blanks(text: str, sample: Sample) -> list[str]:
    """Return the answers after 答案是, one for each blank; else the boxed ones."""
    line = _announced_line(text)
    # Semicolons separate answers; commas do so only when there is no semicolon.
    separators = ";；" if line is not None and re.search("[;；]", line) else "，,"
    found = all_boxed(text) if line is None else split_commas(line, separators)
    return [stripped for part in found if (stripped := part.strip().strip("$").strip())]


def chinese_choice(text: str, sample: Sample) -> list[str]:
    """Return the letters after 答案是, else the last boxed ones, else the last in brackets."""
    line = _announced_line(text)
    for part in [line] if line is not None else all_boxed(text)[-1:]:
        match = _LETTERS.search(part)
        if match:
            return [match[0]]
    bracketed = last_match(_BRACKETED, text) if line is None else None
    return [bracketed[1]] if bracketed else []


# ---- multiple choice ----

# A and I are often words ("the answer is A large …"), unless one of these follows.
_AFTER_A = "because|since|as|for|due|which|with|and|based|from|where|given|in|by|is"
_MARKUP = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf|boxed|bf|rm)(?![a-zA-Z])|[{}$*`_\\]")
_SPACES = re.compile(r"[ \t]+")
_END = r"(?:(?=[\s).\]:,;!?]|$))"
_NOT_A_WORD = rf"(?!(?<=[AI]) +(?!(?:{_AFTER_A})\b)[a-z])"
_DECISION = re.compile(r"\((yes|no|maybe)\)", re.IGNORECASE)
_ANNOUNCED_DECISION = re.compile(
    r"\b(?:answer|decision)(?: is)?[: ]+[\"'(]?(yes|no|maybe)\b", re.IGNORECASE
)


@lru_cache
def _announced(letters: str) -> re.Pattern[str]:
    return re.compile(
        r"\b(?i:answer|option|choice|result)(?: [a-z]+){0,4}? ?"
        rf"(?:(?i:is|should be|must be|would be|as)\b ?[:：]?|[:：=]) "
        rf"?(?:(?i:option|choice) )?[(\[]? ?(?P<l>[{letters}]){_END}{_NOT_A_WORD}"
    )


@lru_cache
def _confirmed(letters: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?:^|[\s(])(?P<l>[{letters}])\)? (?:is|seems|must be) (?:the )?(?:most )?"
        r"(?:correct|right|best)\b",
        re.MULTILINE,
    )


def _letter_alone(text: str, letters: str) -> str | None:
    match = re.match(rf"^ ?[(\[]? ?([{letters}]) ?[)\]]? ?[.:]? ?$", text)
    return match[1] if match else None


def _letter_at_start(text: str, letters: str) -> str | None:
    match = re.match(rf"^ ?(?:\(([{letters}])\)|([{letters}])[).:])(?: |$)", text)
    return (match[1] or match[2]) if match else None


def _without_markup(text: str) -> str:
    return _SPACES.sub(" ", _MARKUP.sub(" ", text)).replace("( ", "(").replace(" )", ")")


def _last_letter(pattern: re.Pattern[str], text: str) -> str | None:
    match = last_match(pattern, text)
    return match["l"] if match else None


def _chosen_letter(text: str, letters: str) -> str | None:
    """Return the letter by rules 1 to 4."""
    stripped = text.strip()
    for part in (stripped.rpartition("\n")[2], stripped):
        plain = _without_markup(part)
        found = (
            _last_letter(_announced(letters), plain)
            or _boxed_letter(part, letters)
            or _last_letter(_confirmed(letters), plain)
            or _letter_alone(plain, letters)
        )
        if found is not None:
            return found
    return None if "\n" in stripped else _letter_at_start(_without_markup(stripped), letters)


def _boxed_letter(text: str, letters: str) -> str | None:
    for contents in reversed(all_boxed(text)):
        plain = _without_markup(contents)
        found = _letter_alone(plain, letters) or _letter_at_start(plain, letters)
        if found:
            return found
    return None


def _chosen_by_text(text: str, options: tuple[str, ...]) -> str | None:
    """Return the letter of the option whose text is boxed, announced or the last line."""
    stripped = text.strip()
    announced = re.finditer(r"(?i:answer)(?: is)?:? ([^\n]+)", _without_markup(stripped))
    candidates = [
        *reversed(all_boxed(stripped)),
        *reversed([match[1] for match in announced]),
        stripped.rpartition("\n")[2],
    ]
    words_of_options = [_words(option) for option in options]
    for candidate in candidates:
        words = _words(candidate)
        if words and words_of_options.count(words) == 1:
            return LETTERS[words_of_options.index(words)]
    return None


def _words(text: str) -> list[str]:
    return _without_markup(text).lower().strip().strip(".").split()


def _from_tuned(count: int | None) -> Extract:
    """Return a function for tuned models and `count` letters; None: a letter for each option."""

    def find(text: str, sample: Sample) -> list[str]:
        letters = LETTERS[: count or len(sample.options) or 4]
        found = _chosen_letter(text, letters) or _chosen_by_text(text, sample.options)
        return [found] if found else []

    return _reading(find)


def _from_base(count: int) -> Extract:
    """Return a function for base models and `count` letters, or more for more options."""

    def find(text: str, sample: Sample) -> list[str]:
        letters = LETTERS[: max(count, len(sample.options))]
        bracketed = re.compile(rf"\((?P<l>[{letters}{letters.lower()}])\)")
        found = _last_letter(_announced(letters), _without_markup(text)) or _last_letter(
            bracketed, text
        )
        return [found.upper()] if found else []

    return _reading(find, *NEXT_PROBLEM)


def pubmed_decision(text: str, sample: Sample) -> list[str]:
    """Return the last (yes), (no) or (maybe), else that of "the answer is yes"."""
    found = _DECISION.findall(text) or _ANNOUNCED_DECISION.findall(_without_markup(text))
    return [found[-1].lower()] if found else []


def table_answer(text: str, sample: Sample) -> list[str]:
    """Return the stated option, else the option mentioned last; a number without options."""
    if not sample.options:
        return stated_answers(text)[-1:]
    for stated in [*reversed(all_boxed(text)), *reversed(announced_answer(text))]:
        for option in sample.options:
            if _words(stated) == _words(option):
                return [option]
    position, _, option = max((_last_mention(text, o), len(o), o) for o in sample.options)
    return [option] if position >= 0 else []


def _last_mention(text: str, option: str) -> int:
    """Return the end of the last occurrence of the option's words, -1 without one."""
    words = r"\s+".join(re.escape(word) for word in option.lower().split())
    if not words:
        return -1
    ends = [match.end() for match in re.finditer(rf"(?<!\w){words}(?!\w)", text.lower())]
    return ends[-1] if ends else -1


_math = _reading(math_answers, *NEXT_PROBLEM)
_chinese_choice = _reading(chinese_choice, *NEXT_CHINESE_QUESTION)
EXTRACTION_FUNCTIONS: dict[str, Extract] = {
    "placeholder": program_result,
    "extract_last_single_answer": _reading(last_single, *NEXT_CHINESE),
    "extract_math_few_shot_cot_answer": _math,
    "extract_math_answer": _math,
    "extract_gsm_few_shot_cot_answer": _reading(gsm, *NEXT_QUESTION),
    "extract_olympiad_math_answer": _reading(olympiad, *NEXT_PROBLEM),
    "extract_ocwcourses_few_shot_answer": _reading(ocw, *NEXT_PROBLEM),
    "extract_scibench_sft_answer": _reading(last_single),
    "extract_olympic_arena_sft_answer": _reading(olympic_arena),
    "extract_cmath_few_shot_test": _reading(chinese_number, *NEXT_CHINESE_QUESTION),
    "extract_agieval_gaokao_mathcloze_few_shot_cot_test": _reading(
        chinese_blanks, *NEXT_CHINESE_QUESTION
    ),
    "extract_agieval_gaokao_mathqa_few_shot_cot_test": _chinese_choice,
    "extract_mmmlu_zh_math": _chinese_choice,
    "extract_mmlu_stem": _from_base(4),
    "extract_sat_few_shot_answer": _from_base(4),
    "extract_mathqa_few_shot_answer": _from_base(5),
    "extract_medqa": _from_base(5),
    "extract_super_gpqa": _from_base(10),
    "extract_super_gpqa_few_shot_answer": _from_base(10),
    "extract_mmlu_sft_answer": _from_tuned(4),
    "extract_gpqa_sft_answer": _from_tuned(4),
    "extract_two_choice_sft_answer": _from_tuned(2),
    "extract_three_choice_sft_answer": _from_tuned(3),
    "extract_five_choice_sft_answer": _from_tuned(5),
    "extract_adaptive_mc_sft_answer": _from_tuned(None),
    "extract_mmlu_pro_sft_answer": _from_tuned(10),
    "extract_super_gpqa_sft_answer": _from_tuned(10),
    "extract_pubmedqa": _reading(pubmed_decision, *NEXT_PROBLEM, "Question:"),
    "extract_tabmwp_few_shot_answer": _reading(table_answer, *NEXT_QUESTION),
}
