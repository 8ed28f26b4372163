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
_LABEL = re.compile(  # `(B) 33`; `(B) \\cup C` is none
    r"(?:\(\s?[A-E]\s?\)\s*|[A-E][.:]\s+)(?=[-\d$(]|\\(?!cdot|times|c[au]p|setminus|[lg]e|in|ne))"
)
_LETTER_RUN = re.compile("[A-F]{2,6}")
_LETTER_LIST = re.compile(r"\(?[A-F]\)?(?:(?:\s*[,;]\s*|\s+)(?:and\s+|&\s*)?\(?[A-F]\)?){1,5}")
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
    left, right = without_label(left, right)
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
        return _several_letters(left, right)
    bare_left, bare_right = _LETTER.fullmatch(left), _LETTER.fullmatch(right)
    if not bare_left and not bare_right:
        return None
    return a == b


def without_label(left: str, right: str) -> tuple[str, str]:
    """`(B) 33` against `33`: the label goes when the other side has no letters of its own."""
    for one, other, swap in ((left, right, False), (right, left, True)):
        m = _LABEL.match(one)
        if m and not _LABEL.match(other) and not re.search(r"(?<![A-Za-z\\])[A-J](?![a-z])", other):
            rest = one[m.end() :]
            return (other, rest) if swap else (rest, other)
    return left, right


def _several_letters(left: str, right: str) -> bool | None:
    """The verdict on `ACD` against `A, C and D`, several choices of one question."""
    for one, other in ((left, right), (right, left)):
        several = _LETTER_RUN.fullmatch(one) and list(one) == sorted(set(one))
        if several and _LETTER_LIST.fullmatch(other):
            return list(one) == sorted(re.findall(r"\b[A-F]\b", other))
    return None


def _letter(text: str) -> str | None:
    bare = _LETTER.fullmatch(text)
    if bare:
        return bare[1].upper()
    labelled = _LABELLED.fullmatch(text)
    return labelled[labelled.lastindex or 1].upper() if labelled else None
