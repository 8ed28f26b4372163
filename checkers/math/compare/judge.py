"""Decide whether two answers are the same. Runs in a worker, under its limits.

normalise ─▶ equal text ─▶ choice letters ─▶ read into structures ─▶ Comparer ─▶ verdict
                                                                 └▶ unreadable: rejected
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gradebox.checkers.math.compare.comparer import Comparer
from gradebox.checkers.math.compare.equations.parametric import same_line
from gradebox.checkers.math.compare.exact import harness_form, has_float
from gradebox.checkers.math.compare.numeric import Undecided
from gradebox.checkers.math.normalise.rewrite import MAX_CHARS, normalise, plain_words
from gradebox.checkers.math.normalise.tables import TEXT_CLOSE, TEXT_OPEN, strip_marks
from gradebox.checkers.math.parse.conditions import without_conditions
from gradebox.checkers.math.parse.describe import describe
from gradebox.checkers.math.parse.expressions.tokens import ParseError
from gradebox.checkers.math.parse.measures import in_two_units, sizes
from gradebox.checkers.math.parse.reader import read_answer
from gradebox.checkers.math.parse.split import split_items, split_top
from gradebox.checkers.math.parse.surroundings import without_aside
from gradebox.checkers.math.parse.values import TooLong, Words
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.statements.figures import same_figure
from gradebox.checkers.math.statements.meaning import same_meaning
from gradebox.checkers.math.statements.ranges import same_range
from gradebox.checkers.math.statements.restatements import restated
from gradebox.checkers.math.statements.sentences import same_statement
from gradebox.checkers.math.statements.words import is_worded, same_words

_LETTER = re.compile(r"\(?\s*([A-Ja-j])\s*\)?\.?")
_LABELLED = re.compile(  # `(B) 33`
    r"(?:\(\s*([A-J])\s*\)|([A-J])\s*[.)]|([A-J]):\s)\s*(?![,;&]|(?:and|or)\b)\S.*", re.S
)
_LABEL = re.compile(  # `(B) 33`, not the set B in `(B) \cup C`
    r"(?:\(\s?[A-E]\s?\)\s*|[A-E][.:)]\s+)(?=[-\d$(]|\\(?!cdot|times|c[au]p|setminus|[lg]e|in|ne))"
)
_DECIMAL_COMMA = re.compile(r"([-+]?(?:0|\d+(?!,\d{3}(?!\d)))),(\d+)([^\d,]*)")
_LONG_DECIMAL_COMMA = re.compile(
    r"[-+]?(?:0,\d|\d+,(?!\d{3}(?!\d))\d\d)"
)  # not `2,5`, which is a list
_DECIMAL = re.compile(r"[-+＄€£]?\s?\d*\.\d+(?!\d)[^\d]*$")
_LABEL_BEFORE = re.compile(r"\s*\(?\s*[A-J]\s*[.):]\s*")
_LABEL_AFTER = re.compile(r"(?<=[\d}])\s+\(\s?(?:(?:choice|option)\s+)?([A-E])\s?\)$")  # `42 (C)`
_DECIMAL_LOG = re.compile(r"\\log\s*_\s*\{?\s*10\s*\}?(?!\d)|\\lg(?![A-Za-z])")
_BARE_LOG = re.compile(r"\\?(?<![A-Za-z])log(?![A-Za-z_\d])")
_REAL = r"\d+(?:[./]\d+)?|\\frac\{\d+\}\{\d+\}|\\sqrt\{?\d+\}?"
_COMPLEX = re.compile(rf"(-?(?:{_REAL}))\s*([-+])\s*({_REAL})?\s*i")
_POINT = re.compile(  # as it is written: `3i+4j` is no point
    r"[\s$]*(?:[A-Za-z]\s*=\s*)?(?:\\left\s*)?\([^(),]{1,40},[^(),]{1,40}\)[\s$.]*"
)
_SCALE_LETTER = re.compile(r"([-+]?[＄€£]?\s?\d+(?:\.\d+)?)\s?(k|K|M|B|bn|mn)")
_SCALE_LETTERS = {"k": "thousand", "m": "million", "mn": "million", "b": "billion", "bn": "billion"}
_PLAIN_NUMBER = re.compile(r"[-+]?[＄€£]?\s?\d[\d,.]{3,}")
_RECURRING = re.compile(r"[\d.]\s*\\(?:overline|bar|dot)|\d(?:\.\.\.|…|\\l?dots)|\(\d+\)$")
_BASED = re.compile(r"([0-9A-Z]{2,40})\s*_\s*(?:\{\s*\d{1,2}\s*\}|\d)")
_TEXT = re.compile(r"\\(?:text|mathrm)\s*\{(\w+)\}")
_COUNT_OF = re.compile(r"[PA]\s*\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")  # `P(7,3)`, or a point
_ORDER_NOTE = re.compile(  # `1, 2, 3 (in increasing order)`
    rf"[{TEXT_OPEN}\s,(]*(?:in|from)\s+(?:(?:increasing|decreasing|ascending|descending|this|that)\s+order|least\s+to\s+greatest|greatest\s+to\s+least"
    rf"|smallest\s+to\s+largest|largest\s+to\s+smallest)[)\s{TEXT_CLOSE}]*$",
    re.I,
)
_SEMICOLON = re.compile(r"\s*;\s*")
_SIGNS = {
    "positive": ">", "negative": "<", "nonnegative": r"\ge", "nonpositive": r"\le",
    "nonzero": r"\ne",
}  # fmt: skip
_SIGN_OF = re.compile(
    r"([a-z])\s+(?:is|must\s+be)\s+((?:non[ -]?)?(?:positive|negative)|non[ -]?zero)", re.I
)
_NAMED_BY_NUMBER = re.compile(  # `Team 3`, `Box B`
    r"(?:the\s+)?(?:team|day|room|door|box|step|stage|page|chapter|question|problem|level|case|group|player|bus|train|lane|row|column"
    r"|method|machine|bag|urn|plan|figure|graph|diagram|week|month|year|grade|version|jar|shelf|seat|house|floor|platform|route|line|item|type|class"
    r"|station|store|shop|company|student|person|runner|tank|block|set|scheme|design|statement|choice|option|number|no\.?|digit|letter)\s+#?(\d{1,4}|[A-Z])",
    re.I,
)
_NUMBER_OR_LETTER = re.compile(r"\d{1,4}|[A-Z]")
_LETTER_RUN = re.compile("[A-F]{2,6}")
_LETTER_LIST = re.compile(
    r"\(?[A-F]\)?(?:(?:\s*[,;]\s*|\s+)(?:and\s+|&\s*)?\(?[A-F]\)?){1,5}|(?:\([A-F]\)\s*){2,6}"
)
_ZERO_VECTOR = re.compile(
    r"\$?\s*\\(?:mathbf|boldsymbol|bm|vec|overrightarrow)\s*(?:0|\{\s*0\s*\})\s*\$?"
)
_LOOSE_SPACE = re.compile(r"(?<!\w)\s+|\s+(?!\w)")  # not between two words or numbers
_CHOICE_WORD = re.compile(
    r"^(?:the\s+)?(?:correct\s+)?(?:option|choice|answer)(?:\s+is)?\s*:?\s*(?=\(?[A-Ja-j]\)?(?:$|(?<=\))\s))",
    re.I,
)
_WORD = re.compile(r"(?<![\\A-Za-z])[A-Za-z]{3}")  # prose, mostly
_NOT_READ = re.compile(r"\(not read: (.*?)\)")
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

    Raises nothing for anything in the texts, but the worker's limits may end it.
    """
    if policy.text_only:
        return harness_form(gold) == harness_form(answer), "text"
    if len(gold) > MAX_CHARS or len(answer) > MAX_CHARS:
        return gold.strip() == answer.strip(), "too long to read"
    gold, answer = without_aside(gold), without_aside(answer)
    if _ZERO_VECTOR.fullmatch(answer):
        gold, answer = "0", gold  # a plain 0 is no vector
    left, right = normalise(gold), normalise(answer)
    if not left or not right:
        return False, "empty"
    if _LOOSE_SPACE.sub("", left) == _LOOSE_SPACE.sub("", right):
        return True, "text"
    both = restated(left), restated(right)
    if len(both[0]) + len(both[1]) > 2:
        return _judge_restated(*both, policy)
    in_units = in_two_units(left), in_two_units(right)
    if len(in_units[0]) + len(in_units[1]) > 2:
        found = [judge(g, a, policy) for g in in_units[0] for a in in_units[1]]
        return next((verdict for verdict in found if verdict[0]), found[0])
    left, right = _as_sizes(left, right), _as_sizes(right, left)
    left, right = _without_noun(left, right), _without_noun(right, left)
    letters = compare_choices(left, right)
    if letters is not None:
        return letters, "choice"
    if _same_words(left, right) or same_statement(left, right) or same_figure(gold, answer):
        return True, "text"
    if (ranges := same_range(left, right)) is not None:
        return ranges, "value"
    meaning = same_meaning(gold, answer, lambda a, b: judge(a, b, policy)[0])
    if meaning is not None:
        return meaning, "statement"
    line = same_line(left, right)
    if line is not None:
        return line, "value"
    left, right = without_conditions(left, right)
    left, right = _without_label(left, right), _without_label(right, left)
    left, right = _with_scale(left, right), _with_scale(right, left)
    left, right = _with_counts(left, right), _with_counts(right, left)
    right = _with_base(left, _with_decimal_point(right, left))
    if _LONG_DECIMAL_COMMA.match(left):
        left = _with_decimal_point(left, right)
    left, right = _with_decimal_log(left, right), _with_decimal_log(right, left)
    left, right = _with_floor(left, right), _with_floor(right, left)
    left, right = _with_sign(left, right), _with_sign(right, left)
    left = _as_point(left) if _POINT.fullmatch(answer) else left
    try:
        ordered = bool(_ORDER_NOTE.search(left)) or _has_blanks(left)
        left, right = (_ORDER_NOTE.sub("", t).strip() for t in (left, right))
        may_round = not _RECURRING.search(gold + answer)
        right = left if _same_digits(gold, answer) else right
        comparer = Comparer(policy, has_float(left) or has_float(right), may_round, ordered)
        equal = comparer.equal(read_answer(left), read_answer(right))
        return equal, "value" if equal else _difference(left, right)
    except TooLong as e:
        return False, f"not read: {e}"
    except Undecided:
        return False, "undecided"
    except (AttributeError, TypeError, NotImplementedError):
        return False, "not comparable: the answers are of different kinds"
    except ParseError as e:
        if isinstance(read_answer(left), Words) and isinstance(read_answer(right), Words):
            return False, "text"
        return False, f"not read{_sides(_unread(left, right))}: {e}"


