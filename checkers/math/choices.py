"""Judge an answer to a question with choices: the letter, its text and its value are one answer.

    reference: B, or what B says ─▶ its letter ─▶ the response states a letter? it decides
                                                └▶ else what B says, unless another says the same

Runs in a worker, under its limits.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import TypeGuard

Verdict = tuple[bool, str, list[str]]  # equal, its reason, the readings of `Pool.judge`
SameTexts = Callable[[str, str], bool]
MAX_CHOICES = 26
MAX_TEXT = 2_000  # characters of a choice


def lettered(choices: object) -> dict[str, str]:
    """Return the texts of choices by their letters.

    choices  texts in the order A, B, …; or texts by letter; or {"label": [...], "text": [...]}.
             None and empty ones are none

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

    judge  compares it with a reference answer
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
