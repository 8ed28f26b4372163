"""Grades answers: the first tier here, the second in the pool.

gold, response ─▶ extract ─▶ first tier ─▶ (undecided) pool ─▶ Grade
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from checkers.math import pool as pools
from checkers.math.exact import first_tier
from checkers.math.policy import Policy, find_policy

TIMEOUT_S = 5.0
LONGEST_INT_BITS = 13_000  # Python writes longer integers in decimal only on request
WINDOW = 1024  # pairs between the first undecided one and the one being read


@dataclass(frozen=True)
class Grade:
    """What was found of one pair.

    equal   the verdict; a time limit or a crash is never equal
    answer  the answer that was taken out of the response
    reason  text, exact, value, choice, engine, no answer, time limit, memory limit, …
    tier    1: exact text or exact rational numbers; 2: a worker
    """

    equal: bool
    answer: str
    reason: str
    tier: int


def _text(value: object) -> str:
    """A value as the text it would be written as; None is no answer."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value.bit_length() > LONGEST_INT_BITS:
        return hex(value)
    return "" if value is None else str(value)


def _first(gold: str, response: str, policy: Policy) -> tuple[Grade | None, str, str]:
    verdict, left, right = first_tier(gold, response, policy)
    if verdict is None:
        return None, left, right
    reason = "exact" if left and right else "no answer"
    return Grade(verdict, right, reason, 1), left, right


def grade(
    gold: object,
    response: object,
    policy: str | Policy = "strict",
    timeout: float = TIMEOUT_S,
    pool: pools.Pool | None = None,
) -> Grade:
    """Whether a response (or a bare answer) gives the reference answer.

    gold and response are texts or numbers; `timeout` is CPU seconds for the second tier.
    Raises ValueError for an unknown policy or a timeout that is not positive, SandboxError
    when no worker can be started. May be called from any thread.
    """
    rules = find_policy(policy)
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}: it must be more than 0 seconds")
    decided, left, right = _first(_text(gold), _text(response), rules)
    if decided is not None:
        return decided
    outcome = (pool or pools.shared()).judge(left, right, rules, timeout)
    return Grade(outcome.equal, right, outcome.reason, 2)


def math_equal(
    gold: object, response: object, policy: str | Policy = "strict", timeout: float = TIMEOUT_S
) -> bool:
    """`grade(…).equal`."""
    return grade(gold, response, policy, timeout).equal


def grade_many(
    pairs: Iterable[tuple[object, object]],
    policy: str | Policy = "strict",
    timeout: float = TIMEOUT_S,
    pool: pools.Pool | None = None,
) -> Iterator[Grade]:
    """Grades of many (gold, response) pairs, in their order, in flat memory."""
    rules = find_policy(policy)
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}: it must be more than 0 seconds")
    used = pool or pools.shared()

    def second(left: str, right: str) -> Grade:
        outcome = used.judge(left, right, rules, timeout)
        return Grade(outcome.equal, right, outcome.reason, 2)

    waiting: deque[Grade | Future[Grade]] = deque()
    threads = ThreadPoolExecutor(used.size, thread_name_prefix="math-grade")
    try:
        for gold, response in pairs:
            decided, left, right = _first(_text(gold), _text(response), rules)
            if decided is not None and not waiting:
                yield decided
                continue
            waiting.append(decided or threads.submit(second, left, right))
            while waiting and (len(waiting) >= WINDOW or _done(waiting[0])):
                yield _result(waiting.popleft())
        while waiting:
            yield _result(waiting.popleft())
    finally:
        threads.shutdown(cancel_futures=True)


def _done(entry: Grade | Future[Grade]) -> bool:
    return isinstance(entry, Grade) or entry.done()


def _result(entry: Grade | Future[Grade]) -> Grade:
    return entry if isinstance(entry, Grade) else entry.result()