def _judge_restated(gold: list[str], answer: list[str], policy: Policy) -> tuple[bool, str]:
    """Compare answers that say one thing twice: none of what can be read may contradict.

    Beside a gold that says it twice too, each part of the answer must be one of the gold's.
    """
    by_part = [[judge(g, a, policy) for g in gold] for a in answer]
    if len(gold) > 1 and not all(any(equal for equal, _ in part) for part in by_part):
        return False, "value"
    found = [verdict for part in by_part for verdict in part]
    contradicted = any(not equal and reason == "value" for equal, reason in found)
    return (
        next(f for f in found if f[0])
        if any(f[0] for f in found) and not contradicted
        else (False, "value")
    )


def readings(gold: str, answer: str) -> tuple[str, str]:
    """Return how the two answers are read, for people."""
    left, right = (normalise(text[:MAX_CHARS]) for text in (gold, answer))
    left, right = _without_label(left, right), _without_label(right, left)
    return describe(read_answer(left)), describe(read_answer(right))


def _difference(left: str, right: str) -> str:
    """Return the reason of a reject: a part that is not read, else `value`."""
    unread = _unread(left, right) if _WORD.search(f"{left} {right}") else {}
    return f"not read{_sides(unread)}: {next(iter(unread.values()))}" if unread else "value"


