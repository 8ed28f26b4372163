"""How an output or an answer is judged.

builtin("wcmp")(input, output, answer) -> Check        one of the standard checkers
open_checker(sandbox, source=…, name=…) -> Checker     the checker of a problem
"""

from checkers.builtins import builtin
from checkers.choose import open_checker
from checkers.model import Check, accept, reject, unclear

__all__ = ["Check", "accept", "builtin", "open_checker", "reject", "unclear"]
