"""What gradebox adds to inspect_ai, which finds this module by its entry point `gradebox`.

gradebox_scorer, gradebox_share   scorers over our data sets
problems                          a data set as samples
programs                          a task of both
--sandbox gradebox                commands of samples in our sandbox
"""

from gradebox.eval.frameworks.inspect.sandbox import GradeboxSandboxEnvironment
from gradebox.eval.frameworks.inspect.scorer import (
    gradebox_scorer,
    gradebox_share,
    problems,
    programs,
)

__all__ = [
    "GradeboxSandboxEnvironment",
    "gradebox_scorer",
    "gradebox_share",
    "problems",
    "programs",
]
