"""EvaluatorMath and EvaluatorMathBatch: the documented interface, on our grader.

Source of the interface: the documentation of dart-math. Leniencies are those of the policy
`dart`; pass `policy="strict"` for the grader's default.
"""

# mypy: disable-error-code="import-untyped"
from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from checkers.math import dart
from checkers.math.extract import extract_answer
from checkers.math.grading import TIMEOUT_S, grade, grade_many
from checkers.math.policy import Policy, find_policy

if TYPE_CHECKING:
    import sympy

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
OLYMPIAD_ERROR = 1e-8  # of an OlympiadBench query that names none


class EvaluatorBase(ABC):
    """Takes answers out of responses and compares them."""

    def __init__(self, strict_extract: bool = False):
        self.strict_extract = strict_extract

    @abstractmethod
    def extract_ans(self, resp_str: str) -> str: ...

    @abstractmethod
    def eq(self, ref: Any, ans: Any) -> bool: ...


class EvaluatorMath(EvaluatorBase):
    """Judges math answers.

    strict_extract      only boxed and announced answers count
    use_orig_eq_for_olympiadbench   numbers of OlympiadBench within their query's error range
    include_percentage  3.04 = 0.0304 where a decimal or percent form is involved
    rel_tol, abs_tol    numbers this close are equal; percent_rel_tol likewise for percent
    ascii_only          other characters are dropped from a response's answer
    policy, timeout     the base of the leniencies, and CPU seconds a comparison may take
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
        *,
        policy: str = "dart",
        timeout: float = TIMEOUT_S,
    ):
        super().__init__(strict_extract)
        self.use_orig_eq_for_olympiadbench = use_orig_eq_for_olympiadbench
        self.include_percentage = include_percentage
        self.rel_tol = rel_tol
        self.abs_tol = abs_tol
        self.percent_rel_tol = percent_rel_tol
        self.ascii_only = ascii_only
        self.timeout = timeout
        self.policy = find_policy(policy).but(strict_extract=strict_extract)
        if policy == "dart":
            self.policy = self.policy.but(
                rel_tol=rel_tol,
                abs_tol=abs_tol,
                percent=include_percentage,
                percent_rel_tol=percent_rel_tol,
                ascii_only=ascii_only,
            )

    def extract_ans(self, resp_str: str) -> str:
        """The answer in a response, in one spelling; "" when it has none."""
        return dart.norm_answer(extract_answer(resp_str, self.strict_extract))

    def eq(self, ref: Any, ans: Any, compare_sets: bool = False) -> bool:
        """Whether two answers are equal. `ref` is a text, a number, or [text, number].

        A comparison that uses up its time is not equal. Works in any thread.
        """
        policy = self.policy.but(compare_sets=compare_sets)
        refs = ref if isinstance(ref, list | tuple) else [ref]
        return any(grade(r, ans, policy, self.timeout).equal for r in refs[:8])

    def latex2matrix(self, latex_mat_str: str) -> sympy.Matrix:
        return dart.latex2matrix(latex_mat_str)

    def norm_math_str(self, string: str) -> str:
        return dart.norm_math_str(string)

    def norm_pm(self, s: str) -> str:
        return dart.norm_pm(s)

    def norm_basic_fn(self, s: str) -> str:
        return dart.norm_basic_fn(s)

    def extract_set(self, norm_s: str) -> list[str]:
        return dart.extract_set(norm_s)

    def remove_first_paren_pair(self, s: str, l: str) -> str:  # noqa: E741
        return dart.remove_first_paren_pair(s, l)


class EvaluatorBatchBase(EvaluatorBase):
    """Judges many responses, each within its own time limit (CPU seconds)."""

    def __init__(self, strict_extract: bool = False, timeout: float = 5):
        super().__init__(strict_extract)
        self.timeout = timeout

    @abstractmethod
    def batch_eval(self, samples: Sequence[Any]) -> tuple[list[str], list[bool]]: ...


class EvaluatorMathBatch(EvaluatorMath, EvaluatorBatchBase):
    """EvaluatorMath for many samples at once."""

    def __init__(
        self,
        strict_extract: bool = False,
        use_orig_eq_for_olympiadbench: bool = True,
        include_percentage: bool = True,
        rel_tol: float = 1e-09,
        abs_tol: float = 1e-08,
        percent_rel_tol: float = 0.001,
        ascii_only: bool = True,
        timeout: float = 5,
        *,
        policy: str = "dart",
    ):
        EvaluatorMath.__init__(
            self,
            strict_extract,
            use_orig_eq_for_olympiadbench,
            include_percentage,
            rel_tol,
            abs_tol,
            percent_rel_tol,
            ascii_only,
            policy=policy,
            timeout=timeout,
        )

    def batch_eval(self, samples: Sequence[Any]) -> tuple[list[str], list[bool]]:
        """(answers, corrects) in the order of `samples`.

        A sample is an object or a mapping with the reference (`ref_ans`), the response
        (`resp`), `dataset`, and for OlympiadBench `query` or `error`. A sample that cannot
        be judged within `timeout` has the answer "" and is not correct.
        """
        answers = [""] * len(samples)
        corrects = [False] * len(samples)
        plain: dict[Policy, list[tuple[int, str, str]]] = {}
        for i, sample in enumerate(samples):
            answers[i] = self.extract_ans(str(field(sample, "response")))
            policy = self.policy_for(sample)
            ref = field(sample, "ref")
            for one in ref if isinstance(ref, list | tuple) else [ref]:
                plain.setdefault(policy, []).append((i, one, answers[i]))
        for policy, rows in plain.items():
            grades = grade_many(((r, a) for _, r, a in rows), policy, self.timeout)
            for (i, _, _), found in zip(rows, grades, strict=True):
                corrects[i] |= found.equal
                if found.reason in ("time limit", "memory limit", "crashed") and not corrects[i]:
                    answers[i] = ""
        return answers, corrects

    def policy_for(self, sample: Any) -> Policy:
        """The policy, with the query's error range for OlympiadBench."""
        dataset = str(field(sample, "dataset", "")).lower()
        if not (self.use_orig_eq_for_olympiadbench and "olympiadbench" in dataset):
            return self.policy
        error = error_range(sample)
        return self.policy.but(rel_tol=0.0, abs_tol=error, percent=False)


def field(sample: Any, name: str, default: Any = None) -> Any:
    """A sample's field under any of its names; ValueError when it is needed and missing."""
    for key in _FIELDS[name]:
        value = sample.get(key) if isinstance(sample, Mapping) else getattr(sample, key, None)
        if value is not None:
            return value
    if default is not None:
        return default
    raise ValueError(f"a sample without {name}: it needs one of {', '.join(_FIELDS[name])}")


def error_range(sample: Any) -> float:
    """The numeric error that an OlympiadBench query allows: its own field, or in its text."""
    given = field(sample, "error", "")
    texts = [str(given)] if given != "" else []
    query = field(sample, "query", "")
    if isinstance(query, Mapping):
        texts += [str(query[k]) for k in _FIELDS["error"] if query.get(k) is not None]
    elif query:
        texts += _QUERY_ERROR.findall(str(query))[:1]
    for text in texts:
        values = [float(v) for v in re.findall(r"\d*\.?\d+(?:[eE]-?\d+)?", text)[:8]]
        if values:
            return max(values)
    return OLYMPIAD_ERROR
