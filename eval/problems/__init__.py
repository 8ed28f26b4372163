"""Problems and their tests, looked up by id; tests are read only when needed.

dataset ── open_problems ──▶ Rows (JsonRows, MappedRows, ParquetRows)
                                 └─ row ─▶ ProblemSet: id or alias ─▶ Problem, official tests
"""

from gradebox.eval.problems.opening import open_problems
from gradebox.eval.problems.problem_set import ProblemSet

__all__ = ["ProblemSet", "open_problems"]
