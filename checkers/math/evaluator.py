"""EvaluatorMath and EvaluatorMathBatch: the documented interface, on our grader.

Source of the interface: the documentation of dart-math. The policy `dart` has its leniencies;
`policy="strict"` selects the grader's default.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradebox.checkers.math import dart
from gradebox.checkers.math.grading import TIMEOUT_S, grade, grade_many
from gradebox.checkers.math.policy import Policy, get_policy
from gradebox.checkers.math.read.normalise import norm_math_str
from gradebox.checkers.math.workers.answers import Pool
from gradebox.checkers.workers.pool import shared_pool

_FIELDS: dict[str, tuple[str, ...]] = {
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

    latex2matrix = staticmethod(dart.latex2matrix)
    norm_math_str = staticmethod(norm_math_str)
    norm_pm = staticmethod(dart.norm_pm)
    norm_basic_fn = staticmethod(dart.norm_basic_fn)
    extract_set = staticmethod(dart.extract_set)
    remove_first_paren_pair = staticmethod(dart.remove_first_paren_pair)


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
    for key in _FIELDS[name]:
        value = sample.get(key) if isinstance(sample, Mapping) else getattr(sample, key, None)
        if value is not None:
            return value
    if default is not None:
        return default
    raise ValueError(f"a sample without {name}: it needs one of {', '.join(_FIELDS[name])}")


def error_range(sample: Any) -> float:
    """Return the error that an OlympiadBench query allows: from a field, or from its text."""
    given = get_field(sample, "error", "")
    texts = [str(given)] if given != "" else []
    query = get_field(sample, "query", "")
    if isinstance(query, Mapping):
        texts += [str(query[k]) for k in _FIELDS["error"] if query.get(k) is not None]
    elif query:
        texts += _QUERY_ERROR.findall(str(query))[:1]
    for text in texts:
        values = [float(v) for v in re.findall(r"\d*\.?\d+(?:[eE]-?\d+)?", text)[:8]]
        if values:
            return max(values)
    return DEFAULT_ERROR
