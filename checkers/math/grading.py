"""Grade answers: equal texts and plain numbers in this process, all others in worker processes.

gold, response ─▶ the same, or two plain numbers? ─ yes ─▶ Grade
                   └▶ no ─▶ worker pool: extract ─▶ first tier ─▶ second tier ─▶ Grade
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from gradebox.checkers.math.first_tier import at_once, lettered
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.workers.answers import Pool
from gradebox.checkers.workers.pool import shared_pool

TIMEOUT_S = 5.0
MAX_DECIMAL_BITS = 13_000  # Python refuses to write longer integers in decimal
WINDOW = 1024  # pairs read ahead of the first undecided one

# equal      the answer is right under the policy
# different  both answers were read, compared, and differ
# not read   the rules give no verdict: one of the two, or a part of it, is not read, or no
#            comparison is defined or decides. The answer may be right
# no answer  the response states none
# cut        it states none and ends within a sentence, a box or its thoughts
# timed out  the comparison met a limit: time, memory, or its process died
GradeOutcome = Literal["equal", "different", "not read", "no answer", "cut", "timed out"]
OUTCOMES: tuple[GradeOutcome, ...] = get_args(GradeOutcome)

_OF_REASON: dict[str, GradeOutcome] = {  # the start of the reason of a reject; else different
    "no answer": "no answer",
    "empty": "no answer",
    "cut": "cut",
    "not read": "not read",
    "not comparable": "not read",
    "undecided": "not read",
    "too long": "not read",
    "nested": "not read",
    "error": "not read",
    "time limit": "timed out",
    "memory limit": "timed out",
    "crashed": "timed out",
}


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
    reason  text, exact, value, choice, no answer, time limit, …: docs/math-answers.md
            explains each
    tier    1: exact text or exact rational numbers; 2: read as mathematics
    explanation   what was compared and how it was read, with `explain`; else None
    """

    equal: bool
    answer: str
    reason: str
    tier: int
    explanation: Explanation | None = None

    @property
    def outcome(self) -> GradeOutcome:
        """Return the kind of verdict: equal, different, not read, no answer, cut, timed out."""
        if self.equal:
            return "equal"
        found = (o for start, o in _OF_REASON.items() if self.reason.startswith(start))
        return next(found, "different")


@dataclass(frozen=True)
class AnswerPair:
    """A reference answer and a response, with what differs from the other pairs.

    policy   instead of the policy of all; None: that one
    choices  those of the question, see `grade`
    """

    gold: object
    response: object
    policy: str | Policy | None = None
    choices: object = None


def grade(
    gold: object,
    response: object,
    policy: str | Policy = "strict",
    timeout: float = TIMEOUT_S,
    pool: Pool | None = None,
    explain: bool = False,
    choices: object = None,
) -> Grade:
    """Return whether a response, or a bare answer, gives the reference answer.

    gold and response are texts or numbers; `timeout` is CPU seconds for the second tier. With
    `explain` the grade says how both were read, which needs a worker for every pair. With
    `choices` (texts in the order A, B, …, or texts by letter), the letter, the text and the value
    of a choice are one answer.
    Raises ValueError for an unknown policy or a timeout that is not positive, SandboxError
    when no worker can be started. May be called from any thread.
    """
    task = _task(AnswerPair(gold, response, policy, choices), get_policy("strict"))
    _check_timeout(timeout)
    decided = None if explain else _at_once(task)
    return decided or _ask(task, timeout, pool or shared_pool(Pool), explain)


def math_equal(
    gold: object, response: object, policy: str | Policy = "strict", timeout: float = TIMEOUT_S
) -> bool:
    """Return `grade(…).equal`."""
    return grade(gold, response, policy, timeout).equal


def grade_many(
    pairs: Iterable[tuple[object, object] | AnswerPair],
    policy: str | Policy = "strict",
    timeout: float = TIMEOUT_S,
    pool: Pool | None = None,
) -> Iterator[Grade]:
    """Yield the grades of (gold, response) or AnswerPair in their order, in constant memory.

    The other arguments and the errors are those of `grade`.
    """
    rules = get_policy(policy)
    _check_timeout(timeout)
    pool = pool or shared_pool(Pool)
    waiting: deque[Future[Grade]] = deque()
    threads = ThreadPoolExecutor(pool.size, thread_name_prefix="math-grade")
    try:
        for pair in pairs:
            task = _task(pair if isinstance(pair, AnswerPair) else AnswerPair(*pair), rules)
            decided = _at_once(task)
            if decided is not None and not waiting:
                yield decided
                continue
            if decided is not None:
                waiting.append(Future())
                waiting[-1].set_result(decided)
            else:
                waiting.append(threads.submit(_ask, task, timeout, pool))
            while waiting and (len(waiting) >= WINDOW or waiting[0].done()):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        threads.shutdown(cancel_futures=True)


class _Task(NamedTuple):
    """What a worker is asked."""

    gold: str
    response: str
    policy: Policy
    choices: dict[str, str]


def _task(pair: AnswerPair, policy: Policy) -> _Task:
    rules = policy if pair.policy is None else get_policy(pair.policy)
    choices = lettered(pair.choices) if pair.choices else {}
    return _Task(_text(pair.gold), _text(pair.response), rules, choices)


def _check_timeout(timeout: float) -> None:
    if not timeout > 0:
        raise ValueError(f"timeout is {timeout}: it must be more than 0 seconds")


def _text(value: object) -> str:
    """Return a value as it would be written; "" for None."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and value.bit_length() > MAX_DECIMAL_BITS:
        return hex(value)
    return "" if value is None else str(value)


def _at_once(task: _Task) -> Grade | None:
    gold, response, policy, choices = task
    equal = at_once(gold, response, policy)
    if equal is None or (choices and not equal):
        return None
    return Grade(equal, response, "exact" if gold and response else "no answer", 1)


def _ask(task: _Task, timeout: float, pool: Pool, explain: bool = False) -> Grade:
    gold, response, policy, choices = task
    outcome = pool.judge(gold, response, policy, timeout, explain, choices)
    if len(outcome.readings) != 6:  # it met a limit
        return Grade(False, "", outcome.reason, 2, Explanation("", "", "", "") if explain else None)
    tier, answer, *read = outcome.readings
    explanation = Explanation(*read) if explain else None
    return Grade(outcome.equal, answer, outcome.reason, int(tier), explanation)
