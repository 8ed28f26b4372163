"""Judges short answers: is this response's answer the reference answer?

    from checkers.math import grade, EvaluatorMath, EvaluatorMathBatch

Importing this is cheap: SymPy and math-verify are loaded in worker processes, or when a
function that hands out a SymPy object is called. docs/math-answers.md is the manual.
"""

from checkers.math.dart import fix_a_slash_b, is_set, latex2sympy_interval, norm_deg
from checkers.math.evaluator import (
    EvaluatorBase,
    EvaluatorBatchBase,
    EvaluatorMath,
    EvaluatorMathBatch,
)
from checkers.math.extract import extract_answer
from checkers.math.grading import Grade, grade, grade_many, math_equal
from checkers.math.policy import POLICIES, Policy

__all__ = [
    "POLICIES",
    "EvaluatorBase",
    "EvaluatorBatchBase",
    "EvaluatorMath",
    "EvaluatorMathBatch",
    "Grade",
    "Policy",
    "extract_answer",
    "fix_a_slash_b",
    "grade",
    "grade_many",
    "is_set",
    "latex2sympy_interval",
    "math_equal",
    "norm_deg",
]
