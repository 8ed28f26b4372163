"""The reward of one record.

| what became of a completion                          | pass_fail | partial | weighted_sum      |
|------------------------------------------------------|-----------|---------|-------------------|
| every test passed                                    | 1         | 1       | 1.1               |
| a test failed (wrong, too slow, crash, unclear …)    | 0         | share   | 0.1 × share       |
| does not compile                                     | -0.1      | -0.1    | -0.1              |
| no program in the requested language                 | -1        | -1      | -1                |
| no tests, unusable problem, infrastructure error     | None      | None    | None              |

These are open-r1's values (weighted_sum = pass_fail + 0.1 × share of the tests passed). Trainers
leave a completion with None out of the batch, whereas 0 would teach that it was wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, get_args

Mode = Literal["pass_fail", "partial", "weighted_sum"]
MODES: tuple[Mode, ...] = get_args(Mode)
Reward = float | None

PASSED, FAILED = 1.0, 0.0
COMPILE_ERROR = -0.1
NO_CODE = -1.0
SHARE_WEIGHT = 0.1
DEFAULT_MODE: Mode = "weighted_sum"
_NOT_COUNTED = ("skipped_large_input", "budget_exceeded", "unsupported_interactive")


def reward_of(record: Mapping[str, Any], mode: Mode = DEFAULT_MODE) -> Reward:
    """Return the reward of one record by the table above."""
    if record["status"] not in ("passed", "failed"):
        return None
    if record["verdict"] is None:
        return NO_CODE
    if record["verdict"] == "CE":
        return COMPILE_ERROR
    all_passed = PASSED if record["status"] == "passed" else FAILED
    if mode == "pass_fail":
        return all_passed
    share = share_of(record["details"])
    if share is None:
        return None
    return share if mode == "partial" else all_passed + SHARE_WEIGHT * share


def share_of(cases: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the share of tests passed; None after an infrastructure error or without tests.

    Tests that were not run because an earlier one failed count as not passed.
    """
    verdicts = [c["verdict"] for c in cases if c["reason"] not in _NOT_COUNTED]
    if not verdicts or "ER" in verdicts:
        return None
    return verdicts.count("AC") / len(verdicts)


TAIL = 64


def answer_of(query: str, prompt: str) -> str:
    """Return what follows the prompt.

    A long prompt may have been cut at its start: then its last 64 characters count. A query in
    which they do not occur either is returned whole.
    """
    for start in (prompt, prompt[-TAIL:]):
        at = query.find(start)
        if at >= 0:
            query = query[at + len(start) :]
            break
    return query
