"""Judge short answers: is this response's answer the reference answer?

    from gradebox.checkers.math import grade, EvaluatorMath, EvaluatorMathBatch

    response ─▶ extract/ ─▶ answer ─▶ read/ ─▶ one spelling ─▶ structure ─▶ compare/ ─▶ verdict

Each module imports only from rooms below its own:

    evaluator            EvaluatorMath, and its functions that rewrite and read answers
    grading              pairs that need no reading are decided here, others in workers
    workers/             processes that run all below under limits
    first_tier           answers are found; texts and plain numbers are compared; the letter of
                         a choice for its text
    extract/   compare/  extract/ finds answers; compare/judge.py has the order of comparison;
                         neither imports the other
    read/                normalise.py: one spelling; reader.py: structures (values.py);
                         expressions/: SymPy expressions
    policy               what counts as the same

The order of the sources of an answer is in extract/answer.py. Tables are data: extract/phrases.txt,
read/units.txt (units and currencies, `60,000 CHF`), read/rewrites.txt (notations),
read/symbols.txt (characters, commands, functions), read/words.txt (synonyms, Chinese). A pair of
kinds is a row of PAIRS in compare/comparer.py, a policy a row of policy.py.
Importing this is cheap: SymPy is loaded in the workers, or by a function that
returns a SymPy object. docs/math-answers.md is the manual.
"""

from gradebox.checkers.math.evaluator import (
    EvaluatorBase,
    EvaluatorBatchBase,
    EvaluatorMath,
    EvaluatorMathBatch,
    is_set,
    latex2sympy_interval,
    norm_deg,
)
from gradebox.checkers.math.extract.answer import extract_answer
from gradebox.checkers.math.grading import (
    OUTCOMES,
    AnswerPair,
    Explanation,
    Grade,
    grade,
    grade_many,
    math_equal,
)
from gradebox.checkers.math.policy import POLICIES, Policy
from gradebox.checkers.math.read.normalise import fix_a_slash_b

__all__ = [
    "OUTCOMES",
    "POLICIES",
    "AnswerPair",
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
