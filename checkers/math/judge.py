"""Decides whether two answers are the same. Runs in a worker, under its limits.

clean ─▶ text equality ─▶ choices ─▶ read (structure) ─▶ compare part by part
                                                             └▶ leaf: latex ─▶ numeric
what the reader does not know goes to the engine (math-verify)
"""

from __future__ import annotations

import re

from checkers.math import engine
from checkers.math.clean import LONGEST, clean, words
from checkers.math.compare import Comparer
from checkers.math.exact import harness_form
from checkers.math.policy import Policy, find_policy
from checkers.math.read import read
from checkers.math.tokens import ParseError
from checkers.math.values import TooLong, Words

_LETTER = re.compile(r"\(?\s*([A-Ja-j])\s*\)?\.?")
_LABELLED = re.compile(
    r"(?:\(\s*([A-J])\s*\)|([A-J])\s*[.)]|([A-J]):\s)\s*(?![,;&]|(?:and|or)\b)\S.*", re.S
)
_LOOSE_SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")  # all but that between two words or numbers
_FOR_ENGINE = re.compile(r"\\(?:sum|prod|i*nt|oint|lim|partial|operatorname|mathop)")
_CHOICE_WORD = re.compile(r"^(?:option|choice|answer)\s*:?\s*(?=\(?[A-Ja-j]\)?$)", re.I)


def judge(gold: str, answer: str, policy: Policy) -> tuple[bool, str]:
    """(equal, reason). Never raises for anything the texts contain, but limits may end it."""
    if policy.text_only:
        return harness_form(gold) == harness_form(answer), "text"
    if len(gold) > LONGEST or len(answer) > LONGEST:
        return gold.strip() == answer.strip(), "too long to read"
    left, right = clean(gold), clean(answer)
    if not left or not right:
        return False, "empty"
    if _LOOSE_SPACE.sub("", left) == _LOOSE_SPACE.sub("", right):
        return True, "text"
    letters = choices(left, right)
    if letters is not None:
        return letters, "choice"
    if _same_words(left, right):
        return True, "text"
    try:
        return Comparer(policy).equal(read(left), read(right)), "value"
    except TooLong as e:
        return False, f"not read: {e}"
    except (AttributeError, TypeError, NotImplementedError) as e:
        return False, f"not comparable: {type(e).__name__}"
    except ParseError as e:
        if isinstance(read(left), Words) and isinstance(read(right), Words):
            return False, "text"
        if _FOR_ENGINE.search(left + right) and engine.same(gold, answer):
            return True, "engine"
        return False, f"not read: {e}"


def _same_words(left: str, right: str) -> bool:
    """Texts, or single letters, that differ in case, marks and articles only."""
    a, b = words(left), words(right)
    if a != b or re.search(r"[\\^_=\[(]", left):
        return False
    if re.search(r"[a-z]{4}", a):
        return True
    return bool(re.search(r"[a-z]", a)) and not re.search(r"[!'|,]", left + right)


_SAMPLES = (
    ("2x+1", "1+2x"),
    (r"\sin^2 x+\cos^2 x", "1"),
    (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}"),
    (r"[1,2)", r"1 \le x < 2"),
    (r"y=2x+1", r"2x-y+1=0"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", "(1,2)"),
    (r"15\text{ cm}^2", "15"),
)


def warm() -> None:
    """Fills SymPy's caches with what most pairs need, before workers are forked."""
    strict = find_policy("strict")
    for gold, answer in _SAMPLES:
        if not judge(gold, answer, strict)[0]:
            raise RuntimeError(f"the judge says that {gold!r} is not {answer!r}")


def choices(left: str, right: str) -> bool | None:
    """The verdict when one answer is a bare letter and the other is a labelled choice."""
    left, right = (
        _CHOICE_WORD.sub("", t.replace("\ue000", "").replace("\ue001", "").strip())
        for t in (left, right)
    )
    a, b = _letter(left), _letter(right)
    if a is None or b is None:
        return None
    bare_left, bare_right = _LETTER.fullmatch(left), _LETTER.fullmatch(right)
    if not bare_left and not bare_right:
        return None
    return a == b


def _letter(text: str) -> str | None:
    bare = _LETTER.fullmatch(text)
    if bare:
        return bare[1].upper()
    labelled = _LABELLED.fullmatch(text)
    return labelled[labelled.lastindex or 1].upper() if labelled else None
