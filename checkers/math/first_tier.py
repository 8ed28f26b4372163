"""Find the answers of a reference answer and of a response; compare texts and plain numbers.

A response is hostile and passes through some hundred patterns: this runs in workers, except for
texts that are short and plain (`quick`).
"""

from __future__ import annotations

from gradebox.checkers.math.compare.exact import MAX_PLAIN_CHARS, harness_form, quick
from gradebox.checkers.math.compare.words import same_kind, says_same
from gradebox.checkers.math.extract.answer import extract_answer
from gradebox.checkers.math.extract.guided import (
    bound_for,
    extract_gold,
    letters_for,
    may_be_worded,
    parts_for,
    phrases_of,
    several_for,
    unconditioned,
    value_for,
)
from gradebox.checkers.math.policy import Policy
from gradebox.checkers.math.read.normalise import unicode_to_latex


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
    if equal is None and not policy.strict_extract:
        phrases = phrases_of(response)
        if may_be_worded(left) and (phrase := next((p for p in phrases if says_same(left, p)), "")):
            return True, "text", left, phrase
        if not same_kind(left, right):
            right = next((p for p in phrases if same_kind(left, p)), right)
    return equal, "exact" if left and right else "no answer", left, right


def answers(gold: str, response: str, policy: Policy) -> tuple[str, str]:
    """Return the answers of a reference answer and of a response: what is compared."""
    left = extract_gold(gold)
    right = extract_answer(response, policy.strict_extract, left)
    text = right if policy.strict_extract else response
    return left, text and (
        parts_for(left, text)
        or several_for(left, right, text)
        or letters_for(left, right, text)
        or bound_for(left, right, text)
        or value_for(left, unconditioned(left, right), response)
    )
