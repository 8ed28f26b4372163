"""Checkers that are programs. Each runs in a box of its own, with the test and the output only.

PROTOCOLS["testlib"]  ─┐
Program (its source)  ─┴─▶ ProgramChecker(sandbox, …).check(input, output, expected) ─▶ Check
"""

from gradebox.checkers.programs.checker import NotCompiled, ProgramChecker, ProgramRuns
from gradebox.checkers.programs.protocols import PROTOCOLS, ProgramProtocol

__all__ = ["PROTOCOLS", "NotCompiled", "ProgramChecker", "ProgramProtocol", "ProgramRuns"]
