"""Checkers: programs and functions that judge an output or an answer.

builtin("wcmp")(input, output, answer) -> Check        one of the standard checkers
open_checker(sandbox, source=…, name=…) -> Checker     the checker of a problem
"""

if __name__ == "checkers":  # imported from a checkout's root
    import sys

    sys.path.insert(0, __file__.removesuffix("checkers/__init__.py") + "src")

    from gradebox._aliases import alias

    alias("checkers")

from gradebox.checkers.builtins import builtin
from gradebox.checkers.check import Check, accept, reject, unclear
from gradebox.checkers.opening import open_checker

__all__ = ["Check", "accept", "builtin", "open_checker", "reject", "unclear"]
