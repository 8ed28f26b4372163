"""Problems by id, from wherever they are kept, without holding their tests.

dataset ─ opening ─▶ sources (json_rows, arrow_rows) ─ row ─▶ Problem
                        └─ ProblemSet: id or alias ─▶ source, row
"""

from eval.problems.opening import open_problems
from eval.problems.problem_set import ProblemSet

__all__ = ["ProblemSet", "open_problems"]