def _unread(left: str, right: str) -> dict[str, str]:
    """Return why a part of an answer cannot be read, by the answer's name."""
    readings = {"gold": describe(read_answer(left)), "answer": describe(read_answer(right))}
    return {name: m[1] for name, text in readings.items() if (m := _NOT_READ.search(text))}


def _sides(names: Iterable[str]) -> str:
    return f" ({' and '.join(names)})" if names else ""


def preload() -> None:
    """Fill SymPy's caches with what most pairs need, before workers are forked."""
    strict = get_policy("strict")
    for gold, answer in _PRELOADED_PAIRS:
        if not judge(gold, answer, strict)[0]:
            raise RuntimeError(f"the judge finds {gold!r} and {answer!r} different: they are equal")


def _same_words(left: str, right: str) -> bool:
    """Return whether texts or single letters differ only in case, punctuation and articles."""
    a, b = plain_words(left), plain_words(right)
    if (a, b) in (("true", "t"), ("false", "f"), ("yes", "t"), ("no", "f")):
        return True
    one, other = _unlabelled_words(left, right), _unlabelled_words(right, left)
    if is_worded(one) and is_worded(other) and same_words(plain_words(one), plain_words(other)):
        return True
    if a != b or re.search(r"[\\^_=\[(<>*/]", left):
        return False
    if re.search(r"[a-z]{4}", a):
        return True
    return bool(re.fullmatch(r"[a-z ]+", a)) and not re.search(r"[!'|,]", left + right)


