"""Judge short answers: is this response's answer the reference answer?

    from gradebox.checkers.math import grade, EvaluatorMath, EvaluatorMathBatch

    response ─▶ extract/ ─▶ answer ─▶ normalise/ ─▶ one spelling ─▶ parse/ ─▶ structure ─▶ compare/

Each module imports only from rooms below its own:

    evaluator, dart      EvaluatorMath, and its functions that rewrite and read answers
    grading              pairs that need no reading are decided here, others in workers
    workers/             processes that run all below under limits
    first_tier           answers are found; texts and plain numbers are compared
    guided/              extraction led by the reference answer: several values, letters, words
    extract/   compare/  neither imports the other
    statements/          answers compared by what they state: whole numbers, names, logic, words
    parse/               reader.py: structures (values.py); expressions/: SymPy expressions
    normalise/           rewrite.py: one spelling; notation.py: one notation; tables.py
    policy               what counts as the same

Where the rules are written: extract/formats.py (chat formats), extract/answer.py (order of the
sources of an answer), normalise/notation.py, parse/values.py (structures),
parse/expressions/grammar.py, statements/words.py, compare/comparer.py (structures),
compare/numeric.py and separation.py (numbers).
Add a unit in parse/units.py, a notation in normalise/notation.py, a policy in policy.py.
Importing this is cheap: SymPy is loaded in the workers, or by a function that
returns a SymPy object. docs/math-answers.md is the manual.
"""

from gradebox.checkers.math.dart import is_set, latex2sympy_interval, norm_deg
from gradebox.checkers.math.evaluator import (
    EvaluatorBase,
    EvaluatorBatchBase,
    EvaluatorMath,
    EvaluatorMathBatch,
)
from gradebox.checkers.math.extract.answer import extract_answer
from gradebox.checkers.math.grading import Explanation, Grade, grade, grade_many, math_equal
from gradebox.checkers.math.normalise.answer_text import fix_a_slash_b
from gradebox.checkers.math.policy import POLICIES, Policy

__all__ = [
    "POLICIES",
    "EvaluatorBase",
    "EvaluatorBatchBase",
    "EvaluatorMath",
    "EvaluatorMathBatch",
    "Explanation",
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
