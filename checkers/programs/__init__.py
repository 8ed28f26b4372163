"""Checkers that are programs: each runs in a box of its own and is given, beside the test,
nothing of the solution but its output.

    PROTOCOLS["testlib"]  ─┐
    Program (its source)  ─┴─▶ ProgramChecker(sandbox, …).check(input, output, expected) ─▶ Check
"""

from checkers.programs.checker import ProgramChecker
from checkers.programs.protocols import PROTOCOLS, ProgramProtocol

__all__ = ["PROTOCOLS", "ProgramChecker", "ProgramProtocol"]
