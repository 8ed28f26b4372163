"""Compare the outputs of programs as the graders of other data sets do (`--judge reference`).

| judge            | equal when                                                                |
|------------------|---------------------------------------------------------------------------|
| lines-reference  | LiveCodeBench: the same number of lines, each stripped and equal, or both  |
|                  | numbers only and equal as decimals                                        |
| apps-reference   | APPS, TACO: any of: the stripped lines are equal; the lines that are not   |
|                  | empty are equal; every line is a number and close to the expected one,    |
|                  | 1e-8 + 1e-5 relatively; the sets of each line's words are equal as a set   |
|                  | of lines, also with all words as numbers rounded to 3 places              |
| tokens-reference | CodeContests: as many tokens, each equal in any ASCII case, or both        |
|                  | numbers less than 1e-5 apart as doubles, whole numbers too                 |
| numbers-reference | verl's prime_code, prime-rl: as apps-reference, without the sets          |
| plain-reference  | PrimeIntellect: the same number of lines, each stripped and equal          |
| fusion-reference | SandboxFusion's CommonOJ: the same number of lines, each stripped and      |
|                  | equal in any case, or both one number with a relative error below 1e-5     |
| stripped-reference | USACO, ICPC-Eval: the same text without the blanks at its ends          |
| exec-eval-reference | xCodeEval: the same number of lines, each stripped and equal; or as    |
|                  | many tokens, each equal, yes, no, true and false in any case, or both      |
|                  | numbers at most 1e-12 apart                                                |

`apps-reference` and `tokens-reference` pass wrong programs: the first ignores order and
repetition, the second takes 10**17 for 10**17 + 1.

Some tests have several right outputs. Their `expected` is a JSON list of these, and the judge is
one of `SEVERAL_JUDGES`: `one-of`, strict, or `one-of-exec-eval-reference`.
"""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Callable, Mapping
from decimal import Decimal, DecimalException
from functools import partial

from gradebox.checkers.check import Check, accept, reject
from gradebox.checkers.compare import first_difference
from gradebox.checkers.tokens import shown

_ACCEPTED = "as the data set's own grader compares"
_SPACE = re.compile(rb"[ \t\n\v\f\r]+")
_NUMBER = re.compile(rb"[+-]?(?:\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf(?:inity)?|nan)")


def _near_relatively(a: str, b: str) -> bool:
    if a.lower() == b.lower():
        return True
    try:
        found, wanted = float(a), float(b)
    except ValueError:
        return False
    return abs(found - wanted) / max(abs(wanted), 1e-10) < 1e-5


def _never(_found: str, _wanted: str) -> bool:
    return False


def same_lines(
    output: bytes, expected: bytes, *, same: Callable[[str, str], bool] = _never
) -> Check:
    """Compare two texts line by line, without the blanks at the ends of lines.

    same  whether two lines that differ count as equal
    """
    found, wanted = _lines(output), _lines(expected)
    if len(found) != len(wanted):
        return reject(f"{len(found)} lines, expected {len(wanted)}")
    for number, (a, b) in enumerate(zip(found, wanted, strict=True), start=1):
        if a != b and not same(a, b):
            return reject(f"line {number} is {reprlib.repr(a)}, expected {reprlib.repr(b)}")
    return accept("the same lines")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def _lines(data: bytes) -> list[str]:
    return [line.strip() for line in _text(data).strip().split("\n")]


def _same_decimals(a: str, b: str) -> bool:
    try:
        return [Decimal(word) for word in a.split()] == [Decimal(word) for word in b.split()]
    except (DecimalException, ValueError):
        return False


