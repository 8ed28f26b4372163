"""Find the answers of a reference answer and of a response; compare texts and plain numbers.

A response is hostile and passes through some hundred patterns: this runs in workers, except for
texts that are short and plain (`quick`). With choices, the letter, its text and its value are one
answer: a letter that the response states decides, else what the choice says (`judge_choice`).
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

from gradebox.checkers.math.compare.exact import MAX_PLAIN_CHARS, harness_form, quick
from gradebox.checkers.math.compare.words import ends_with, is_worded
from gradebox.checkers.math.extract.answer import extract_answer
from gradebox.checkers.math.extract.guided import answer_for, extract_gold, last_sentence
from gradebox.checkers.math.policy import Policy
from gradebox.checkers.math.read.normalise import normalise, unicode_to_latex


def at_once(gold: str, response: str, policy: Policy) -> bool | None:
    """Return the verdict on the same text twice or two plain numbers, None for anything else."""
    if gold == response:
        return bool(gold.strip())
    if max(len(gold), len(response)) > MAX_PLAIN_CHARS:
        return None
    return quick(gold.strip(), response.strip(), policy)


def first_tier(gold: str, response: str, policy: Policy) -> tuple[bool | None, str, str, str]:
    """Return (verdict or None, its reason, the gold's answer, the response's answer)."""
    equal = at_once(gold, response, policy)
    left, right = gold, response
    if equal is None:
        left, right = answers(gold, response, policy)
        if policy.ascii_only and not right.isascii():
            right = unicode_to_latex(right).encode("ascii", "ignore").decode()
        if not left or not right:
            equal = False
        elif policy.text_only:
            equal = harness_form(left) == harness_form(right)
        else:
            equal = quick(left, right, policy)
    worded = equal is None and not policy.strict_extract and is_worded(normalise(left))
    if worded and ends_with(left, last_sentence(response)):
        return True, "text", left, left
    return equal, "exact" if left and right else "no answer", left, right


def answers(gold: str, response: str, policy: Policy) -> tuple[str, str]:
    """Return the answers of a reference answer and of a response: what is compared."""
    left = extract_gold(gold)
    right = extract_answer(response, policy.strict_extract)
    return left, answer_for(left, right, response, policy.strict_extract)


# ---- questions with choices ----

Verdict = tuple[bool, str, list[str]]  # equal, its reason, the readings of `Pool.judge`
SameTexts = Callable[[str, str], bool]
MAX_CHOICES = 26
MAX_TEXT = 2_000  # characters of a choice


def lettered(choices: object) -> dict[str, str]:
    """Return the texts of choices by their letters.

    choices  texts in the order A, B, …; or texts by letter; or {"label": [...], "text": [...]}.
             None or empty: a question without choices

    Raises ValueError for anything else.
    """
    if not choices:
        return {}
    if isinstance(choices, Mapping) and set(choices) == {"label", "text"}:
        labels, texts = choices["label"], choices["text"]
        paired = _is_list(labels) and _is_list(texts) and len(labels) == len(texts)
        choices = dict(zip(labels, texts, strict=True)) if paired else None
    elif _is_list(choices):
        names = string.ascii_uppercase[: len(choices)]
        choices = dict(zip(names, choices, strict=True)) if len(choices) == len(names) else None
    if not isinstance(choices, Mapping) or not 0 < len(choices) <= MAX_CHOICES:
        raise ValueError(f"choices are no list of 1 to {MAX_CHOICES} texts, nor texts by letter")
    found = {str(letter).strip(" ()."): str(text) for letter, text in choices.items()}
    if bad := [letter for letter in found if not (letter.isascii() and letter.isupper())]:
        raise ValueError(f"choice {bad[0]!r} has no capital letter as its name")
    if all(re.match(rf"\(?{letter}\s?[).:]\s", text + " ") for letter, text in found.items()):
        found = {
            letter: re.split(r"[).:]\s*", text, maxsplit=1)[1] for letter, text in found.items()
        }
    return {letter: text[:MAX_TEXT] for letter, text in found.items()}


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, str)


def judge_choice(
    gold: str, choices: Mapping[str, str], judge: Callable[[str], Verdict], same: SameTexts
) -> Verdict:
    """Return the verdict on a response.

    judge  compares the response with a reference answer
    same   whether two bare answers are equal
    """
    letters = [gold.strip(" ().")] if gold.strip(" ().") in choices else []
    letters = letters or [name for name, text in choices.items() if same(gold, text)]
    if len(letters) != 1:  # the reference is none of the choices, or several
        return judge(gold)
    letter, text = letters[0], choices[letters[0]]
    verdict = judge(letter)
    if verdict[0] or verdict[1] == "choice":
        return verdict
    by_text = judge(text)
    alike = [
        name for name in choices if name != letter and by_text[0] and same(text, choices[name])
    ]
    if alike:
        why = f"not comparable: the choices {letter} and {alike[0]} say the same; give the letter"
        return False, why, by_text[2]
    return by_text
