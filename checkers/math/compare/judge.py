"""Decide whether two answers are the same. Runs in a worker, under its limits.

normalise ─▶ equal text ─▶ choice letters ─▶ words ─▶ read into structures ─▶ Comparer ─▶ verdict
                                                                └▶ unreadable: rejected
"""

from __future__ import annotations

import re
from dataclasses import replace

from gradebox.checkers.math.compare.comparer import Comparer
from gradebox.checkers.math.compare.describe import (
    describe,
    of_sides,
    reason_of_reject,
    unread_sides,
)
from gradebox.checkers.math.compare.exact import harness_form, has_float
from gradebox.checkers.math.compare.numeric import Undecided
from gradebox.checkers.math.compare.rounding import Roundings
from gradebox.checkers.math.compare.words import (
    compare_choices,
    is_worded,
    same_words,
    without_label,
)
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.read.labels import are_labels, read_labels, same_labels
from gradebox.checkers.math.read.normalise import normalise, plain_words
from gradebox.checkers.math.read.reader import read_answer
from gradebox.checkers.math.read.split import split_top, without_aside
from gradebox.checkers.math.read.tables import MAX_CHARS, strip_marks
from gradebox.checkers.math.read.values import ParseError, TooLong, Words

_DECIMAL_COMMA = re.compile(r"([-+]?(?:0|\d+(?!,\d{3}(?!\d)))),(\d+)([^\d,]*)")
_LONG_DECIMAL_COMMA = re.compile(  # not `2,5`, which is a list
    r"[-+]?(?:0,\d|\d+,(?!\d{3}(?!\d))\d\d)"
)
_DECIMAL = re.compile(r"[-+＄€£]?\s?\d*\.\d+(?!\d)[^\d]*$")
_SCALE_LETTER = re.compile(r"([-+]?[＄€£]?\s?\d+(?:\.\d+)?)\s?(k|K|M|B|bn|mn)")
_SCALES = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion"}
_PLAIN_NUMBER = re.compile(r"[-+]?[＄€£]?\s?\d[\d,.]{3,}")
_BASED = re.compile(r"([0-9A-Z]{2,40})\s*_\s*\{?\s*(\d{1,2})\s*\}?")
_RECURRING = re.compile(r"[\d.]\s*\\(?:overline|bar|dot)|\d(?:\.\.\.|…|\\l?dots)|\(\d+\)$")
_DECIMAL_LOG = re.compile(r"\\log\s*_\s*\{?\s*10\s*\}?(?!\d)|\\lg(?![A-Za-z])")
_BARE_LOG = re.compile(r"\\?(?<![A-Za-z])log(?![A-Za-z_\d])")
_SPELLINGS = re.compile(r"\\?#\s?\\?#")  # between the spellings of a gold: `\frac{3}{10} ## 0.3`
_SEMICOLON = re.compile(r"\s*;\s*")
_AGAIN = re.compile(  # said twice: `x<-7`, *i.e.* `(-\infty,-7)`
    r"[\s,;(]+(?:i\.\s?e\.|that\s+is|in\s+other\s+words|equivalently|in\s+interval\s+notation)[\s,:]*"
)
_IN_BRACKETS = re.compile(r"([^()=,]*\d[^()=,]*)\s\((?:or\s+)?([^()=,]*\d[^()=,]*)\)")
_COMPOUND = re.compile(r"\d{0,2}(?:[A-Z][a-z]?\d{0,2}|[()]\d{0,2})+(?:\^?\d?[+-])?")
_LOOSE_SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")  # not between two words or numbers
_SAID = re.compile(r"(?<![A-Za-z\\])(?:is|are|has|have|gets?|wins?)(?![A-Za-z])|[A-Za-z]:\s")
_PRELOADED_PAIRS = (
    ("2x+1", "1+2x"),
    (r"\sin^2 x+\cos^2 x", "1"),
    (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"),
    (r"[1,2)", r"1 \le x < 2"),
    (r"y=2x+1", r"2x-y+1=0"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)"),
    (r"15\text{ cm}^2", "15"),
    (r"\sum_{n=1}^{10} n", "55"),
    (r"\int_0^1 x e^x dx", "1"),
    (r"\int \frac{dx}{1+x^2}", r"\arctan x+C"),
    (r"\int_0^\infty e^{-x^2} dx", r"\frac{\sqrt{\pi}}{2}"),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1"),
    (r"\sqrt{7+4\sqrt{3}}", r"2+\sqrt{3}"),
    ("x>2", r"(2,\infty)"),
    ("|x|<3", "(-3,3)"),
    ("x^2>4", "x<-2 or x>2"),
    (r"\frac{x+1}{x-2}\ge 0", r"x\le -1 \text{ or } x>2"),
    (r"\int_0^1 \ln(1+x) dx", r"2\ln 2-1"),
)


def judge(gold: str, answer: str, policy: Policy) -> tuple[bool, str]:
    """Return (equal, reason); docs/math-answers.md lists the reasons.

    What is equal exactly is equal under `rounded`. Raises nothing for anything in the texts, but
    the worker's limits may end it.
    """
    if policy.rounded:
        found = _judge(gold, answer, replace(policy, rounded=False, rel_tol=0.0, abs_tol=0.0))
        if found[0]:
            return found
    return _judge(gold, answer, policy)


def _judge(gold: str, answer: str, policy: Policy) -> tuple[bool, str]:
    if policy.text_only:
        return harness_form(gold) == harness_form(answer), "text"
    if len(gold) > MAX_CHARS or len(answer) > MAX_CHARS:
        return gold.strip() == answer.strip(), "too long to read"
    if len(spellings := _SPELLINGS.split(gold)) > 1:
        found = [_judge(spelling.strip(" $"), answer, policy) for spelling in spellings]
        return next((verdict for verdict in found if verdict[0]), found[0])
    gold, answer = without_aside(gold), without_aside(answer)
    left, right = normalise(gold), normalise(answer)
    if not left or not right:
        return False, "empty"
    if _LOOSE_SPACE.sub("", left) == _LOOSE_SPACE.sub("", right):
        return True, "text"
    said = _said_again(left, policy), _said_again(right, policy)
    if len(said[0]) + len(said[1]) > 2:
        return _judge_said_twice(*said, policy)
    letters = compare_choices(left, right)
    if letters is not None:
        return letters, "choice"
    if _same_words(left, right) or _same_compound(left, right):
        return True, "text"
    names = read_labels(left), read_labels(right)
    if any(map(are_labels, names)) or _SAID.search(left + right):
        named = same_labels(*names, lambda a, b: _judge(a, b, policy)[0])
        if named is not None:
            return named, "statement"
    try:
        return _judge_values(*_alike(left, right), gold + answer, policy)
    except TooLong as e:
        return False, f"not read: {e}"
    except Undecided:
        return False, "undecided"
    except (AttributeError, TypeError, NotImplementedError):
        return False, "not comparable: the answers are of different kinds"
    except (ValueError, OverflowError) as e:  # OverflowError: a float of more than 300 digits
        if isinstance(read_answer(left), Words) and isinstance(read_answer(right), Words):
            return False, "text"
        why = e if isinstance(e, ParseError) else f"{type(e).__name__}: {e}"
        return False, f"not read{of_sides(unread_sides(left, right))}: {why}"


def _alike(left: str, right: str) -> tuple[str, str]:
    """Return two normalised answers, each in the notation of the other where it may be so."""
    left, right = without_label(left, right), without_label(right, left)
    left, right = _with_scale(left, right), _with_scale(right, left)
    right = _with_base(left, _with_decimal_point(right, left))
    if _LONG_DECIMAL_COMMA.match(left):
        left = _with_decimal_point(left, right)
    return _with_decimal_log(left, right), _with_decimal_log(right, left)


def _judge_values(left: str, right: str, texts: str, policy: Policy) -> tuple[bool, str]:
    comparer = Comparer(
        policy,
        has_float(left) or has_float(right),
        may_round=not _RECURRING.search(texts),
        ordered=_has_blanks(left),
        roundings=Roundings(left, right) if policy.rounded else None,
    )
    equal = comparer.equal(read_answer(left), read_answer(right))
    return equal, "value" if equal else reason_of_reject(left, right, comparer.equal)


def _said_again(text: str, policy: Policy) -> list[str]:
    """Return both parts of `x<-7, i.e. (-\\infty,-7)` and of `2 km (2000 m)`; else the text."""
    parts = [p.strip(" ,;") for p in _AGAIN.split(strip_marks(text)) if p.strip(" ,;")]
    m = _IN_BRACKETS.fullmatch(strip_marks(text)) if len(text) < 100 else None
    if m and _judge(m[1], m[2], policy)[0]:
        return [m[1], m[2]]
    return parts if len(parts) > 1 else [text]


def _judge_said_twice(gold: list[str], answer: list[str], policy: Policy) -> tuple[bool, str]:
    """Compare answers that say one thing twice: none of what can be read may contradict."""
    found = [[_judge(g, a, policy) for g in gold] for a in answer]
    equal = [next((f for f in by_part if f[0]), by_part[0]) for by_part in found]
    contradicted = any(not same and reason == "value" for same, reason in equal)
    return next((f for f in equal if f[0] and not contradicted), (False, "value"))


def readings(gold: str, answer: str) -> tuple[str, str]:
    """Return how the two answers are read, for people."""
    left, right = (normalise(text[:MAX_CHARS]) for text in (gold, answer))
    left, right = without_label(left, right), without_label(right, left)
    return describe(read_answer(left)), describe(read_answer(right))


def preload() -> None:
    """Fill SymPy's caches with what most pairs need, before workers are forked."""
    strict = get_policy("strict")
    for gold, answer in _PRELOADED_PAIRS:
        if not judge(gold, answer, strict)[0]:
            raise RuntimeError(f"the judge finds {gold!r} and {answer!r} different: they are equal")


def _same_words(left: str, right: str) -> bool:
    """Return whether texts or single letters differ only in case, punctuation and articles."""
    a, b = plain_words(left), plain_words(right)
    one, other = (without_label(*pair) for pair in ((left, right), (right, left)))
    if is_worded(one) and is_worded(other) and same_words(plain_words(one), plain_words(other)):
        return True
    if a != b or re.search(r"[\\^_=\[(<>*/]", left):
        return False
    if re.search(r"[a-z]{4}", a):
        return True
    return bool(re.fullmatch(r"[a-z ]+", a)) and not re.search(r"[!'|,]", left + right)


def _same_compound(left: str, right: str) -> bool:
    """Return whether `H_2SO_4` and `H2SO4` are one chemical formula."""
    a, b = (re.sub(r"[\s_{}^]", "", strip_marks(t, "")) for t in (left, right))
    return a == b and bool(re.search(r"[A-Z][a-z]?\d", a)) and _COMPOUND.fullmatch(a) is not None


def _with_decimal_point(one: str, other: str) -> str:
    """Return `2.74 €` for `2,74 €` when the other side is one decimal number."""
    m = _DECIMAL_COMMA.fullmatch(re.sub(r"^[a-z]\s*=\s*", "", one))
    return f"{m[1]}.{m[2]}{m[3]}" if m and _DECIMAL.match(other) and "," not in other else one


def _with_scale(one: str, other: str) -> str:
    """Return `70 thousand` for `70k` when the other side is a number."""
    m = _SCALE_LETTER.fullmatch(one) if _PLAIN_NUMBER.fullmatch(other) else None
    return f"{m[1]} {_SCALES[m[2].lower()]}" if m else one


def _with_base(gold: str, answer: str) -> str:
    """Return the answer with the base of the reference answer when its digits are the same."""
    m = _BASED.fullmatch(gold)
    if m is None or any(int(digit, 36) >= int(m[2]) for digit in m[1]):
        return answer
    return gold if re.sub(r"\s", "", answer).upper() == m[1] else answer


def _with_decimal_log(one: str, other: str) -> str:
    """Return `\\lg 7` for `\\log 7` when only the other side says it is decimal."""
    if _DECIMAL_LOG.search(other) and not re.search(r"\\ln|_", one):
        return _BARE_LOG.sub(r"\\lg ", one)
    return one


def _has_blanks(gold: str) -> bool:
    """Return whether a reference answer fills several blanks: `1;\\frac{11}{20}`."""
    parts, separators = split_top(gold, _SEMICOLON)
    return bool(separators) and all(parts) and not any(re.search("[=:,]", p) for p in parts)