def _unlabelled_words(one: str, other: str) -> str:
    """Return `ellipse` for `(D) ellipse` when the other side has no choice letter."""
    text = strip_marks(one, "")
    label = _LABEL_BEFORE.match(text)
    return text[label.end() :] if label and not _LABELLED.fullmatch(strip_marks(other, "")) else one


# -- multiple choice ---------------------------------------------------------------


def compare_choices(left: str, right: str) -> bool | None:
    """Return the verdict on a letter and a labelled choice (`B` and `(B) 42`); else None."""
    left, right = (_CHOICE_WORD.sub("", strip_marks(t, "").strip()) for t in (left, right))
    a, b = _letter(left), _letter(right)
    if a is None or b is None:
        return _compare_letter_lists(left, right)
    if a != b and _LABELLED.fullmatch(left) and _LABELLED.fullmatch(right):
        return False
    if not _LETTER.fullmatch(left) and not _LETTER.fullmatch(right):
        return None
    return a == b


def _as_sizes(one: str, other: str) -> str:
    """Return `17 m, 31 m` for *17 m by 31 m* when the other side has as many numbers."""
    found = sizes(one)
    several = len(sizes(other) or split_items(other)) == len(found)
    return ", ".join(found) if found and several else one


def _without_noun(one: str, other: str) -> str:
    """Return `3` for `Team 3` when the other side is one number or letter."""
    m = (
        _NAMED_BY_NUMBER.fullmatch(strip_marks(one, ""))
        if _NUMBER_OR_LETTER.fullmatch(other)
        else None
    )
    return m[1] if m else one


def _without_label(one: str, other: str) -> str:
    """Return `33` for `(B) 33` when the other side has no choice letter."""
    if all(_LABELLED.fullmatch(strip_marks(t, "")) for t in (one, other)):
        return _LABEL_BEFORE.sub("", strip_marks(one, ""), count=1)  # both have the same letter
    if re.search(r"(?<![A-Za-z\\])[A-J](?![a-z])", other):
        return one
    m = _LABEL.match(one)
    return one[m.end() :] if m else _LABEL_AFTER.sub("", one)


def _with_decimal_point(one: str, other: str) -> str:
    """Return `2.74 €` for `2,74 €` when the other side is one decimal number."""
    m = _DECIMAL_COMMA.fullmatch(re.sub(r"^[a-z]\s*=\s*", "", one))
    return f"{m[1]}.{m[2]}{m[3]}" if m and _DECIMAL.match(other) and "," not in other else one


def _with_scale(one: str, other: str) -> str:
    """Return `70 thousand` for `70k` when the other side is a number."""
    m = _SCALE_LETTER.fullmatch(one) if _PLAIN_NUMBER.fullmatch(other) else None
    return f"{m[1]} {_SCALE_LETTERS[m[2].lower()]}" if m else one


