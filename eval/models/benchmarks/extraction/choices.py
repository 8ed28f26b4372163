"""Extract the option that a model chose: its letter, its text, or yes, no, maybe.

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
from gradebox.eval.models.benchmarks.extraction.free_answers import (
    NEXT_PROBLEM,
    NEXT_QUESTION,
    stated_answers,
)
from gradebox.eval.models.benchmarks.extraction.texts import (
    after_thinking,
    announced_answer,
    before,
    last_match,
)
from gradebox.eval.models.benchmarks.sample import LETTERS, Extract, Sample

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

    def extract(output: str, sample: Sample) -> list[str]:
        text = after_thinking(output)
        letters = LETTERS[: count or len(sample.options) or 4]
        found = _chosen_letter(text, letters) or _chosen_by_text(text, sample.options)
        return [found] if found else []

    return extract


def _from_base(count: int) -> Extract:
    """Return a function for base models and `count` letters, or more for more options."""

    def extract(output: str, sample: Sample) -> list[str]:
        letters = LETTERS[: max(count, len(sample.options))]
        bracketed = re.compile(rf"\((?P<l>[{letters}{letters.lower()}])\)")
        text = before(after_thinking(output), *NEXT_PROBLEM)
        found = _last_letter(_announced(letters), _without_markup(text)) or _last_letter(
            bracketed, text
        )
        return [found.upper()] if found else []

    return extract


def pubmed_decision(output: str, sample: Sample) -> list[str]:
    """Return the last (yes), (no) or (maybe), else that of "the answer is yes"."""
    text = before(after_thinking(output), *NEXT_PROBLEM, "Question:")
    found = _DECISION.findall(text) or _ANNOUNCED_DECISION.findall(_without_markup(text))
    return [found[-1].lower()] if found else []


def table_answer(output: str, sample: Sample) -> list[str]:
    """Return the stated option, else the option mentioned last; a number without options."""
    text = before(after_thinking(output), *NEXT_QUESTION)
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


EXTRACTION_FUNCTIONS: dict[str, Extract] = {
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
    "extract_pubmedqa": pubmed_decision,
    "extract_tabmwp_few_shot_answer": table_answer,
}
