"""EvaluatorMath and EvaluatorMathBatch: the documented interface, on our grader.

Source of the interface: the documentation of dart-math; the code is gradebox's own. The policy
`dart` has its leniencies; `policy="strict"` selects the grader's default. The functions that
rewrite answers or read sets and matrices come first. SymPy objects are built without passing text
to SymPy.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradebox.checkers.math.grading import TIMEOUT_S, grade, grade_many
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.read.normalise import norm_math_str, strip_ends
from gradebox.checkers.math.read.split import split_top
from gradebox.checkers.math.read.tables import MAX_CHARS
from gradebox.checkers.math.workers.answers import Pool
from gradebox.checkers.workers.pool import shared_pool

if TYPE_CHECKING:
    import sympy

_CLOSER = {"{": "}", "(": ")", "[": "]", r"\{": r"\}"}
_COMMA = re.compile(",")
_PM = re.compile(r"\\(?:pm|mp)")
_OR = re.compile(r"(?<![A-Za-z\\])or(?=[A-Za-z]?(?:[^A-Za-z]|$))|(?<=[\d)}\]])\s*or\s*")
_DEGREE = re.compile(r"\s{0,9}(?:\^\s*\{?\s*\\?circ\s*\}?|°|\\degree(?![A-Za-z]))")
_ANGLE = re.compile(
    r"(\\(?:sin|cos|tan|cot|sec|csc))\s*(\^\{?-?\d+\}?)?\s*[({]?\s*(-?[\d.]+)(?:\s*\^\s*\{?\s*\\?circ\s*\}?|\s*°|\s*\\degree(?![A-Za-z]))\s*[)}]?"
)
_BASIC_FN = re.compile(
    r"(?<![A-Za-z])\\?(arcsin|arccos|arctan|sinh|cosh|tanh|sin|cos|tan|cot|sec|csc|log|ln)"
    r"(?![A-Za-z]{2,}(?<!pi))\s*(?:\^\s*(?:\{([^{}]*)\}|(-?\d|[a-z])))?\s*"
)


def remove_first_paren_pair(s: str, l: str) -> str:  # noqa: E741 - the documented name
    """Return `s` without its first opener `l` and the bracket that closes it."""
    start = s.find(l)
    if start < 0 or not l:
        return s
    closer = _CLOSER.get(l, l)
    depth = 0
    for m in re.compile(f"{re.escape(l)}|{re.escape(closer)}").finditer(s, start):
        depth += 1 if m[0] == l else -1
        if depth == 0:
            return s[:start] + s[start + len(l) : m.start()] + s[m.end() :]
    return s


def norm_deg(s: str) -> str:
    """Return `20^\\circ` as `20`, and an angle in a trigonometric function in radians."""
    s = _ANGLE.sub(lambda m: rf"{m[1]}{m[2] or ''} {{{m[3]}*\frac{{\pi}}{{180}}}}", s)
    return _DEGREE.sub("", s)


def norm_basic_fn(s: str) -> str:
    """Return `sinx` as `\\sin^{1}x` and `\\sin^2x` as `\\sin^{2}x`, for elementary functions."""
    return _BASIC_FN.sub(lambda m: rf"\{m[1]}^{{{m[2] or m[3] or '1'}}}", s)


def norm_pm(s: str) -> str:
    """Return `x\\pm y` as `x-y,x+y`; the other members of a set stay."""
    s = strip_ends(s.replace(r"\(", "").replace(r"\)", "").replace("$", ""))
    body = s[2:-2] if s.startswith(r"\{") and s.endswith(r"\}") else s
    if not 1 <= len(_PM.findall(body)) <= 8:
        return s
    out: list[str] = []
    for item in _split_commas(body):
        out += [_PM.sub(sign, item) for sign in "-+"] if _PM.search(item) else [item]
    return re.sub(r"\s*([-+])\s*", r"\1", ",".join(out))


def _split_commas(s: str) -> list[str]:
    return [part for part in split_top(s, _COMMA)[0] if part]


def is_set(s: str) -> bool:
    """Return whether the text lists alternatives: `{2,1}`, `x<-1orx>3`, a union, a list."""
    s = s.strip()
    if re.search(r"\\cup|\\in(?![A-Za-z])|\\(?:lor|vee)(?![A-Za-z])", s) or _OR.search(s):
        return True
    if s.startswith(("{", r"\{")):
        return s.endswith("}")
    return len(_split_commas(s)) > 1 and not re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", s)


def extract_set(norm_s: str) -> list[str]:
    """Return the sorted members of a set or list."""
    s = norm_s.strip()
    for opener in (r"\{", "{", "(", "["):
        closer = _CLOSER[opener]
        if s.startswith(opener) and s.endswith(closer) and len(s) > len(opener):
            s = s[len(opener) : len(s) - len(closer)]
            break
    s = re.sub(r"\\(?:cup|lor|vee)(?![A-Za-z])|\bor\b", ",", s)
    s = _OR.sub(",", s)
    return sorted(re.sub(r"\s", "", p) for p in _split_commas(s))


def latex2sympy_interval(s: str) -> sympy.Set:
    """Return a SymPy set of `(-\\infty, 0) \\cup (0, \\infty)`, `(a+b,b]`, `…\\cup\\{1\\}`.

    Raises ValueError for a text that is not an interval.
    """
    _check_in_worker("interval", s)
    from gradebox.checkers.math.compare.real_sets import read_interval

    return read_interval(s)


def latex2matrix(latex_mat_str: str) -> sympy.Matrix:
    """Return a SymPy matrix of a LaTeX matrix; a column and a list `a,b` become one row.

    Raises ValueError for a text that is not a matrix.
    """
    _check_in_worker("matrix", latex_mat_str)
    from gradebox.checkers.math.compare.lists import read_matrix

    return read_matrix(latex_mat_str)


def _check_in_worker(kind: str, text: str) -> None:
    """Raise ValueError unless a worker reads the text within its CPU and memory limits."""
    if len(text) > MAX_CHARS:
        raise ValueError(f"a text of {len(text)} characters, the limit is {MAX_CHARS}: shorten it")
    outcome = shared_pool(Pool).probe(kind, text, TIMEOUT_S)
    if not outcome.equal:
        raise ValueError(outcome.reason)


FIELDS: dict[str, tuple[str, ...]] = {
    "ref": ("ref_ans", "ref", "reference", "answer", "gold"),
    "response": ("resp", "response", "completion", "prediction", "model_output", "ans"),
    "dataset": ("dataset", "data_source"),
    "query": ("query", "problem", "question"),
    "error": ("error_range", "error", "precision", "tolerance"),
}
_QUERY_ERROR = re.compile(
    r"(?:error(?:\s+range)?|tolerance|precision|accuracy)\D{0,40}?(\d*\.?\d+(?:[eE]-?\d+)?)", re.I
)
DEFAULT_ERROR = 1e-8  # for an OlympiadBench query that states no error range
_NO_VERDICT = ("time limit", "memory limit", "crashed")


class EvaluatorBase(ABC):
    """Extracts answers from responses and compares them."""

    def __init__(self, strict_extract: bool = False):
        self.strict_extract = strict_extract

    @abstractmethod
    def extract_ans(self, resp_str: str) -> str: ...

    @abstractmethod
    def eq(self, ref: Any, ans: Any) -> bool: ...


class EvaluatorBatchBase(EvaluatorBase):
    """Judges many responses, each within its own time limit in CPU seconds."""

    def __init__(self, strict_extract: bool = False, timeout: float = TIMEOUT_S):
        super().__init__(strict_extract)
        self.timeout = timeout

    @abstractmethod
    def batch_eval(self, samples: Sequence[Any]) -> tuple[list[str], list[bool]]: ...


class EvaluatorMath(EvaluatorBase):
    """Judges math answers.

    strict_extract      only boxed and announced answers count
    use_orig_eq_for_olympiadbench   numbers of OlympiadBench within their query's error range
    include_percentage  3.04 = 0.0304 where a decimal or percent form is involved
    rel_tol, abs_tol    numbers this close are equal; percent_rel_tol likewise for percent
    ascii_only          other characters are dropped from a response's answer
    timeout             CPU seconds for one comparison
    policy              the policy; the leniencies above apply to "dart" only
    """

    def __init__(
        self,
        strict_extract: bool = False,
        use_orig_eq_for_olympiadbench: bool = True,
        include_percentage: bool = True,
        rel_tol: float = 1e-09,
        abs_tol: float = 1e-08,
        percent_rel_tol: float = 0.001,
        ascii_only: bool = True,
        timeout: float = TIMEOUT_S,
        *,
        policy: str = "dart",
    ):
        super().__init__(strict_extract)
        self.use_orig_eq_for_olympiadbench = use_orig_eq_for_olympiadbench
        self.timeout = timeout
        self.policy = replace(get_policy(policy), strict_extract=strict_extract)
        if policy == "dart":
            self.policy = replace(
                self.policy,
                rel_tol=rel_tol,
                abs_tol=abs_tol,
                percent=include_percentage,
                percent_rel_tol=percent_rel_tol,
                ascii_only=ascii_only,
            )

    def extract_ans(self, resp_str: str) -> str:
        """Return the answer in a response, in one spelling; "" when there is none."""
        return shared_pool(Pool).extract(resp_str, self.strict_extract, self.timeout)

    def eq(self, ref: Any, ans: Any, compare_sets: bool = False) -> bool:
        """Return whether two answers are equal. `ref` is a text, a number, or [text, number].

        A comparison that reaches the timeout is not equal. May be called from any thread.
        """
        policy = replace(self.policy, compare_sets=compare_sets)
        return any(grade(r, ans, policy, self.timeout).equal for r in spellings_of(ref)[:8])

    latex2matrix = staticmethod(latex2matrix)
    norm_math_str = staticmethod(norm_math_str)
    norm_pm = staticmethod(norm_pm)
    norm_basic_fn = staticmethod(norm_basic_fn)
    extract_set = staticmethod(extract_set)
    remove_first_paren_pair = staticmethod(remove_first_paren_pair)


class EvaluatorMathBatch(EvaluatorMath, EvaluatorBatchBase):
    """EvaluatorMath for many samples at once."""

    def batch_eval(self, samples: Sequence[Any]) -> tuple[list[str], list[bool]]:
        """Return (answers, corrects) in the order of `samples`.

        A sample is an object or a mapping with the reference (`ref_ans`), the response
        (`resp`), `dataset`, and for OlympiadBench `query` or `error`. A sample that cannot
        be judged within `timeout` has the answer "" and is not correct.
        """
        answers: list[str] = []
        corrects = [False] * len(samples)
        by_policy: dict[Policy, list[tuple[int, Any]]] = {}
        for i, sample in enumerate(samples):
            answers.append(self.extract_ans(str(get_field(sample, "response"))))
            for ref in spellings_of(get_field(sample, "ref")):
                by_policy.setdefault(self.policy_for(sample), []).append((i, ref))
        for policy, rows in by_policy.items():
            pairs = [(ref, answers[i]) for i, ref in rows]
            grades = grade_many(pairs, policy, self.timeout)
            for (i, _), found in zip(rows, grades, strict=True):
                corrects[i] |= found.equal
                if found.reason in _NO_VERDICT and not corrects[i]:
                    answers[i] = ""
        return answers, corrects

    def policy_for(self, sample: Any) -> Policy:
        """Return the policy, with the query's error range for OlympiadBench."""
        dataset = str(get_field(sample, "dataset", "")).lower()
        if not (self.use_orig_eq_for_olympiadbench and "olympiadbench" in dataset):
            return self.policy
        return replace(self.policy, rel_tol=0.0, abs_tol=error_range(sample), percent=False)


def spellings_of(ref: Any) -> Sequence[Any]:
    """Return the spellings of a reference answer: those of a list, else the one."""
    return ref if isinstance(ref, list | tuple) else [ref]


def get_field(sample: Any, name: str, default: Any = None) -> Any:
    """Return a sample's field under any of its names; raise ValueError without a default."""
    for key in FIELDS[name]:
        value = sample.get(key) if isinstance(sample, Mapping) else getattr(sample, key, None)
        if value is not None:
            return value
    if default is not None:
        return default
    raise ValueError(f"a sample without {name}: it needs one of {', '.join(FIELDS[name])}")


def error_range(sample: Any) -> float:
    """Return the error that an OlympiadBench query allows: from a field, or from its text."""
    given = get_field(sample, "error", "")
    texts = [str(given)] if given != "" else []
    query = get_field(sample, "query", "")
    if isinstance(query, Mapping):
        texts += [str(query[k]) for k in FIELDS["error"] if query.get(k) is not None]
    elif query:
        texts += _QUERY_ERROR.findall(str(query))[:1]
    for text in texts:
        values = [float(v) for v in re.findall(r"\d*\.?\d+(?:[eE]-?\d+)?", text)[:8]]
        if values:
            return max(values)
    return DEFAULT_ERROR
