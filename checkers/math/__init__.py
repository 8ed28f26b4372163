"""Judge short answers: is this response's answer the reference answer?

    from gradebox.checkers.math import grade, EvaluatorMath, EvaluatorMathBatch

    response ─▶ extract/ ─▶ answer text ─▶ read/ ─▶ structure ─▶ compare/ ─▶ verdict

Each module imports only from rooms below its own:

    evaluator, dart      EvaluatorMath and its text functions
    grading              tiers one and two
    workers/             processes that run compare/ under limits
    extract/   compare/  neither imports the other
    read/                normalise ─▶ reader ─▶ values; latex ─▶ SymPy
    policy               what counts as the same

Add a unit in read/units.py, a notation in read/notation.py, a policy in policy.py.
Importing this is cheap: SymPy and math-verify are loaded in the workers, or by a function that
returns a SymPy object. docs/math-answers.md is the manual.
"""

from gradebox.checkers.math.dart import fix_a_slash_b, is_set, latex2sympy_interval, norm_deg
from gradebox.checkers.math.evaluator import (
    EvaluatorBase,
    EvaluatorBatchBase,
    EvaluatorMath,
    EvaluatorMathBatch,
)
from gradebox.checkers.math.extract.answer import extract_answer
from gradebox.checkers.math.grading import Grade, grade, grade_many, math_equal
from gradebox.checkers.math.policy import POLICIES, Policy

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
