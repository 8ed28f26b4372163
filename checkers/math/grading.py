"""Grade answers: the first tier in this process, the second in worker processes.

gold, response ─▶ extract ─▶ first tier ─▶ Grade
                                 └▶ undecided ─▶ worker pool ─▶ Grade
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace

from gradebox.checkers.math.compare.exact import MAX_PLAIN_CHARS, harness_form, quick
from gradebox.checkers.math.extract.answer import extract_answer
from gradebox.checkers.math.extract.golds import (
    extract_gold,
    is_comparison,
    is_phrase,
    parts_for,
    phrases_of,
    value_for,
    yes_or_no_of,
)
from gradebox.checkers.math.guided.conditions import bound_for, unconditioned
from gradebox.checkers.math.guided.letters import letters_for
from gradebox.checkers.math.guided.several import several_for
from gradebox.checkers.math.normalise.rewrite import unicode_to_latex
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.statements.kinds import same_kind, says_same
from gradebox.checkers.math.workers.pool import Pool, shared_pool

TIMEOUT_S = 5.0
MAX_DECIMAL_BITS = 13_000  # Python refuses to write longer integers in decimal
_YES_NO = re.compile(r"\W*(?:\\text\w*\s*\{)?\s*(?:yes|no)\s*\}?\W*", re.I)
WINDOW = 1024  # pairs read ahead of the first undecided one


@dataclass(frozen=True)
class Explanation:
    """The two answers of a pair and how they were read.

    gold, answer                  the texts that were compared
    gold_reading, answer_reading  their structures in words; "" when a limit was reached
    """

    gold: str
    answer: str
    gold_reading: str
    answer_reading: str


@dataclass(frozen=True)
class Grade:
    """The verdict on one pair.

    equal   whether the answer is right; False at a time limit or a crash
    answer  the answer found in the response
    reason  text, exact, value, choice, statement, no answer, time limit, …: docs/math-answers.md
            explains each
    tier    1: exact text or exact rational numbers; 2: a worker process
    explanation   what was compared and how it was read, with `explain`; else None
    """

    equal: bool
    answer: str
    reason: str
    tier: int
    explanation: Explanation | None = None


def grade(
    gold: object,
    response: object,
    policy: str | Policy = "strict",
    timeout: float = TIMEOUT_S,
    pool: Pool | None = None,
    explain: bool = False,
) -> Grade:
    """Return whether a response, or a bare answer, gives the reference answer.

    gold and response are texts or numbers; `timeout` is CPU seconds for the second tier. With
    `explain` the grade says how both were read, which needs a worker for every pair.
    Raises ValueError for an unknown policy or a timeout that is not positive, SandboxError
    when no worker can be started. May be called from any thread.
    """
    rules = _checked_policy(policy, timeout)
    decided, left, right = _first_tier(_text(gold), _text(response), rules)
    if explain:
        return _explained(gold, response, rules, timeout, pool or shared_pool())
    return decided or _second_tier(left, right, rules, timeout, pool or shared_pool())


def _explained(gold: object, response: object, policy: Policy, timeout: float, pool: Pool) -> Grade:
    texts = _text(gold), _text(response)
    decided, left, right = _first_tier(*texts, policy)
    if decided is not None:  # the first tier may have compared whole texts
        left, right = _answers(*texts, policy)
    outcome = pool.judge(left, right, policy, timeout, explain=True)
    found = decided or Grade(outcome.equal, right, outcome.reason, 2)
    readings = outcome.readings if len(outcome.readings) == 2 else ("", "")
    return replace(found, explanation=Explanation(left, right, *readings))


def math_equal(
    gold: object, response: object, policy: str | Policy = "strict", timeout: float = TIMEOUT_S
) -> bool:
    """Return `grade(…).equal`."""
    return grade(gold, response, policy, timeout).equal


def grade_many(
    pairs: Iterable[tuple[object, object]],
    policy: str | Policy = "strict",
    timeout: float = TIMEOUT_S,
    pool: Pool | None = None,
) -> Iterator[Grade]:
    """Yield the grades of (gold, response) pairs in their order, in constant memory.

    The other arguments and the errors are those of `grade`.
    """
    rules = _checked_policy(policy, timeout)
    pool = pool or shared_pool()
    waiting: deque[Future[Grade]] = deque()
    threads = ThreadPoolExecutor(pool.size, thread_name_prefix="math-grade")
    try:
        for gold, response in pairs:
            decided, left, right = _first_tier(_text(gold), _text(response), rules)
            if decided is not None and not waiting:
                yield decided
                continue
            if decided is not None:
                waiting.append(Future())
                waiting[-1].set_result(decided)
            else:
                waiting.append(threads.submit(_second_tier, left, right, rules, timeout, pool))
            while waiting and (len(waiting) >= WINDOW or waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        threads.shutdown(cancel_futures=True)


def _checked_policy(policy: str | Policy, timeout: float) -> Policy:
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}: it must be more than 0 seconds")
    return get_policy(policy)


def _text(value: object) -> str:
    """Return a value as it would be written; "" for None."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value.bit_length() > MAX_DECIMAL_BITS:
        return hex(value)
    return "" if value is None else str(value)


def _first_tier(gold: str, response: str, policy: Policy) -> tuple[Grade | None, str, str]:
    """Return (grade or None, the gold's answer, the response's answer)."""
    equal = bool(gold.strip()) if gold == response else None
    if equal is None and len(gold) <= MAX_PLAIN_CHARS and len(response) <= MAX_PLAIN_CHARS:
        equal = quick(gold.strip(), response.strip(), policy)
    left, right = gold, response
    if equal is None:
        left, right = _answers(gold, response, policy)
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
        if (is_phrase(left) or is_comparison(left)) and (
            phrase := next((p for p in phrases if says_same(left, p)), "")
        ):
            return Grade(True, phrase, "text", 1), left, phrase
        if _YES_NO.fullmatch(left) and (said := yes_or_no_of(response)):
            right = said
        if not same_kind(left, right):
            right = next((p for p in phrases if same_kind(left, p)), right)
    if equal is None:
        return None, left, right
    return Grade(equal, right, "exact" if left and right else "no answer", 1), left, right


def _answers(gold: str, response: str, policy: Policy) -> tuple[str, str]:
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


def _second_tier(left: str, right: str, policy: Policy, timeout: float, pool: Pool) -> Grade:
    outcome = pool.judge(left, right, policy, timeout)
    return Grade(outcome.equal, right, outcome.reason, 2)