def same_by_cascade(output: bytes, expected: bytes, *, sets: bool = True) -> Check:
    """Compare two texts as the graders of APPS and TACO do; verl's copy never compares the sets."""
    found = [line.strip() for line in _text(output).strip().splitlines()]
    wanted = [line.strip() for line in _text(expected).strip().split("\n")]
    if found == wanted:
        return accept(_ACCEPTED)
    found, wanted = list(filter(None, found)), list(filter(None, wanted))
    if found == wanted or _close(found, wanted):
        return accept(_ACCEPTED)
    if not sets:
        return reject("the lines differ, and are not close numbers")
    words = [{frozenset(line.split()) for line in lines} for lines in (found, wanted)]
    if words[0] == words[1]:
        return accept(f"{_ACCEPTED}: the same words, in any order")
    try:
        rounded = [{frozenset(round(float(w), 3) for w in line) for line in one} for one in words]
        if rounded[0] == rounded[1]:
            return accept(f"{_ACCEPTED}: the same numbers, in any order")
    except (ValueError, OverflowError):
        pass
    return reject("the lines differ, and so do the sets of their words")


def _close(found: list[str], wanted: list[str]) -> bool:
    if len(found) != len(wanted):
        return False
    try:
        pairs = [(float(a), float(b)) for a, b in zip(found, wanted, strict=True)]
    except ValueError:
        return False
    return all(
        a == b or (math.isfinite(b) and abs(a - b) <= 1e-8 + 1e-5 * abs(b)) for a, b in pairs
    )


def same_tokens(output: bytes, expected: bytes) -> Check:
    """Compare two texts as the grader of CodeContests does."""
    found, wanted = ([t for t in _SPACE.split(data.lower()) if t] for data in (output, expected))
    if len(found) != len(wanted):
        return reject(f"{len(found)} tokens, expected {len(wanted)}")
    for number, (a, b) in enumerate(zip(found, wanted, strict=True), start=1):
        if a != b and not _near(a, b):
            return reject(f"token {number} is '{shown(a)}', expected '{shown(b)}'")
    return accept("the same tokens")


def _near(a: bytes, b: bytes) -> bool:
    if not (_NUMBER.fullmatch(a) and _NUMBER.fullmatch(b)):
        return False
    return abs(float(a) - float(b)) < 1e-5


def same_stripped(output: bytes, expected: bytes) -> Check:
    """Compare two texts as USACO's grader does."""
    same = _text(output).strip() == _text(expected).strip()
    return accept("the same text") if same else reject("the texts differ, blanks included")


def same_to_exec_eval(output: bytes, expected: bytes) -> Check:
    """Compare two texts as xCodeEval's ExecEval does."""
    by_lines = same_lines(output, expected)
    found, wanted = _text(output).split(), _text(expected).split()
    if by_lines.accepted or len(found) != len(wanted):
        return by_lines
    same = all(a == b or _same_to_exec_eval(a, b) for a, b in zip(found, wanted, strict=True))
    return accept(_ACCEPTED) if same else by_lines


def _same_to_exec_eval(a: str, b: str) -> bool:
    try:
        return abs(Decimal(a) - Decimal(b)) <= Decimal("1e-12")
    except (DecimalException, ValueError):
        return a.lower() == b.lower() and a.lower() in ("yes", "no", "true", "false")


OUTPUT_JUDGES: Mapping[str, Callable[[bytes, bytes], Check]] = {
    "lines-reference": partial(same_lines, same=_same_decimals),
    "apps-reference": same_by_cascade,
    "numbers-reference": partial(same_by_cascade, sets=False),
    "tokens-reference": same_tokens,
    "plain-reference": same_lines,
    "fusion-reference": partial(same_lines, same=_near_relatively),
    "stripped-reference": same_stripped,
    "exec-eval-reference": same_to_exec_eval,
}


def same_tokens_strictly(output: bytes, expected: bytes) -> Check:
    """Compare two texts as problems without a checker are."""
    why = first_difference(output, expected)
    return reject(why) if why else accept("the expected output")


def one_of(same: Callable[[bytes, bytes], Check], output: bytes, expected: bytes) -> Check:
    """Compare a text with each of several right ones, a JSON list, until one is the same."""
    for right in json.loads(expected):
        found = same(output, right.encode("utf-8", "surrogateescape"))
        if found.accepted:
            break
    return found


SEVERAL_JUDGES: Mapping[str, Callable[[bytes, bytes], Check]] = {
    "one-of": partial(one_of, same_tokens_strictly),
    "one-of-exec-eval-reference": partial(one_of, same_to_exec_eval),
}