def _with_counts(one: str, other: str) -> str:
    """Return `\\frac{7!}{4!}` for `P(7,3)` when the other side is one number, not a point."""
    m = _COUNT_OF.fullmatch(one)
    if m is None or re.search(r"[,;<>=]|\\begin", other) or int(m[1]) < int(m[2]):
        return one
    return rf"\frac{{{m[1]}!}}{{{int(m[1]) - int(m[2])}!}}"


def _same_digits(gold: str, answer: str) -> bool:
    """Return whether the answer `BEE` has the digits of `\\text{BEE}_{16}` without its base."""
    m = _BASED.fullmatch(_TEXT.sub(r"\1", gold.strip(" $")))
    return bool(m and not m[1].isdigit() and _TEXT.sub(r"\1", answer.strip(" $")).upper() == m[1])


def _with_base(gold: str, answer: str) -> str:
    """Return the answer with the base of the reference answer when its digits are the same."""
    m = _BASED.fullmatch(gold)
    return gold if m and re.sub(r"\s", "", answer).upper() == m[1] else answer


def _with_decimal_log(one: str, other: str) -> str:
    """Return `\\lg 7` for `\\log 7` when only the other side says it is decimal."""
    if _DECIMAL_LOG.search(other) and not re.search(r"\\ln|_", one):
        return _BARE_LOG.sub(r"\\lg ", one)
    return one


def _as_point(gold: str) -> str:
    """Return `(3,-4)` for the complex number `3-4i`."""
    m = _COMPLEX.fullmatch(gold)
    return f"({m[1]},{m[2]}{m[3] or 1})" if m else gold


def _has_blanks(gold: str) -> bool:
    """Return whether a reference answer fills several blanks: `1;\\frac{11}{20}`."""
    parts, separators = split_top(gold, _SEMICOLON)
    return bool(separators) and all(parts) and not any(re.search("[=:,]", p) for p in parts)


def _with_sign(one: str, other: str) -> str:
    """Return `a > 0` for *a must be positive* when the other side is an inequality."""
    m = _SIGN_OF.fullmatch(one) if re.search(r"[<>]|\\(?:[lg]e|ne)(?![A-Za-z])", other) else None
    return f"{m[1]} {_SIGNS[re.sub('[ -]', '', m[2].lower())]} 0" if m else one


def _with_floor(one: str, other: str) -> str:
    """Return `\\lfloor n/3 \\rfloor` for `[n/3]` when the other side has a floor."""
    if r"\lfloor" in other and not re.search(r"\\lfloor|\\sqrt\s*\[|,", one):
        return one.replace("[", r"\lfloor ").replace("]", r"\rfloor ")
    return one


def _compare_letter_lists(left: str, right: str) -> bool | None:
    """Return the verdict on `ACD` and `A, C and D`; None for anything else."""
    runs = [bool(_LETTER_RUN.fullmatch(t)) for t in (left, right)]
    found = [_letters(t) for t in (left, right)]
    if not all(found) or (not any(runs) and "," in left and "," in right):
        return None
    if not all(
        r is False or letters == sorted(set(letters))
        for r, letters in zip(runs, found, strict=True)
    ):
        several = runs[0] and found[0] == sorted(set(found[0])) and left not in "ABCDEF"
        return found[0] == sorted(found[1]) if several and all(runs) else None
    return None if all(runs) and len(found[0]) == 2 else sorted(found[0]) == sorted(found[1])


def _letters(text: str) -> list[str]:
    """Return the choices that `ACD`, `A, C and D` or `(A)(C)(D)` lists; [] for anything else."""
    text = text.strip("{}\\ ")
    listed = _LETTER_RUN.fullmatch(text) or _LETTER_LIST.fullmatch(text)
    return re.findall(r"[A-F]", text) if listed else []


def _letter(text: str) -> str | None:
    m = _LETTER.fullmatch(text) or _LABELLED.fullmatch(text) or _LABEL_AFTER.search(text)
    return m[m.lastindex or 1].upper() if m else None
